import { refuse } from '../refusal.ts';
import type { StatementParts } from '../statement-parts.ts';
import {
  civilDate,
  DAY_MIN,
  dayNumber,
  dayOf,
  dayOfWeek,
  daysInMonth,
  floorDivide,
  isoThursday,
  isoYearOf,
  modulo,
  startOfIsoYear,
  startOfYear,
  US_PER_DAY,
} from '../time-sql.ts';
import { inYears } from '../zone-sql.ts';
import type { CallSql } from './function-sql.ts';
import { LENGTHS_US } from './time-argument.ts';

const WEEKDAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'];

/** Of `WEEK`, `WEEK(MONDAY)` and `ISOWEEK` the first day, 0 is Sunday. */
function weekStartOf(part: string): number | undefined {
  if (part === 'ISOWEEK') return 1;
  if (part === 'WEEK') return 0;
  const day = /^WEEK\((\w+)\)$/.exec(part)?.[1];
  return day === undefined ? undefined : WEEKDAYS.indexOf(day);
}

function daysIntoWeek(day: string, weekStart: number): string {
  return modulo(`${dayOfWeek(day)} - ${weekStart}`, 7);
}

/** The start of the part that a time lies in; NULL where that is before the year 0001. `us` is a name. */
export function truncatedUs(us: string, part: string, call: CallSql): string {
  const lengthUs = LENGTHS_US.get(part);
  if (lengthUs === 1) return us;
  if (lengthUs !== undefined) return `(${us} - ${modulo(us, lengthUs)})`;
  const { parts } = call;
  const day = truncatedDay(dayOf(us, parts), part, call);
  return parts.once(`${day} * ${US_PER_DAY}`, inYears);
}

/** The first day of the week, month … that a day lies in; it may be before the year 0001. */
export function truncatedDay(day: string, part: string, call: CallSql): string {
  const { parts } = call;
  const weekStart = weekStartOf(part);
  if (part === 'DAY') return day;
  if (part === 'ISOYEAR') return startOfIsoYear(isoYearOf(day, parts), parts);
  if (weekStart !== undefined) {
    return parts.once(day, (number) => `(${number} - ${daysIntoWeek(number, weekStart)})`);
  }
  return civilDate(day, parts, ({ year, month }) => {
    switch (part) {
      case 'MONTH':
        return dayNumber({ year, month, day: '1' }, parts);
      case 'QUARTER':
        return parts.once(`${month} - (${month} - 1) % 3`, (first) =>
          dayNumber({ year, month: first, day: '1' }, parts),
        );
      case 'YEAR':
        return startOfYear(year, parts);
      default:
        return refuse(`the part ${part}`, call.span);
    }
  });
}

/** The last day of the week, month … that a day lies in; it may be beyond the year 9999. */
export function lastDayOf(day: string, part: string, call: CallSql): string {
  const { parts } = call;
  if (part === 'ISOYEAR') {
    const next = `${isoYearOf(day, parts)} + 1`;
    return `(${parts.once(next, (year) => startOfIsoYear(year, parts))} - 1)`;
  }
  const first = truncatedDay(day, part, call);
  if (weekStartOf(part) !== undefined) return `(${first} + 6)`;
  const monthCount = { MONTH: 1, QUARTER: 3, YEAR: 12 }[part];
  if (monthCount === undefined) return refuse(`the part ${part}`, call.span);
  return civilDate(first, parts, ({ year, month }) =>
    parts.once(year, (theYear) =>
      parts.once(`${month} + ${monthCount - 1}`, (last) =>
        dayNumber({ year: theYear, month: last, day: daysInMonth(theYear, last) }, parts),
      ),
    ),
  );
}

/** A number of a time of a day or of a moment, such as the hour. `undefined` for a part that is of days. */
export function clockPart(us: string, part: string): string | undefined {
  const ofDay = (lengthUs: number, count: number): string =>
    `intDiv(${modulo(us, lengthUs * count)}, toInt64(${lengthUs}))`;
  switch (part) {
    case 'MICROSECOND':
      return modulo(us, 1_000_000);
    case 'MILLISECOND':
      return ofDay(1_000, 1_000);
    case 'SECOND':
      return ofDay(1_000_000, 60);
    case 'MINUTE':
      return ofDay(60_000_000, 60);
    case 'HOUR':
      return ofDay(3_600_000_000, 24);
    default:
      return undefined;
  }
}

/** A number of a day, such as the month. */
export function dayPart(day: string, part: string, call: CallSql): string {
  const { parts } = call;
  const weekStart = weekStartOf(part);
  if (part === 'DAYOFWEEK') return `toInt64(${dayOfWeek(day)} + 1)`;
  if (part === 'ISOYEAR') return `toInt64(${isoYearOf(day, parts)})`;
  if (part === 'ISOWEEK') return isoWeekOf(day, parts);
  return parts.once(day, (number) =>
    civilDate(number, parts, ({ year, month, day: ofMonth }) => {
      const ofYear = () => `${number} - ${startOfYear(year, parts)} + 1`;
      if (weekStart !== undefined) {
        // Days before the year's first start of a week are in week 0.
        return `toInt64(intDiv(${ofYear()} + 6 - ${daysIntoWeek(number, weekStart)}, 7))`;
      }
      switch (part) {
        case 'YEAR':
          return `toInt64(${year})`;
        case 'MONTH':
          return `toInt64(${month})`;
        case 'DAY':
          return `toInt64(${ofMonth})`;
        case 'QUARTER':
          return `toInt64(intDiv(${month} - 1, 3) + 1)`;
        case 'DAYOFYEAR':
          return `toInt64(${ofYear()})`;
        default:
          return refuse(`EXTRACT of ${part}`, call.span);
      }
    }),
  );
}

function isoWeekOf(day: string, parts: StatementParts): string {
  return parts.once(day, (number) => {
    const start = parts.once(isoYearOf(number, parts), (year) => startOfYear(year, parts));
    return `toInt64(intDiv(${isoThursday(number)} - ${start}, 7) + 1)`;
  });
}

/** Numbers parts one after the other, so that differences count the boundaries between them. */
export function partIndex(day: string, part: string, call: CallSql): string {
  const { parts } = call;
  const weekStart = weekStartOf(part);
  if (part === 'DAY') return day;
  if (part === 'ISOYEAR') return isoYearOf(day, parts);
  if (weekStart !== undefined) return floorDivide(`${day} + ${4 - weekStart}`, 7, parts);
  return civilDate(day, parts, ({ year, month }) => {
    if (part === 'YEAR') return year;
    if (part === 'MONTH') return `(${year} * 12 + ${month})`;
    if (part === 'QUARTER') return `(${year} * 4 + intDiv(${month} - 1, 3))`;
    return refuse(`a difference in ${part}`, call.span);
  });
}

/** Whether a day that was cut down is before the years. */
export function isBeforeYears(day: string): string {
  return `${day} < ${DAY_MIN}`;
}
