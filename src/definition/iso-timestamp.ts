import { type Int64, parseTimestamp, QueryError } from '../../engine/columns.ts';

/**
 * An ISO 8601 time as parameters and settings give it: a date, or a date and a time to the minute,
 * second or a fraction of it, with `Z`, an offset, or neither, which means UTC.
 *
 * ```
 * 2026-01-15   2026-01-15T12:00Z   2026-01-15 12:00:00.123456+05:30
 * ```
 */
const ISO_TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})(?:([Tt ]\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

/**
 * Parses to microseconds since the epoch; `undefined` for other texts. Nanoseconds are truncated.
 */
export function parseIsoTimestampUs(text: string): Int64 | undefined {
  const match = ISO_TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [, date, minute, second = ':00', zone] = match;
  const timeUs = minute === undefined ? '' : minute + second.replace(/(\.\d{6})\d+$/, '$1');
  try {
    return parseTimestamp(`${date}${timeUs}${zone ?? ''}`);
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}
