import type { SqlType } from '../../../engine/columns.ts';
import { storedType } from './sql-type.ts';
import type { StatementParts } from './statement-parts.ts';

/** Up to here every whole double is an integer of its own: 2^53 − 1. */
export const SAFE_INTEGER_MAX = '9007199254740991';

const NUMBER = storedType({ kind: 'NUMBER' });

/** An INT64 as a NUMBER. */
export function numberOfInteger(value: string): string {
  return `CAST(tuple(${value}, NULL), '${NUMBER}')`;
}

/** A FLOAT64 as a NUMBER: an integer where it is whole and below 2^53, as values of events are. */
export function numberOfFloat(value: string, parts: StatementParts): string {
  return parts.once(value, (number) => {
    const isWhole = `isFinite(${number}) AND trunc(${number}) = ${number} AND abs(${number}) <= ${SAFE_INTEGER_MAX}`;
    const whole = `if(${isWhole}, toInt64(${number}), NULL)`;
    const fraction = `if(${isWhole}, NULL, ${number})`;
    return `CAST(tuple(${whole}, ${fraction}), '${NUMBER}')`;
  });
}

/** A value of a numeric type as FLOAT64: of an integer beyond 2^53 the nearest. */
export function asFloat(value: string, { kind }: SqlType, parts: StatementParts): string {
  if (kind === 'FLOAT64') return value;
  if (kind !== 'NUMBER') return `toFloat64(${value})`;
  return parts.once(value, (number) => `ifNull(toFloat64(${number}.1), ${number}.2)`);
}

/** A value of a numeric type as NUMBER. */
export function asNumber(value: string, { kind }: SqlType, parts: StatementParts): string {
  if (kind === 'NUMBER') return value;
  return kind === 'FLOAT64' ? numberOfFloat(value, parts) : numberOfInteger(value);
}

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=';

type Operand = { readonly sql: string; readonly type: SqlType };

/**
 * Two values of numeric types, one of them a NUMBER at least. ClickHouse compares an integer and a double by their exact
 * values.
 */
export function compareNumbers(
  operator: Comparison,
  left: Operand,
  right: Operand,
  parts: StatementParts,
): string {
  return parts.once(left.sql, (leftName) =>
    parts.once(right.sql, (rightName) => {
      const lefts = formsOf({ ...left, sql: leftName });
      const rights = formsOf({ ...right, sql: rightName });
      // A pair of which one is NULL has no answer, and leaves it to the next pair.
      return lefts
        .flatMap((one) => rights.map((other) => `${one} ${operator} ${other}`))
        .reduceRight((later, pair) => `ifNull(${pair}, ${later})`);
    }),
  );
}

/** Of a NUMBER its two halves, of which one at most is no NULL. */
function formsOf({ sql, type }: Operand): readonly string[] {
  return type.kind === 'NUMBER' ? [`${sql}.1`, `${sql}.2`] : [sql];
}

/**
 * Two keys that sort, and are equal, as the exact values of NUMBERs do: the nearest double, and what the integer is
 * more than that. Both are no NULLs.
 */
export function exactKeys(value: string): readonly [string, string] {
  const near = `ifNull(ifNull(toFloat64(${value}.1), ${value}.2 + 0), 0)`;
  const rest = `ifNull(toInt64(toInt128(${value}.1) - toInt128(toFloat64(${value}.1))), 0)`;
  return [near, rest];
}
