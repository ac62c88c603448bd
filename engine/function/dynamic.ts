import { unreachable } from '../assert.ts';
import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { isInterval, isNested } from '../column/value.ts';
import { QueryError } from '../query-error.ts';
import { nestedText } from './json/json-text.ts';
import { canonicalInteger, INT64_MAX, INT64_MIN } from './number/int64.ts';
import { totalUs } from './time/interval.ts';
import { parseInterval } from './time/interval-text.ts';
import { parseDate, parseDatetime, parseTimeOfDay, parseTimestamp } from './time/timestamp-text.ts';

/**
 * A DYNAMIC value where `type` is wanted: values of other kinds are NULL, and nothing throws.
 *
 * | wanted              | read                                                                 |
 * |---------------------|----------------------------------------------------------------------|
 * | STRING, BOOL        | strings; booleans                                                    |
 * | FLOAT64             | numbers, as they are: an integer beyond 2^53 stays a bigint          |
 * | INT64               | numbers without a fraction that fit 64 bits                          |
 * | TIMESTAMP, DATETIME | strings written as one                                               |
 * | DATE, TIME, INTERVAL | strings written as one                                              |
 * | ARRAY               | lists, each element read in turn; a record as a list of itself       |
 * | DYNAMIC             | everything                                                           |
 */
export function readAs(value: SqlValue, type: SqlType): SqlValue {
  if (value === null) return null;
  switch (type.kind) {
    case 'DYNAMIC':
      return value;
    case 'STRING':
      return typeof value === 'string' ? value : null;
    case 'BOOL':
      return typeof value === 'boolean' ? value : null;
    case 'FLOAT64':
      return typeof value === 'number' || typeof value === 'bigint' ? value : null;
    case 'INT64':
      return readInt64(value);
    case 'TIMESTAMP':
      return typeof value === 'string' ? orNull(() => parseTimestamp(value)) : null;
    case 'DATETIME':
      return typeof value === 'string' ? orNull(() => parseDatetime(value)) : null;
    case 'DATE':
      return typeof value === 'string' ? orNull(() => parseDate(value)) : null;
    case 'TIME':
      return typeof value === 'string' ? orNull(() => parseTimeOfDay(value)) : null;
    case 'INTERVAL':
      return typeof value === 'string' ? orNull(() => parseInterval(value)) : null;
    case 'ARRAY': {
      const elements = elementsOf(value);
      return elements === null ? null : elements.map((element) => readAs(element, type.element));
    }
    case 'STRUCT':
    case 'NULL':
    case 'BYTES':
      return null;
    default:
      return unreachable(type);
  }
}

function readInt64(value: SqlValue): SqlValue {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return value + 0;
    if (!Number.isInteger(value)) return null;
    return readInt64(BigInt(value));
  }
  if (typeof value !== 'bigint') return null;
  return value < INT64_MIN || value > INT64_MAX ? null : canonicalInteger(value);
}

function orNull(compute: () => SqlValue): SqlValue {
  try {
    return compute();
  } catch (error) {
    if (error instanceof QueryError) return null;
    throw error;
  }
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
