import { isNumber, type Span, type SqlType, typeName } from '../../../engine/columns.ts';
import { anyNumber } from './dynamic-sql.ts';
import { intervalKey } from './interval-sql.ts';
import { exactKeys } from './number-sql.ts';
import { refuse } from './refusal.ts';
import { isNull } from './sql-type.ts';

/** One key of ORDER BY; only the first of a value may be NULL. */
export type OrderKey = {
  readonly sql: string;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
};

export function orderText({ sql, descending, nullsFirst }: OrderKey): string {
  return `${sql} ${descending ? 'DESC' : 'ASC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
}

/** The ranks of kinds among DYNAMIC values. */
export const RANKS = { truth: 1, number: 2, text: 3, list: 4, record: 5 } as const;

/** The keys that sort values of a type as `compareValues` of the engine does; `value` is a name. */
export function sortKeysOf(value: string, type: SqlType, span?: Span): readonly string[] {
  switch (type.kind) {
    case 'FLOAT64':
      // NaN is the least number; -0 equals 0.
      return [
        `if(isNull(${value}), NULL, NOT isNaN(${value}))`,
        `if(ifNull(isNaN(${value}), 1), 0, ${value} + 0)`,
      ];
    case 'NUMBER':
      return [`if(${isNull(value, type)}, NULL, toUInt8(1))`, ...exactKeys(value)];
    case 'DYNAMIC':
      return dynamicKeys(value);
    case 'INTERVAL':
      return [intervalKey(value)];
    case 'ARRAY':
    case 'STRUCT':
      return [`if(empty(${value}), NULL, toUInt8(1))`, sortablePart(value, type, span)];
    case 'JSON':
      return refuse(`an order of values of type ${typeName(type)}`, span);
    default:
      return [value];
  }
}

type Place = { readonly depth: number; readonly span: Span | undefined };

/** A value without NULLs that ClickHouse orders as the engine does a part of a list or record: NULL before all others. */
export function sortablePart(value: string, type: SqlType, span?: Span): string {
  return sortable(value, type, { depth: 0, span });
}

function sortable(value: string, type: SqlType, { depth, span }: Place): string {
  const inner = { depth: depth + 1, span };
  if (type.kind === 'ARRAY') {
    const element = `s${depth}`;
    const key = sortable(element, type.element, inner);
    return `tuple(notEmpty(${value}), arrayMap(${element} -> ${key}, ${value}[1]))`;
  }
  if (type.kind === 'STRUCT') {
    const fields = type.fields.map((field, index) =>
      sortable(`${value}[1].${index + 1}`, field.type, inner),
    );
    return `tuple(notEmpty(${value}), ${fields.join(', ')})`;
  }
  const keys = sortKeysOf(value, type, span);
  if (keys.length === 1) return `tuple(isNotNull(${value}), ifNull(${value}, ${zeroOf(type)}))`;
  const [rank, ...rest] = keys.map((key, index) => {
    const isText = type.kind === 'DYNAMIC' && index === keys.length - 1;
    return isText ? key : `ifNull(${key}, ${index === 0 ? '-1' : '0'})`;
  });
  return `tuple(${[rank, ...rest].join(', ')})`;
}

/** Stands where a scalar is NULL. */
function zeroOf({ kind }: SqlType): string {
  return kind === 'STRING' || kind === 'BYTES' ? "''" : '0';
}

function dynamicKeys(value: string): readonly string[] {
  const isNumeric = `match(${value}, '^[-0-9]')`;
  const rank = `multiIf(isNull(${value}), NULL, ${value} IN ('true', 'false'), ${RANKS.truth}, ${isNumeric}, ${RANKS.number}, startsWith(${value}, '"'), ${RANKS.text}, startsWith(${value}, '['), ${RANKS.list}, ${RANKS.record})`;
  const text = `ifNull(multiIf(startsWith(${value}, '"'), JSONExtractString(assumeNotNull(${value})), ${isNumeric}, '', ${value}), '')`;
  const whole = `toInt128OrNull(assumeNotNull(${value}))`;
  const near = `if(ifNull(${isNumeric}, 0), ${anyNumber(value)}, 0)`;
  const rest = `if(ifNull(${isNumeric}, 0), ifNull(${whole} - toInt128(${anyNumber(value)}), 0), 0)`;
  return [rank, near, rest, text];
}

/** A value by which GROUP BY and DISTINCT find equal values, NULL among them; `value` is a name. */
export function groupKeyOf(value: string, type: SqlType, span?: Span): string {
  switch (type.kind) {
    case 'FLOAT64':
      return `if(isNaN(${value}), nan, ${value} + 0)`;
    case 'NUMBER':
      return `tuple(${value}.1, ${value}.2 + 0)`;
    case 'JSON':
    case 'INTERVAL':
      return refuse(`groups of values of type ${typeName(type)}`, span);
    case 'ARRAY':
    case 'STRUCT':
      return holdsFloats(type, span) ? groupedParts(value, type, { depth: 0, span }) : value;
    default:
      return value;
  }
}

/** A list or record whose numbers have one form each. */
function groupedParts(value: string, type: SqlType, { depth, span }: Place): string {
  const part = `g${depth}`;
  const inner = { depth: depth + 1, span };
  if (type.kind === 'ARRAY') {
    const element = `e${depth}`;
    const elements = groupedParts(element, type.element, inner);
    return `arrayMap(${part} -> arrayMap(${element} -> ${elements}, ${part}), ${value})`;
  }
  if (type.kind === 'STRUCT') {
    const fields = type.fields.map((field, index) =>
      groupedParts(`${part}.${index + 1}`, field.type, inner),
    );
    return `arrayMap(${part} -> tuple(${fields.join(', ')}), ${value})`;
  }
  return groupKeyOf(value, type, span);
}

/** Equal fractions may have several forms, -0 and 0. */
function holdsFloats(type: SqlType, span: Span | undefined): boolean {
  switch (type.kind) {
    case 'ARRAY':
      return holdsFloats(type.element, span);
    case 'STRUCT':
      return type.fields.some((field) => holdsFloats(field.type, span));
    case 'JSON':
    case 'INTERVAL':
      return refuse(`groups of values of type ${typeName(type)}`, span);
    default:
      return isNumber(type) && type.kind !== 'INT64';
  }
}
