import { nestedText } from '../column/json-nested.ts';
import { DYNAMIC, NUMBER, type ScalarKind, type SqlType } from '../column/type.ts';
import { isInterval, isNested, type SqlValue } from '../column/value.ts';
import { QueryError } from '../query-error.ts';
import { formatFloat64 } from './number/float64.ts';
import { INT64_MAX, INT64_MIN, type Int64 } from './number/int64.ts';
import { parseInterval, totalUs } from './time/interval.ts';
import { parseDate, parseDatetime, parseTimeOfDay, parseTimestamp } from './time/timestamp-text.ts';

/**
 * All that is special about DYNAMIC, the type of a value inside an event, whose kind only the data knows:
 * which kinds there are, as what a value is read where a type is wanted (`READINGS`), what it becomes beside a
 * value of another type (`readingBeside`, `fitsDynamic`), and over which kind of a group aggregates go
 * (`orderedKind`). docs/sql.md has the table; `test/function/dynamic.test.ts` holds functions and document against it.
 */

/** In the order of ORDER BY. A missing field is NULL. */
export const KINDS = ['NULL', 'BOOL', 'number', 'text', 'list', 'record'] as const;

export type Kind = (typeof KINDS)[number];

/** Of a DYNAMIC value; no event holds an INTERVAL. */
export function kindOf(value: SqlValue): Kind {
  switch (typeof value) {
    case 'boolean':
      return 'BOOL';
    case 'number':
    case 'bigint':
      return 'number';
    case 'string':
      return 'text';
    default:
      if (value === null) return 'NULL';
      return isNested(value) && !value.isList ? 'record' : 'list';
  }
}

type Reading = (value: SqlValue) => SqlValue;
type Readings = Partial<Record<Kind, Reading>>;

/**
 * What a value of each kind is where a type is wanted, and nothing throws. A kind that is not named is NULL there.
 * A list where an ARRAY is wanted has each element read in turn; a record is a list of itself.
 */
const READINGS: Readonly<Record<ScalarKind | 'NUMBER', Readings>> = {
  BOOL: { BOOL: unchanged },
  NUMBER: { number: readNumber },
  INT64: { number: readInt64 },
  FLOAT64: { number: Number },
  STRING: { BOOL: String, number: scalarText, text: unchanged },
  TIMESTAMP: { text: writtenAs(parseTimestamp) },
  DATETIME: { text: writtenAs(parseDatetime) },
  DATE: { text: writtenAs(parseDate) },
  TIME: { text: writtenAs(parseTimeOfDay) },
  INTERVAL: { text: writtenAs(parseInterval) },
  BYTES: {},
  JSON: {},
};

/** A DYNAMIC value, or a NUMBER, where `type` is wanted. */
export function readAs(value: SqlValue, type: SqlType): SqlValue {
  switch (type.kind) {
    case 'DYNAMIC':
      return value;
    case 'ARRAY':
      return elementsOf(value)?.map((element) => readAs(element, type.element)) ?? null;
    case 'STRUCT':
    case 'NULL':
      return null;
    default:
      return READINGS[type.kind][kindOf(value)]?.(value) ?? null;
  }
}

/** Whether some values of a kind are read as a type, which is no ARRAY, STRUCT, NULL or DYNAMIC. */
export function isRead(kind: Kind, type: ScalarKind | 'NUMBER'): boolean {
  return READINGS[type][kind] !== undefined;
}

/**
 * As what a DYNAMIC operand of a comparison is read beside one of `type`: `undefined` when the two are not
 * compared. Two DYNAMIC values are compared as they are, by kind and value.
 */
export function readingBeside(type: SqlType): SqlType | undefined {
  switch (type.kind) {
    case 'DYNAMIC':
    case 'NULL':
      return DYNAMIC;
    case 'INT64':
    case 'FLOAT64':
    case 'NUMBER':
      return NUMBER;
    case 'BOOL':
    case 'STRING':
      return type;
    default:
      return undefined;
  }
}

/** What makes of a value of `type` what is compared with values of another; `undefined`: nothing does. */
export function readerBeside(type: SqlType, other: SqlType): Reading | undefined {
  const reading = type.kind === 'DYNAMIC' ? readingBeside(other) : undefined;
  if (reading === undefined || reading.kind === 'DYNAMIC') return undefined;
  return (value) => readAs(value, reading);
}

/**
 * Whether a value of `type` becomes DYNAMIC when it is brought together with one (COALESCE, IF, CASE, a list, a
 * set operation and their kin), and keeps its kind: all that an event could hold.
 */
export function fitsDynamic(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return type.element.kind !== 'ARRAY' && fitsDynamic(type.element);
  return readingBeside(type) !== undefined;
}

/**
 * MIN, MAX, ANY_VALUE, HAVING MAX and APPROX_QUANTILES of a group are over the first of these kinds that it holds;
 * values of the others are left out, so that one sender's mistake does not become the greatest of all.
 */
export const ORDERED_KINDS = ['number', 'text', 'BOOL'] as const;

/** That kind; `undefined` where a group holds none of them. */
export function orderedKind(
  holds: Readonly<Record<(typeof ORDERED_KINDS)[number], boolean>>,
): (typeof ORDERED_KINDS)[number] | undefined {
  return ORDERED_KINDS.find((kind) => holds[kind]);
}

/** Some values without those that are left out, and without NULLs. */
export function orderedValues(values: readonly SqlValue[]): readonly SqlValue[] {
  const kinds = new Set(values.map(kindOf));
  const kind = ORDERED_KINDS.find((each) => kinds.has(each));
  if (kind !== undefined) return values.filter((value) => kindOf(value) === kind);
  return values.filter((value) => value !== null && !isNested(value));
}

/** Whether a number counts as INT64: sent without fraction and exponent, or as good as that (`1.0`), in 64 bits. */
export function isWhole(value: SqlValue): value is Int64 {
  if (typeof value === 'bigint') return value >= INT64_MIN && value <= INT64_MAX;
  return Number.isSafeInteger(value);
}

/** The text of a boolean or a number, as CAST writes it; a whole number has all its digits, in 64 bits or not. */
export function scalarText(value: SqlValue): string {
  return typeof value === 'number' && !isWhole(value) ? formatFloat64(value) : String(value);
}

function unchanged(value: SqlValue): SqlValue {
  return value;
}

/** A whole number beyond 64 bits is the nearest FLOAT64. */
function readNumber(value: SqlValue): SqlValue {
  return typeof value === 'bigint' && !isWhole(value) ? Number(value) : value;
}

/** A number with a fraction, or beyond 64 bits, is NULL. */
function readInt64(value: SqlValue): SqlValue {
  if (isWhole(value)) return typeof value === 'number' ? value + 0 : value;
  if (typeof value !== 'number' || !Number.isInteger(value)) return null;
  const exact = BigInt(value);
  return isWhole(exact) ? exact : null;
}

/** A text that is none of these is NULL. */
function writtenAs(parse: (text: string) => SqlValue): Reading {
  return (text) => {
    try {
      return parse(String(text));
    } catch (error) {
      if (error instanceof QueryError) return null;
      throw error;
    }
  };
}

/**
 * The elements of an ARRAY, or of a DYNAMIC list; a record is a list of itself. NULL for a value
 * that is neither.
 */
export function elementsOf(value: SqlValue): readonly SqlValue[] | null {
  if (value === null || typeof value !== 'object') return null;
  if (isNested(value)) return value.elements();
  return isInterval(value) ? null : value;
}

/**
 * A text that two values share exactly when `compareValues` gives 0: the key under which GROUP BY
 * and DISTINCT find a value again.
 */
export function dynamicKey(value: SqlValue): string {
  switch (typeof value) {
    case 'string':
      return `s${value}`;
    case 'boolean':
      return value ? 't' : 'f';
    case 'bigint':
      return `n${value}`;
    case 'number':
      return numberKey(value);
    default:
      if (value === null) return '0';
      if (isInterval(value)) return `i${totalUs(value)}`;
      if (isNested(value)) return `j${nestedText(value)}`;
      return elementsKey(value);
  }
}

function numberKey(value: number): string {
  // A large integral double may equal a bigint, so both are written digit by digit.
  const isLargeInteger = Number.isInteger(value) && !Number.isSafeInteger(value);
  return `n${isLargeInteger ? BigInt(value) : value}`;
}

/** Each key with its length before it, so that no two lists share a text. */
function elementsKey(elements: readonly SqlValue[]): string {
  const keys = elements.map((element) => {
    const key = dynamicKey(element);
    return `${key.length}:${key}`;
  });
  return `a${keys.join('')}`;
}
