import { QueryError } from '../../query-error.ts';
import type { Int64 } from '../number/int64.ts';
import { floorDivide } from '../number/int64.ts';

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

export type SplitTime = { readonly dayNumber: number; readonly timeOfDayUs: number };

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
