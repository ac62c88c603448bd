import type { CivilDate } from './calendar.ts';
import { civilDateOf, dayOfWeek, daysInMonth, isLeapYear, startOfYear } from './calendar.ts';
import { startOfIsoYear } from './time-part.ts';

/**
 * What a text told of its date. A year and one way to name a day in it; where two are told, the
 * later one counts. What is left out is the first of January 1970.
 */
export type DateReading = {
  /** All of its digits, or its last two, or those before them. */
  year: number | undefined;
  yearOfCentury: number | undefined;
  century: number | undefined;
  month: number;
  day: number;
  /** From 1; instead of month and day. */
  dayOfYear: number | undefined;
  /** Week 1 begins with the first `start`, 0 being Sunday; days before it are in week 0. */
  week: { readonly number: number; readonly start: 0 | 1 } | undefined;
  /** 0 is Sunday. Counts beside a week alone. */
  weekday: number | undefined;
  /** Instead of a year: weeks and days are those of ISO 8601. */
  isoYear: number | undefined;
  isoWeek: number | undefined;
  isoDayOfYear: number | undefined;
};

export function emptyDate(): DateReading {
  return {
    ...{ year: undefined, yearOfCentury: undefined, century: undefined },
    ...{ month: 1, day: 1, dayOfYear: undefined, week: undefined, weekday: undefined },
    ...{ isoYear: undefined, isoWeek: undefined, isoDayOfYear: undefined },
  };
}

/** A month or a day of it was read: other ways to name the day count no more. */
export function forgetOtherDays(reading: DateReading): void {
  reading.dayOfYear = undefined;
  reading.week = undefined;
  reading.isoYear = undefined;
}

/** `undefined` for a date that is none, such as day 366 of most years. */
export function dateOfReading(reading: DateReading): CivilDate | undefined {
  const year = yearOfReading(reading);
  if (year === undefined) return isoDate(reading.isoYear ?? 1970, reading);
  if (year < 1 || year > 9999) return undefined;
  if (reading.dayOfYear !== undefined) return dayInYear(year, reading.dayOfYear - 1);
  if (reading.week !== undefined) return dayOfWeekIn(year, reading.week, reading.weekday);
  const { month, day } = reading;
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  return { year, month, day };
}

/** `undefined` when only a year of ISO 8601 was read. */
function yearOfReading({ year, yearOfCentury, century, isoYear }: DateReading): number | undefined {
  if (year !== undefined) return year;
  if (century !== undefined) return century * 100 + (yearOfCentury ?? 0);
  if (yearOfCentury !== undefined) return twoDigitYear(yearOfCentury);
  return isoYear === undefined ? 1970 : undefined;
}

/** As POSIX reads `%y`: 69 to 99 are of the twentieth century. */
export function twoDigitYear(year: number): number {
  return year < 69 ? 2000 + year : 1900 + year;
}

function dayInYear(year: number, index: number): CivilDate | undefined {
  if (index < 0 || index >= (isLeapYear(year) ? 366 : 365)) return undefined;
  return civilDateOf(startOfYear(year) + index);
}

/** The week's day, or its first one in the year. */
function dayOfWeekIn(
  year: number,
  { number, start }: { readonly number: number; readonly start: 0 | 1 },
  weekday: number | undefined,
): CivilDate | undefined {
  const firstStart = (7 + start - dayOfWeek(startOfYear(year))) % 7;
  const first = firstStart + (number - 1) * 7;
  if (weekday === undefined) return first > -7 ? dayInYear(year, Math.max(0, first)) : undefined;
  return dayInYear(year, first + ((weekday - start + 7) % 7));
}

function isoDate(year: number, reading: DateReading): CivilDate | undefined {
  if (year < 1 || year > 9999) return undefined;
  const { isoWeek = 1, isoDayOfYear, weekday = 1 } = reading;
  const index = isoDayOfYear ?? (isoWeek - 1) * 7 + ((weekday + 6) % 7) + 1;
  const start = startOfIsoYear(year);
  if (index < 1 || start + index - 1 >= startOfIsoYear(year + 1)) return undefined;
  return civilDateOf(start + index - 1);
}
