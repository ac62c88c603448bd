import { keepRecent } from '../../column/caches.ts';
import { QueryError } from '../../query-error.ts';
import { addInt64, floorDivide, type Int64, subtractInt64 } from '../number/int64.ts';
import type { Constants } from '../scalar-function.ts';

/**
 * The proleptic Gregorian calendar. A *day number* counts days since 1970-01-01, a *time of day*
 * microseconds since midnight. A DATETIME is its microseconds since the epoch as if it were UTC, so
 * the same arithmetic serves both types. GoogleSQL's years are 0001 to 9999; years before 1684 and
 * after 2255 are beyond 2^53 microseconds, so microseconds are INT64 values.
 */
export type CivilDate = { readonly year: number; readonly month: number; readonly day: number };

export const US_PER_MILLISECOND = 1_000;
export const US_PER_SECOND = 1_000_000;
export const US_PER_MINUTE = 60 * US_PER_SECOND;
export const US_PER_HOUR = 60 * US_PER_MINUTE;
export const US_PER_DAY = 24 * US_PER_HOUR;

/** 0001-01-01 00:00:00 UTC. */
export const TIMESTAMP_US_MIN = -62_135_596_800_000_000n;
/** 9999-12-31 23:59:59.999999 UTC. */
export const TIMESTAMP_US_MAX = 253_402_300_799_999_999n;

/** Returns `us` if it lies in the years 0001 to 9999, else throws. */
export function checkedTimestampUs(us: Int64): Int64 {
  if (us < TIMESTAMP_US_MIN || us > TIMESTAMP_US_MAX) {
    throw new QueryError(
      'query_failed',
      `time out of range: ${us} microseconds since 1970; allowed are the years 0001 to 9999`,
    );
  }
  return us;
}

type SplitTime = { readonly dayNumber: number; readonly timeOfDayUs: number };

export function splitUs(us: Int64): SplitTime {
  if (typeof us === 'number') {
    const dayNumber = Math.floor(us / US_PER_DAY);
    return { dayNumber, timeOfDayUs: us - dayNumber * US_PER_DAY };
  }
  const days = floorDivide(us, BigInt(US_PER_DAY));
  return { dayNumber: Number(days), timeOfDayUs: Number(us - days * BigInt(US_PER_DAY)) };
}

/** Microseconds since the epoch; throws beyond the years 0001 to 9999. */
export function joinUs(dayNumber: number, timeOfDayUs: number): Int64 {
  const us = dayNumber * US_PER_DAY + timeOfDayUs;
  if (Number.isSafeInteger(us)) return us;
  return checkedTimestampUs(BigInt(dayNumber) * BigInt(US_PER_DAY) + BigInt(timeOfDayUs));
}

/** The midnight that a day begins with, as a DATETIME. */
export function midnightUs(dayNumber: number): Int64 {
  return joinUs(dayNumber, 0);
}

export function dayOfUs(us: Int64): number {
  return splitUs(us).dayNumber;
}

/** The first and the last day of GoogleSQL's years. */
const DAY_NUMBER_MIN = -719_162;
const DAY_NUMBER_MAX = 2_932_896;

/** Returns the day number if it lies in the years 0001 to 9999, else throws. */
export function checkedDay(day: bigint | number): number {
  if (day < DAY_NUMBER_MIN || day > DAY_NUMBER_MAX) {
    throw new QueryError(
      'query_failed',
      `date out of range: ${day} days since 1970-01-01; allowed are the years 0001 to 9999`,
    );
  }
  return Number(day);
}

/** Days before each month of a year without a leap day. */
const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The day number of 1 January of year 1. */
const DAY_NUMBER_OF_YEAR_ONE = -719_162;

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** `month` from 1. */
export function daysInMonth(year: number, month: number): number {
  return month === 2 && isLeapYear(year) ? 29 : (MONTH_LENGTHS[month - 1] as number);
}

/** `month` and `day` from 1; the date must exist. */
export function dayNumberOf({ year, month, day }: CivilDate): number {
  return startOfYear(year) + dayOfYear({ year, month, day }) - 1;
}

/** The day number of 1 January. */
export function startOfYear(year: number): number {
  const years = year - 1;
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  return DAY_NUMBER_OF_YEAR_ONE + years * 365 + leapDays;
}

/** From 1. */
export function dayOfYear({ year, month, day }: CivilDate): number {
  const leapDay = month > 2 && isLeapYear(year) ? 1 : 0;
  return (DAYS_BEFORE_MONTH[month - 1] as number) + leapDay + day;
}

export function civilDateOf(dayNumber: number): CivilDate {
  const year = yearOf(dayNumber);
  const dayIndex = dayNumber - startOfYear(year);
  // Months have at most 31 days, so this is the month or the one before it.
  let month = Math.floor(dayIndex / 31) + 1;
  while (month < 12 && dayIndex >= dayOfYear({ year, month: month + 1, day: 1 }) - 1) month++;
  return { year, month, day: dayIndex - dayOfYear({ year, month, day: 1 }) + 2 };
}

export function yearOf(dayNumber: number): number {
  // 400 years have 146,097 days; the estimate is wrong by one at most.
  let year = Math.floor((dayNumber - DAY_NUMBER_OF_YEAR_ONE) / (146_097 / 400)) + 1;
  if (dayNumber < startOfYear(year)) year--;
  else if (dayNumber >= startOfYear(year + 1)) year++;
  return year;
}

/** 0 is Sunday. 1970-01-01 was a Thursday. */
export function dayOfWeek(dayNumber: number): number {
  return (((dayNumber + 4) % 7) + 7) % 7;
}

/** Time zones kept, by name. There are about 600. */
const TIME_ZONES_MAX = 1024;

/** Hours whose offset a time zone remembers: asking Intl costs microseconds. Nearly a year. */
const ZONE_SLOTS_MAX = 8192;

/** How far the clocks of a place are ahead of UTC. */
export interface TimeZone {
  /** Whether the offset is 0 at all times. */
  readonly isUtc: boolean;
  /** Microseconds ahead of UTC at an instant. */
  offsetUs(instantUs: Int64): number;
}

export const UTC: TimeZone = { isUtc: true, offsetUs: () => 0 };

export const UTC_NAMES: ReadonlySet<string> = new Set([
  'utc',
  'z',
  'gmt',
  'etc/utc',
  'etc/gmt',
  'zulu',
  'utc+0',
]);
/** Whether the argument of a call at `index`, a zone, is left out or is UTC. */
export function isUtcAt(index: number, constants: Constants): boolean {
  const zone = constants[index];
  return (
    index >= constants.length || (typeof zone === 'string' && UTC_NAMES.has(zone.toLowerCase()))
  );
}

const OFFSET = /^(?:UTC)?([+-])(?:(\d{2})(\d{2})|(\d{1,2})(?::(\d{1,2}))?)$/;
const OFFSET_HOURS_MAX = 14;

/** To be said of a text with a space where an offset has its plus: a query string makes one of the other. */
export const PLUS_HINT = ' (in a URL the sign + of an offset is written %2B)';

/** `UTC`, an offset such as `+01:00`, or a place such as `Europe/Paris`; throws for others. */
export const mustTimeZone = keepRecent(TIME_ZONES_MAX, (name: string): TimeZone => {
  if (UTC_NAMES.has(name.toLowerCase())) return UTC;
  const zone = fixedZone(name) ?? placeZone(name);
  if (zone === undefined) {
    const hint = fixedZone(name.replace(/^ /, '+')) === undefined ? '' : PLUS_HINT;
    throw new QueryError(
      'query_failed',
      `time zone must be UTC, an offset such as +01:00 or a place such as Europe/Paris; got ${JSON.stringify(name.slice(0, 64))}${hint}`,
    );
  }
  return zone;
});

/** The same; UTC when no name is given. */
export function zoneNamed(name: string | undefined): TimeZone {
  return name === undefined ? UTC : mustTimeZone(name);
}

function fixedZone(name: string): TimeZone | undefined {
  const match = OFFSET.exec(name);
  if (match === null) return undefined;
  const hours = Number(match[2] ?? match[4]);
  const minutes = Number(match[3] ?? match[5] ?? 0);
  if (minutes > 59 || hours * 60 + minutes > OFFSET_HOURS_MAX * 60) return undefined;
  const aheadUs = hours * US_PER_HOUR + minutes * US_PER_MINUTE;
  const offsetUs = match[1] === '-' ? 0 - aheadUs : aheadUs;
  return { isUtc: offsetUs === 0, offsetUs: () => offsetUs };
}

function placeZone(name: string): TimeZone | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{1,63}$/.test(name)) return undefined;
  try {
    return new PlaceZone(name);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A place of the time zone database, as Intl knows it. */
class PlaceZone implements TimeZone {
  readonly isUtc = false;
  readonly #format: Intl.DateTimeFormat;
  /** Offset during an hour since the epoch that has but one: clocks do not change twice within an hour. */
  readonly #offsetOfHour = keepRecent(ZONE_SLOTS_MAX, (hour: number) => {
    const offset = this.#offsetAt(hour * 3600);
    return offset === this.#offsetAt(hour * 3600 + 3599) ? offset : undefined;
  });

  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  }

  offsetUs(instantUs: Int64): number {
    const second = Number(floorDivide(BigInt(instantUs), BigInt(US_PER_SECOND)));
    return this.#offsetOfHour(Math.floor(second / 3600)) ?? this.#offsetAt(second);
  }

  /** Reads the offset out of text such as `1/15/2026, GMT-04:56:02`. */
  #offsetAt(second: number): number {
    const parts = this.#format.formatToParts(second * 1000);
    const text = parts.find((part) => part.type === 'timeZoneName')?.value ?? '';
    const match = /^GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(text);
    if (match === null)
      throw new Error(`time zone offset ${JSON.stringify(text)} is not understood`);
    const aheadUs =
      Number(match[2] ?? 0) * US_PER_HOUR +
      Number(match[3] ?? 0) * US_PER_MINUTE +
      Number(match[4] ?? 0) * US_PER_SECOND;
    return match[1] === '-' ? 0 - aheadUs : aheadUs;
  }
}

/** What clocks of the zone show at an instant, as a DATETIME. */
export function localUs(instantUs: Int64, zone: TimeZone): Int64 {
  if (zone.isUtc) return instantUs;
  return checkedTimestampUs(addInt64(instantUs, zone.offsetUs(instantUs)));
}

/**
 * When clocks of the zone show a DATETIME. One shown twice means the first time; one that is
 * skipped is read with the offset before the gap.
 */
export function instantUs(local: Int64, zone: TimeZone): Int64 {
  if (zone.isUtc) return local;
  const before = zone.offsetUs(subtractInt64(local, US_PER_DAY));
  const first = subtractInt64(local, before);
  if (zone.offsetUs(first) === before) return checkedTimestampUs(first);
  const after = zone.offsetUs(addInt64(local, US_PER_DAY));
  const second = subtractInt64(local, after);
  return checkedTimestampUs(zone.offsetUs(second) === after ? second : first);
}
