import type { JsonWriter } from './json-buffer.ts';

/**
 * One SQL value outside of a vector.
 *
 * | SQL type            | value                                                              |
 * |---------------------|--------------------------------------------------------------------|
 * | NULL of any type    | `null`                                                             |
 * | BOOL                | `boolean`                                                          |
 * | INT64               | `number` while |x| < 2^53, else `bigint`: never both for one value |
 * | FLOAT64             | `number`                                                           |
 * | STRING              | `string`                                                           |
 * | BYTES               | `string` of one character per byte, each below 256                 |
 * | TIMESTAMP, DATETIME | microseconds since the epoch, as INT64                             |
 * | DATE                | days since the epoch, `number`                                     |
 * | TIME                | microseconds since midnight, `number`                              |
 * | INTERVAL            | an `Interval`                                                      |
 * | JSON                | its text in normal form (`normalJson`), a `string`; `'null'` is no NULL |
 * | ARRAY, STRUCT       | an array of values, in order                                       |
 * | NUMBER              | as an INT64, or a FLOAT64 that none is                             |
 * | DYNAMIC             | a boolean, string, number (a `bigint` may be beyond 64 bits), or a |
 * |                     | `Nested` record or list                                            |
 */
export type SqlValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Interval
  | Nested
  | readonly SqlValue[];

/**
 * Three amounts, each with its own sign: neither have months one length, nor days where clocks
 * change. In comparisons alone a month has 30 days, and a day 24 hours.
 */
export type Interval = {
  readonly months: number;
  readonly days: number;
  /** Microseconds, as INT64. */
  readonly us: number | bigint;
};

/** A record or a list inside an event, read where it lies. */
export interface Nested {
  readonly isList: boolean;
  /**
   * The value under `name`: the exact key first, then the first that differs only in case; `null`
   * when there is none. A list of exactly one record is read as that record, any other list has no
   * fields.
   */
  field(name: string): SqlValue;
  /** The elements of a list; a record is a list of itself. */
  elements(): readonly SqlValue[];
  /**
   * Writes the value as it was sent, each map that is a field's value as a one-element list. `isKept`:
   * whether its text may be kept for the next time.
   */
  writeJson(out: JsonWriter, isKept?: boolean): void;
}

export function isNested(value: SqlValue): value is Nested {
  return typeof value === 'object' && value !== null && 'isList' in value;
}

export function isInterval(value: SqlValue): value is Interval {
  return typeof value === 'object' && value !== null && 'months' in value;
}
