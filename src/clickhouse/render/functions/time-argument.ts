import type { QueryError, SqlType } from '../../../../engine/columns.ts';
import { nullOf } from '../sql-type.ts';
import { US_PER_DAY } from '../time-sql.ts';
import { UTC_ZONE, type ZoneSql, zoneSql } from '../zone-sql.ts';
import { type CallSql, checked, constantOf, failing, orFailure, strict } from './function-sql.ts';

/** Parts of one length, in microseconds. */
export const LENGTHS_US: ReadonlyMap<string, number> = new Map([
  ['MICROSECOND', 1],
  ['MILLISECOND', 1_000],
  ['SECOND', 1_000_000],
  ['MINUTE', 60_000_000],
  ['HOUR', 3_600_000_000],
  ['DAY', US_PER_DAY],
]);

/** Parts of so many months. */
export const LENGTHS_MONTHS: ReadonlyMap<string, number> = new Map([
  ['MONTH', 1],
  ['QUARTER', 3],
  ['YEAR', 12],
]);

/** The part of time that a call names. */
export function partOf(call: CallSql, index: number): string {
  return String(constantOf(call, index)).toUpperCase();
}

/** Whether the time is a day: a DATE. */
export function isDate(types: readonly SqlType[]): boolean {
  return types[0]?.kind === 'DATE';
}

/** A call with a time zone that is a constant at `index`, UTC where it is left out. */
export function inZone(
  call: CallSql,
  index: number,
  body: (zone: ZoneSql, ...values: readonly string[]) => string,
): string {
  const zone = zoneAt(call, index);
  if (zone === null) return nullOf(call.type);
  if (!('offset' in zone)) return failing(call, zone);
  return strict(call, (...values) => body(zone, ...values));
}

function zoneAt(call: CallSql, index: number): ZoneSql | QueryError | null {
  if (call.arguments.length <= index) return UTC_ZONE;
  const name = constantOf(call, index);
  return name === null ? null : orFailure(() => zoneSql(String(name)));
}

/** A value that is NULL where there is none, or an error there. */
export function orError(call: CallSql, value: string, message = 'time out of range'): string {
  return call.parts.once(value, (known) => checked(call, known, `isNull(${known})`, message));
}
