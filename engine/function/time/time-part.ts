import { keepLast } from '../../column/caches.ts';
import { QueryError } from '../../query-error.ts';
import { addInt64, canonicalInteger, floorDivide, type Int64 } from '../number/int64.ts';
import {
  checkedTimestampUs,
  civilDateOf,
  dayNumberOf,
  dayOfWeek,
  dayOfYear,
  daysInMonth,
  joinUs,
  splitUs,
  startOfYear,
  US_PER_DAY,
  US_PER_HOUR,
  US_PER_MILLISECOND,
  US_PER_MINUTE,
  US_PER_SECOND,
  yearOf,
} from './calendar.ts';

export type TimeUnit =
  | 'MICROSECOND'
  | 'MILLISECOND'
  | 'SECOND'
  | 'MINUTE'
  | 'HOUR'
  | 'DAY'
  | 'DAYOFWEEK'
  | 'DAYOFYEAR'
  | 'WEEK'
  | 'ISOWEEK'
  | 'MONTH'
  | 'QUARTER'
  | 'YEAR'
  | 'ISOYEAR';

/** A date or time part as GoogleSQL writes it. `weekStart`: first day of a week, 0 is Sunday. */
export type TimePart = {
  readonly name: string;
  readonly unit: TimeUnit;
  readonly weekStart: number;
};

const WEEKDAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'];
const MONDAY = 1;
const THURSDAY_OFFSET = 3;

const WEEK_PARTS = ['WEEK', ...WEEKDAYS.map((day) => `WEEK(${day})`), 'ISOWEEK'];

const FIXED_LENGTHS_US: ReadonlyMap<TimeUnit, number> = new Map([
  ['MICROSECOND', 1],
  ['MILLISECOND', US_PER_MILLISECOND],
  ['SECOND', US_PER_SECOND],
  ['MINUTE', US_PER_MINUTE],
  ['HOUR', US_PER_HOUR],
  ['DAY', US_PER_DAY],
]);

/** Parts of one length. TIMESTAMP_ADD, _SUB and _DIFF take no others. */
export const FIXED_PARTS: readonly string[] = [...FIXED_LENGTHS_US.keys()];
/** For DATETIME_ADD and DATETIME_SUB. */
export const ADDABLE_PARTS: readonly string[] = [
  ...FIXED_PARTS,
  'WEEK',
  'MONTH',
  'QUARTER',
  'YEAR',
];
/** For truncation and DATETIME_DIFF. */
export const CALENDAR_PARTS: readonly string[] = [
  ...FIXED_PARTS,
  ...WEEK_PARTS,
  'MONTH',
  'QUARTER',
  'YEAR',
  'ISOYEAR',
];
/** Those of a TIME. */
export const CLOCK_PARTS: readonly string[] = FIXED_PARTS.filter((part) => part !== 'DAY');
/** Those of a DATE. */
export const DAY_PARTS: readonly string[] = CALENDAR_PARTS.filter(
  (part) => !CLOCK_PARTS.includes(part),
);
/** For LAST_DAY. */
export const LAST_DAY_PARTS: readonly string[] = DAY_PARTS.filter((part) => part !== 'DAY');
/** For EXTRACT. */
export const EXTRACTABLE_PARTS: readonly string[] = [...CALENDAR_PARTS, 'DAYOFWEEK', 'DAYOFYEAR'];

/** For EXTRACT of a DATE. */
export const EXTRACTABLE_DAY_PARTS: readonly string[] = EXTRACTABLE_PARTS.filter(
  (part) => !CLOCK_PARTS.includes(part),
);

const PARTS: ReadonlyMap<string, TimePart> = new Map(
  EXTRACTABLE_PARTS.map((name) => [name, partNamed(name)]),
);

function partNamed(name: string): TimePart {
  if (name === 'ISOWEEK') return { name, unit: 'ISOWEEK', weekStart: MONDAY };
  if (name.startsWith('WEEK')) {
    return { name, unit: 'WEEK', weekStart: Math.max(0, WEEKDAYS.indexOf(name.slice(5, -1))) };
  }
  return { name, unit: name as TimeUnit, weekStart: 0 };
}

/** Finds parts by name for the function `user`, which takes those of `allowed`; throws for other names. */
export function partFinder(user: string, allowed: readonly string[]): (name: string) => TimePart {
  return keepLast((name) => {
    const upper = name.toUpperCase();
    const part = PARTS.get(upper);
    if (part === undefined || !allowed.includes(upper)) {
      throw new QueryError(
        'query_failed',
        `${user} takes one of the parts ${allowed.join(', ')}; got ${JSON.stringify(name)}`,
      );
    }
    return part;
  });
}

/** Length of a part that has one length; `undefined` for the others. */
export function fixedPartUs(unit: TimeUnit): number | undefined {
  return FIXED_LENGTHS_US.get(unit);
}

/** The start of the part that `us` lies in; throws where that is before year 0001. */
export function truncateUs(us: Int64, part: TimePart): Int64 {
  const lengthUs = fixedPartUs(part.unit);
  if (lengthUs !== undefined) return multiplyExactly(floorUnits(us, lengthUs), lengthUs);
  return checkedTimestampUs(joinUs(truncateDay(splitUs(us).dayNumber, part), 0));
}

/** `us` if a part starts there, else the start of the next one; throws beyond year 9999. */
export function startAtOrAfter(us: Int64, part: TimePart): Int64 {
  const start = truncateUs(us, part);
  if (start === us) return us;
  const lengthUs = fixedPartUs(part.unit);
  if (lengthUs !== undefined) return addInt64(start, lengthUs);
  return joinUs(lastDayOf(splitUs(us).dayNumber, part) + 1, 0);
}

/** The first day of the week, month … that a day lies in. */
function truncateDay(dayNumber: number, part: TimePart): number {
  switch (part.unit) {
    case 'WEEK':
    case 'ISOWEEK':
      return dayNumber - daysIntoWeek(dayNumber, part.weekStart);
    case 'ISOYEAR':
      return startOfIsoYear(isoYearOf(dayNumber));
    default: {
      const { year, month } = civilDateOf(dayNumber);
      if (part.unit === 'YEAR') return startOfYear(year);
      const first = part.unit === 'QUARTER' ? month - ((month - 1) % 3) : month;
      return dayNumberOf({ year, month: first, day: 1 });
    }
  }
}

/** The last day of the week, month … that a day lies in; may be beyond year 9999. */
export function lastDayOf(dayNumber: number, part: TimePart): number {
  const first = truncateDay(dayNumber, part);
  switch (part.unit) {
    case 'WEEK':
    case 'ISOWEEK':
      return first + 6;
    case 'ISOYEAR':
      return startOfIsoYear(isoYearOf(dayNumber) + 1) - 1;
    default: {
      const { year, month } = civilDateOf(first);
      const last = month + (part.unit === 'YEAR' ? 11 : part.unit === 'QUARTER' ? 2 : 0);
      return dayNumberOf({ year, month: last, day: daysInMonth(year, last) });
    }
  }
}

function daysIntoWeek(dayNumber: number, weekStart: number): number {
  return (dayOfWeek(dayNumber) - weekStart + 7) % 7;
}

/** ISO 8601: a week belongs to the year of its Thursday. */
function isoYearOf(dayNumber: number): number {
  return yearOf(isoThursday(dayNumber));
}

function isoThursday(dayNumber: number): number {
  return dayNumber - daysIntoWeek(dayNumber, MONDAY) + THURSDAY_OFFSET;
}

/** The Monday of the week that 4 January lies in. */
export function startOfIsoYear(year: number): number {
  const fourth = startOfYear(year) + 3;
  return fourth - daysIntoWeek(fourth, MONDAY);
}

/** Whole units since the epoch, rounded down. Exact for |us| < 2^53, see `splitUs`. */
function floorUnits(us: Int64, lengthUs: number): Int64 {
  if (typeof us === 'number') return Math.floor(us / lengthUs);
  return canonicalInteger(floorDivide(us, BigInt(lengthUs)));
}

function multiplyExactly(units: Int64, lengthUs: number): Int64 {
  const product = Number(units) * lengthUs;
  if (Number.isSafeInteger(product)) return product;
  return canonicalInteger(BigInt(units) * BigInt(lengthUs));
}

/** `us` later by `amount` parts. A day that the month does not have becomes the month's last. */
export function addParts(us: Int64, amount: Int64, part: TimePart): Int64 {
  const lengthUs = part.unit === 'WEEK' ? 7 * US_PER_DAY : fixedPartUs(part.unit);
  if (lengthUs !== undefined) {
    if (typeof us === 'number' && typeof amount === 'number') {
      const shiftUs = amount * lengthUs;
      const sumUs = us + shiftUs;
      if (Number.isSafeInteger(shiftUs) && Number.isSafeInteger(sumUs)) {
        return checkedTimestampUs(sumUs);
      }
    }
    return checkedTimestampUs(canonicalInteger(BigInt(us) + BigInt(amount) * BigInt(lengthUs)));
  }
  const monthCount = part.unit === 'YEAR' ? 12 : part.unit === 'QUARTER' ? 3 : 1;
  return addMonths(us, Number(amount) * monthCount);
}

/** The same time of the day, on the last of a month that has no such day. */
export function addMonths(us: Int64, months: number): Int64 {
  const { dayNumber, timeOfDayUs } = splitUs(us);
  const date = civilDateOf(dayNumber);
  const monthIndex = date.year * 12 + (date.month - 1) + months;
  const year = Math.floor(monthIndex / 12);
  if (!(year >= 1 && year <= 9999)) {
    throw new QueryError(
      'query_failed',
      `time out of range: ${months} months from year ${date.year}; allowed are the years 0001 to 9999`,
    );
  }
  const month = (monthIndex % 12) + 1;
  const day = Math.min(date.day, daysInMonth(year, month));
  return joinUs(dayNumberOf({ year, month, day }), timeOfDayUs);
}

/** Whole parts from `startUs` to `endUs`, without the fraction: TIMESTAMP_DIFF. */
export function wholePartsBetween(endUs: Int64, startUs: Int64, part: TimePart): Int64 {
  const lengthUs = fixedPartUs(part.unit) as number;
  if (typeof endUs === 'number' && typeof startUs === 'number') {
    const differenceUs = endUs - startUs;
    if (Number.isSafeInteger(differenceUs)) return Math.trunc(differenceUs / lengthUs) + 0;
  }
  return canonicalInteger((BigInt(endUs) - BigInt(startUs)) / BigInt(lengthUs));
}

/** How many starts of a part lie in (startUs, endUs]: DATETIME_DIFF. */
export function boundariesBetween(endUs: Int64, startUs: Int64, part: TimePart): Int64 {
  const end = partIndex(endUs, part);
  const start = partIndex(startUs, part);
  if (typeof end === 'number' && typeof start === 'number') return end - start;
  return canonicalInteger(BigInt(end) - BigInt(start));
}

/** Numbers parts one after the other, so that differences count the boundaries between them. */
function partIndex(us: Int64, part: TimePart): Int64 {
  const lengthUs = fixedPartUs(part.unit);
  if (lengthUs !== undefined) return floorUnits(us, lengthUs);
  const { dayNumber } = splitUs(us);
  switch (part.unit) {
    case 'WEEK':
    case 'ISOWEEK':
      return (dayNumber - daysIntoWeek(dayNumber, part.weekStart) - part.weekStart + 4) / 7;
    case 'ISOYEAR':
      return isoYearOf(dayNumber);
    case 'YEAR':
      return yearOf(dayNumber);
    default: {
      const { year, month } = civilDateOf(dayNumber);
      return part.unit === 'QUARTER' ? year * 4 + Math.floor((month - 1) / 3) : year * 12 + month;
    }
  }
}

/** EXTRACT of a civil time. */
export function extractPart(us: Int64, part: TimePart): number {
  const { dayNumber, timeOfDayUs } = splitUs(us);
  switch (part.unit) {
    case 'MICROSECOND':
      return timeOfDayUs % US_PER_SECOND;
    case 'MILLISECOND':
      return Math.floor((timeOfDayUs % US_PER_SECOND) / US_PER_MILLISECOND);
    case 'SECOND':
      return Math.floor((timeOfDayUs % US_PER_MINUTE) / US_PER_SECOND);
    case 'MINUTE':
      return Math.floor((timeOfDayUs % US_PER_HOUR) / US_PER_MINUTE);
    case 'HOUR':
      return Math.floor(timeOfDayUs / US_PER_HOUR);
    default:
      return extractDatePart(dayNumber, part);
  }
}

function extractDatePart(dayNumber: number, part: TimePart): number {
  const date = civilDateOf(dayNumber);
  switch (part.unit) {
    case 'DAY':
      return date.day;
    case 'DAYOFWEEK':
      return dayOfWeek(dayNumber) + 1;
    case 'DAYOFYEAR':
      return dayOfYear(date);
    case 'WEEK':
      // Days before the year's first start of a week are in week 0.
      return Math.floor((dayOfYear(date) + 6 - daysIntoWeek(dayNumber, part.weekStart)) / 7);
    case 'ISOWEEK':
      return Math.floor((isoThursday(dayNumber) - startOfYear(isoYearOf(dayNumber))) / 7) + 1;
    case 'MONTH':
      return date.month;
    case 'QUARTER':
      return Math.floor((date.month - 1) / 3) + 1;
    case 'ISOYEAR':
      return isoYearOf(dayNumber);
    default:
      return date.year;
  }
}
