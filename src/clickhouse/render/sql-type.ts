import {
  isInterval,
  isNested,
  type Span,
  type SqlType,
  type SqlValue,
  unreachable,
} from '../../../engine/columns.ts';
import { refuse } from './refusal.ts';
import type { StatementParts } from './statement-parts.ts';

/**
 * How the values of each type are held in ClickHouse. In each form the default of ClickHouse's type is NULL, so that
 * outer joins and LEFT ARRAY JOIN give NULL by themselves.
 *
 * | type                               | in ClickHouse                                            | NULL           |
 * |------------------------------------|----------------------------------------------------------|----------------|
 * | BOOL                               | Nullable(UInt8)                                          | NULL           |
 * | INT64, TIMESTAMP, DATETIME, TIME   | Nullable(Int64), times as microseconds                   | NULL           |
 * | DATE                               | Nullable(Int64), days since the epoch                    | NULL           |
 * | FLOAT64                            | Nullable(Float64)                                        | NULL           |
 * | STRING, JSON                       | Nullable(String)                                         | NULL           |
 * | BYTES                              | Nullable(String)                                         | NULL           |
 * | DYNAMIC                            | Nullable(String), the JSON text of the value             | NULL           |
 * | NUMBER                             | Tuple(Nullable(Int64), Nullable(Float64)), one is NULL   | both are NULL  |
 * | ARRAY                              | Array(Array(element)), the outer one of at most one item | the outer one is empty |
 * | STRUCT                             | Array(Tuple(fields)), of at most one item                | the array is empty     |
 * | INTERVAL                           | Array(Tuple(Int64, Int64, Int64)): months, days and microseconds | the array is empty |
 */
export function storedType(type: SqlType, span?: Span): string {
  switch (type.kind) {
    case 'BOOL':
      return 'Nullable(UInt8)';
    case 'INT64':
    case 'TIMESTAMP':
    case 'DATETIME':
    case 'DATE':
    case 'TIME':
    case 'NULL':
      return 'Nullable(Int64)';
    case 'FLOAT64':
      return 'Nullable(Float64)';
    case 'STRING':
    case 'JSON':
    case 'BYTES':
    case 'DYNAMIC':
      return 'Nullable(String)';
    case 'NUMBER':
      return 'Tuple(Nullable(Int64), Nullable(Float64))';
    case 'ARRAY':
      return `Array(Array(${storedType(type.element, span)}))`;
    case 'STRUCT':
      if (type.fields.length === 0) return refuse('a STRUCT without fields', span);
      return `Array(Tuple(${type.fields.map((field) => storedType(field.type, span)).join(', ')}))`;
    case 'INTERVAL':
      return 'Array(Tuple(Int64, Int64, Int64))';
    default:
      return unreachable(type);
  }
}

/** Whether ClickHouse's own NULL is the NULL of the type. */
export function isScalar({ kind }: SqlType): boolean {
  return kind !== 'NUMBER' && kind !== 'ARRAY' && kind !== 'STRUCT' && kind !== 'INTERVAL';
}

export function nullOf(type: SqlType, span?: Span): string {
  const stored = storedType(type, span);
  if (isScalar(type)) return `CAST(NULL, '${stored}')`;
  if (type.kind === 'NUMBER') return `CAST(tuple(NULL, NULL), '${stored}')`;
  return `CAST([], '${stored}')`;
}

/** Whether a value of the type is NULL: 1 or 0. */
export function isNull(sql: string, type: SqlType): string {
  if (isScalar(type)) return `isNull(${sql})`;
  if (type.kind === 'NUMBER') return `(isNull(${sql}.1) AND isNull(${sql}.2))`;
  return `empty(${sql})`;
}

/** The value in the form that columns have, whose default is NULL. */
export function asColumn(sql: string, type: SqlType): string {
  return isScalar(type) && !sql.startsWith("CAST(NULL, 'Nullable(") ? `toNullable(${sql})` : sql;
}

/** A constant of a plan. */
export function literal(
  value: SqlValue,
  type: SqlType,
  { parts, span }: { readonly parts: StatementParts; readonly span?: Span | undefined },
): string {
  if (value === null) return nullOf(type, span);
  if (isInterval(value)) {
    const amounts = [value.months, value.days, value.us].map(integer);
    return `CAST([tuple(${amounts.join(', ')})], '${storedType(type, span)}')`;
  }
  if (isNested(value)) return refuse('a constant of this type', span);
  switch (type.kind) {
    case 'BOOL':
      return `toUInt8(${value === true ? 1 : 0})`;
    case 'INT64':
    case 'TIMESTAMP':
    case 'DATETIME':
    case 'DATE':
    case 'TIME':
      return integer(value as number | bigint);
    case 'FLOAT64':
      return float(Number(value));
    case 'STRING':
    case 'JSON':
      return parts.text(value as string, span);
    case 'BYTES':
      return `unhex('${Buffer.from(value as string, 'latin1').toString('hex')}')`;
    case 'NUMBER':
      return numberLiteral(value as number | bigint);
    case 'DYNAMIC':
      return dynamicLiteral(value, { parts, span });
    case 'ARRAY': {
      const elements = (value as readonly SqlValue[]).map((element) =>
        asColumn(literal(element, type.element, { parts, span }), type.element),
      );
      return `CAST([[${elements.join(', ')}]], '${storedType(type, span)}')`;
    }
    case 'STRUCT': {
      const fields = type.fields.map((field, index) =>
        literal((value as readonly SqlValue[])[index] ?? null, field.type, { parts, span }),
      );
      return `CAST([tuple(${fields.join(', ')})], '${storedType(type, span)}')`;
    }
    case 'NULL':
    case 'INTERVAL':
      return refuse('a constant of this type', span);
    default:
      return unreachable(type);
  }
}

/** Constants of a type as an Array of ClickHouse. Integers are one text, which is quickly read. */
export function constants(
  values: readonly SqlValue[],
  type: SqlType,
  parts: StatementParts,
): string {
  const stored = `Array(${storedType(type)})`;
  const literals = values.map((value) => literal(value, type, { parts }));
  const digits = literals.map((each) => /^toInt64\('?(-?\d+)'?\)$/.exec(each)?.[1]);
  const areIntegers = digits.every((each) => each !== undefined);
  return areIntegers
    ? `CAST('[${digits.join(',')}]', '${stored}')`
    : `CAST([${literals.join(', ')}], '${stored}')`;
}

/** ClickHouse reads the digits of the least INT64 as those of a number that does not fit. */
const INT64_MIN_TEXT = String(-(2n ** 63n));

export function integer(value: number | bigint): string {
  const digits = String(value);
  if (!/^-?\d+$/.test(digits)) throw new RangeError(`${digits} is no integer`);
  return digits === INT64_MIN_TEXT ? `toInt64('${digits}')` : `toInt64(${digits})`;
}

/** ClickHouse reads the shortest digits of a double exactly where they are JSON; without an exponent they may be an integer. */
function float(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return Object.is(value, -0) ? '(-0.)' : `JSONExtractFloat('${value.toExponential()}')`;
}

/** Numbers that are whole are integers where they fit. */
function numberLiteral(value: number | bigint): string {
  const isInteger =
    typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value);
  const [whole, fraction] = isInteger
    ? [integer(typeof value === 'number' ? value + 0 : value), 'NULL']
    : ['NULL', float(Number(value))];
  return `CAST(tuple(${whole}, ${fraction}), 'Tuple(Nullable(Int64), Nullable(Float64))')`;
}

/** The JSON text of a scalar, as ClickHouse writes that of a field. */
function dynamicLiteral(
  value: SqlValue,
  { parts, span }: { readonly parts: StatementParts; readonly span?: Span | undefined },
): string {
  if (Array.isArray(value)) return refuse('a constant list beside fields', span);
  // JSON has neither.
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return refuse('NaN or an infinity beside fields', span);
  }
  const json = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return `JSONExtractRaw(${parts.text(json, span)})`;
}
