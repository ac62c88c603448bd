import type { Interval } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { canonicalInteger, type Int64 } from '../number/int64.ts';
import {
  US_PER_DAY,
  US_PER_HOUR,
  US_PER_MILLISECOND,
  US_PER_MINUTE,
  US_PER_SECOND,
} from './calendar.ts';
import type { TimeUnit } from './time-part.ts';
import { fractionText } from './timestamp-text.ts';

const MONTHS_PER_YEAR = 12;
const DAYS_PER_MONTH = 30;
const DAY_US = BigInt(US_PER_DAY);

/** Ten thousand years, in each of the three amounts, as in BigQuery: years of 366 days. */
const MONTHS_MAX = 120_000n;
const DAYS_MAX = 3_660_000n;
const US_MAX = DAYS_MAX * DAY_US;

/** Amounts before it is known whether they are within the bounds. */
type Amounts = { readonly months: bigint; readonly days: bigint; readonly us: bigint };

/** The amounts as an INTERVAL; throws for one beyond ten thousand years. */
export function intervalOf({ months, days, us }: Amounts): Interval {
  checkAmount('months', months, MONTHS_MAX);
  checkAmount('days', days, DAYS_MAX);
  checkAmount('microseconds', us, US_MAX);
  return { months: Number(months), days: Number(days), us: canonicalInteger(us) };
}

function checkAmount(what: string, amount: bigint, most: bigint): void {
  if (amount >= -most && amount <= most) return;
  throw new QueryError(
    'query_failed',
    `an INTERVAL has at most ${most} ${what} in either direction; got ${amount}`,
  );
}

/** What one of a part is; parts that are not listed make no INTERVAL. */
const PART_AMOUNTS: ReadonlyMap<TimeUnit, Amounts> = new Map([
  ['YEAR', monthsOf(MONTHS_PER_YEAR)],
  ['QUARTER', monthsOf(3)],
  ['MONTH', monthsOf(1)],
  ['WEEK', daysOf(7)],
  ['DAY', daysOf(1)],
  ['HOUR', microsecondsOf(US_PER_HOUR)],
  ['MINUTE', microsecondsOf(US_PER_MINUTE)],
  ['SECOND', microsecondsOf(US_PER_SECOND)],
  ['MILLISECOND', microsecondsOf(US_PER_MILLISECOND)],
  ['MICROSECOND', microsecondsOf(1)],
]);

/** For `INTERVAL n part`. */
export const INTERVAL_PARTS: readonly string[] = [...PART_AMOUNTS.keys()];

function monthsOf(months: number): Amounts {
  return { months: BigInt(months), days: 0n, us: 0n };
}

function daysOf(days: number): Amounts {
  return { months: 0n, days: BigInt(days), us: 0n };
}

function microsecondsOf(us: number): Amounts {
  return { months: 0n, days: 0n, us: BigInt(us) };
}

/** `count` of a unit that PART_AMOUNTS has. */
export function intervalOfPart(count: Int64, unit: TimeUnit): Interval {
  return intervalOf(times(PART_AMOUNTS.get(unit) as Amounts, BigInt(count)));
}

export function amountsOf({ months, days, us }: Interval): Amounts {
  return { months: BigInt(months), days: BigInt(days), us: BigInt(us) };
}

export function plus(left: Amounts, right: Amounts): Amounts {
  return {
    months: left.months + right.months,
    days: left.days + right.days,
    us: left.us + right.us,
  };
}

export function times({ months, days, us }: Amounts, factor: bigint): Amounts {
  return { months: months * factor, days: days * factor, us: us * factor };
}

/** What is left of months is divided as days, and what is left of days as time. */
export function divideInterval(interval: Interval, divisor: Int64): Interval {
  const by = BigInt(divisor);
  if (by === 0n) throw new QueryError('query_failed', 'division by zero: INTERVAL / 0');
  const { months, days, us } = amountsOf(interval);
  const allDays = days + (months % by) * BigInt(DAYS_PER_MONTH);
  return intervalOf({
    months: months / by,
    days: allDays / by,
    us: (us + (allDays % by) * DAY_US) / by,
  });
}

/** Months of 30 days, days of 24 hours: what comparisons go by. */
export function totalUs({ months, days, us }: Interval): bigint {
  return BigInt(months * DAYS_PER_MONTH + days) * DAY_US + BigInt(us);
}

/** 0 for `INTERVAL 30 DAY` and `INTERVAL 1 MONTH`. */
export function compareIntervals(left: Interval, right: Interval): number {
  const difference = totalUs(left) - totalUs(right);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/**
 * The order of `compareIntervals`, made total: of equal ones the one of fewer months is first, then
 * that of fewer days. So one of several equal ones can be chosen without regard to their order.
 */
export function compareAmounts(left: Interval, right: Interval): number {
  return compareIntervals(left, right) || left.months - right.months || left.days - right.days;
}

/** JUSTIFY_HOURS: whole days out of the time, of one sign. */
export function justifyHours(interval: Interval): Interval {
  const { months, days, us } = amountsOf(interval);
  const all = days * DAY_US + us;
  return intervalOf({ months, days: all / DAY_US, us: all % DAY_US });
}

/** JUSTIFY_DAYS: whole months of 30 days out of the days, of one sign. */
export function justifyDays({ months, days, us }: Interval): Interval {
  const all = BigInt(months * DAYS_PER_MONTH + days);
  const monthDays = BigInt(DAYS_PER_MONTH);
  return intervalOf({ months: all / monthDays, days: all % monthDays, us: BigInt(us) });
}

/** JUSTIFY_INTERVAL: both, all three amounts of one sign. */
export function justifyInterval(interval: Interval): Interval {
  const all = totalUs(interval);
  const days = all / DAY_US;
  return justifyDays({ months: 0, days: Number(days), us: canonicalInteger(all % DAY_US) });
}

/** EXTRACT of one of INTERVAL_EXTRACT_PARTS: each amount taken apart, with its sign. */
export function extractInterval({ months, days, us }: Interval, unit: TimeUnit): number {
  const time = BigInt(us);
  switch (unit) {
    case 'YEAR':
      return Math.trunc(months / MONTHS_PER_YEAR) + 0;
    case 'MONTH':
      return (months % MONTHS_PER_YEAR) + 0;
    case 'DAY':
      return days;
    case 'HOUR':
      return Number(time / BigInt(US_PER_HOUR));
    case 'MINUTE':
      return Number((time / BigInt(US_PER_MINUTE)) % 60n);
    case 'SECOND':
      return Number((time / BigInt(US_PER_SECOND)) % 60n);
    case 'MILLISECOND':
      return Number((time / BigInt(US_PER_MILLISECOND)) % 1000n);
    default:
      return Number(time % BigInt(US_PER_SECOND));
  }
}

/** For EXTRACT. */
export const INTERVAL_EXTRACT_PARTS: readonly string[] = [
  ...['YEAR', 'MONTH', 'DAY', 'HOUR', 'MINUTE', 'SECOND', 'MILLISECOND', 'MICROSECOND'],
];

/** The canonical text, as CAST and JSON have it: `1-2 3 4:5:6.789`, each amount with its sign. */
export function formatInterval({ months, days, us }: Interval): string {
  const allMonths = Math.abs(months);
  const year = Math.floor(allMonths / MONTHS_PER_YEAR);
  const date = `${months < 0 ? '-' : ''}${year}-${allMonths % MONTHS_PER_YEAR} ${days}`;
  return `${date} ${us < 0 ? '-' : ''}${clockText(BigInt(us))}`;
}

function clockText(signedUs: bigint): string {
  const us = signedUs < 0n ? -signedUs : signedUs;
  const hour = us / BigInt(US_PER_HOUR);
  const minute = (us / BigInt(US_PER_MINUTE)) % 60n;
  const second = (us / BigInt(US_PER_SECOND)) % 60n;
  return `${hour}:${minute}:${second}${fractionText(Number(us % BigInt(US_PER_SECOND)))}`;
}

/** Parts that `INTERVAL '…' first TO last` has, the longest first, and what stands before each. */
const FIELDS: readonly { readonly unit: TimeUnit; readonly separator: string }[] = [
  { unit: 'YEAR', separator: '' },
  { unit: 'MONTH', separator: '-' },
  { unit: 'DAY', separator: ' ' },
  { unit: 'HOUR', separator: ' ' },
  { unit: 'MINUTE', separator: ':' },
  { unit: 'SECOND', separator: ':' },
];

/** The longest text that is read; longer ones are refused unread. */
const TEXT_LENGTH_MAX = 128;

/** The forms of a text whose parts are not told: those which only one choice of parts has. */
const TOLD_BY_FORM: readonly (readonly [first: TimeUnit, last: TimeUnit])[] = [
  ['YEAR', 'SECOND'],
  ['YEAR', 'MINUTE'],
  ['YEAR', 'HOUR'],
  ['YEAR', 'DAY'],
  ['YEAR', 'MONTH'],
  ['DAY', 'SECOND'],
  ['DAY', 'MINUTE'],
  ['HOUR', 'SECOND'],
];

/** A text as CAST takes it: `1-2 3 4:5:6`, parts of it, or ISO 8601's `P1Y2M3DT4H5M6S`. */
export function parseInterval(text: string): Interval {
  if (text.length <= TEXT_LENGTH_MAX) {
    if (text.startsWith('P')) {
      const interval = parseIso(text);
      if (interval !== undefined) return interval;
    } else {
      for (const [first, last] of TOLD_BY_FORM) {
        const amounts = readFields(text, fieldsBetween(first, last));
        if (amounts !== undefined) return intervalOf(amounts);
      }
    }
  }
  throw badInterval(text, 'written like 1-2 3 4:5:6.789 or P1Y2M3DT4H5M6S');
}

/** `INTERVAL 'text' first TO last`; a bare part is both. Throws for two that are no range. */
export function parseIntervalFields(text: string, first: TimeUnit, last: TimeUnit): Interval {
  const fields = fieldsBetween(first, last);
  if (fields.length === 0 && first === last) return parseAmount(text, first);
  if (fields.length === 0) {
    throw new QueryError(
      'query_failed',
      `an INTERVAL goes from a longer part TO a shorter one of ${FIELDS.map(({ unit }) => unit).join(', ')}; got ${first} TO ${last}`,
    );
  }
  const amounts = text.length > TEXT_LENGTH_MAX ? undefined : readFields(text, fields);
  if (amounts !== undefined) return intervalOf(amounts);
  const shape = fields.map(({ unit, separator }, index) => (index > 0 ? separator : '') + unit);
  throw badInterval(text, `written as ${shape.join('')}`);
}

/** A part that has no place in a text of several, such as WEEK. */
function parseAmount(text: string, unit: TimeUnit): Interval {
  if (!/^[+-]?\d{1,19}$/.test(text)) throw badInterval(text, `a whole number of ${unit}`);
  return intervalOfPart(BigInt(text.replace('+', '')), unit);
}

type Field = (typeof FIELDS)[number];

/** None when the two are no range. */
function fieldsBetween(first: TimeUnit, last: TimeUnit): readonly Field[] {
  const start = FIELDS.findIndex(({ unit }) => unit === first);
  const end = FIELDS.findIndex(({ unit }) => unit === last);
  return start < 0 ? [] : FIELDS.slice(start, end + 1);
}

const WHOLE = /^([+-]?)(\d{1,19})/;
const SECONDS = /^([+-]?)(\d{1,19}|(?=\.))(?:\.(\d{1,9}))?/;

/** Years and months have one sign, days have one, and hours, minutes and seconds. */
function readFields(text: string, fields: readonly Field[]): Amounts | undefined {
  let rest = text;
  let amounts: Amounts = NOTHING;
  let isNegative = false;
  for (const [index, { unit, separator }] of fields.entries()) {
    const isFirst = index === 0 || separator === ' ';
    const pattern = unit === 'SECOND' ? SECONDS : WHOLE;
    if (index > 0 && !rest.startsWith(separator)) return undefined;
    const match = pattern.exec(index > 0 ? rest.slice(separator.length) : rest);
    if (match === null) return undefined;
    const [all, sign, digits, fraction = ''] = match as unknown as [
      string,
      string,
      string,
      string?,
    ];
    if (!isFirst && sign !== '') return undefined;
    if (isFirst) isNegative = sign === '-';
    const read = plus(amountOf(digits, unit), secondFraction(fraction));
    amounts = plus(amounts, times(read, isNegative ? -1n : 1n));
    rest = rest.slice(all.length + (index > 0 ? separator.length : 0));
  }
  return rest === '' ? amounts : undefined;
}

const NOTHING: Amounts = { months: 0n, days: 0n, us: 0n };

function amountOf(digits: string, unit: TimeUnit): Amounts {
  const { months, days, us } = intervalOfPart(1, unit);
  const one = { months: BigInt(months), days: BigInt(days), us: BigInt(us) };
  return times(one, BigInt(digits));
}

/** Throws for digits beyond microseconds that are not 0: an INTERVAL would be another than the text says. */
function secondFraction(digits: string): Amounts {
  if (/[1-9]/.test(digits.slice(6))) {
    const sentence = `an INTERVAL has at most microseconds; got ${digits.length} digits of a fraction of a second, ${digits}`;
    throw new QueryError('query_failed', sentence);
  }
  return { ...NOTHING, us: BigInt(digits.slice(0, 6).padEnd(6, '0')) };
}

const ISO_TEXT = /^P((?:-?\d{1,19}[YMWD])*)(T(?:-?\d{1,19}[HM]|-?\d{1,19}(?:\.\d{1,9})?S)*)?$/;
const ISO_DATE_UNITS: ReadonlyMap<string, TimeUnit> = new Map([
  ['Y', 'YEAR'],
  ['M', 'MONTH'],
  ['W', 'WEEK'],
  ['D', 'DAY'],
]);
const ISO_TIME_UNITS: ReadonlyMap<string, TimeUnit> = new Map([
  ['H', 'HOUR'],
  ['M', 'MINUTE'],
  ['S', 'SECOND'],
]);

function parseIso(text: string): Interval | undefined {
  const match = ISO_TEXT.exec(text);
  if (match === null || text === 'P') return undefined;
  const dates = readIso(match[1] as string, ISO_DATE_UNITS);
  return intervalOf(plus(dates, readIso(match[2] ?? '', ISO_TIME_UNITS)));
}

function readIso(text: string, units: ReadonlyMap<string, TimeUnit>): Amounts {
  let amounts = NOTHING;
  for (const match of text.matchAll(/(-?)(\d+)(?:\.(\d+))?([A-Z])/g)) {
    const [, sign, digits, fraction = '', letter] = match as unknown as string[];
    const unit = units.get(letter as string) as TimeUnit;
    const read = plus(amountOf(digits as string, unit), secondFraction(fraction));
    amounts = plus(amounts, times(read, sign === '-' ? -1n : 1n));
  }
  return amounts;
}

function badInterval(text: string, wanted: string): QueryError {
  const got = JSON.stringify(text.slice(0, TEXT_LENGTH_MAX));
  return new QueryError('query_failed', `INTERVAL must be ${wanted}; got ${got}`);
}

/** MAKE_INTERVAL(year, month, day, hour, minute, second). */
export function makeInterval(...counts: Int64[]): Interval {
  return intervalOf(
    counts.reduce<Amounts>(
      (sum, count, index) =>
        plus(sum, times(amountOf('1', (FIELDS[index] as Field).unit), BigInt(count))),
      NOTHING,
    ),
  );
}

/** Digits of the size, the months and the days; each is above 0 once its half of the range is added. */
const TOTAL = { digits: 19, offset: 2n * 10n ** 18n } as const;
const MONTHS = { digits: 7, offset: 10n ** 6n } as const;
const DAYS = { digits: 8, offset: 10n ** 7n } as const;

/** A text for an INTERVAL alone, which sorts as `compareAmounts` does. */
export function sortTextOf(interval: Interval): string {
  const { months, days } = amountsOf(interval);
  return digitsOf(totalUs(interval), TOTAL) + digitsOf(months, MONTHS) + digitsOf(days, DAYS);
}

/** The INTERVAL whose text it is. */
export function intervalOfSortText(text: string): Interval {
  const monthsAt = TOTAL.digits;
  const daysAt = monthsAt + MONTHS.digits;
  const total = BigInt(text.slice(0, monthsAt)) - TOTAL.offset;
  const months = BigInt(text.slice(monthsAt, daysAt)) - MONTHS.offset;
  const days = BigInt(text.slice(daysAt)) - DAYS.offset;
  const us = total - (months * BigInt(DAYS_PER_MONTH) + days) * BigInt(US_PER_DAY);
  return intervalOf({ months, days, us });
}

type Digits = { readonly digits: number; readonly offset: bigint };

function digitsOf(amount: bigint, { digits, offset }: Digits): string {
  return (amount + offset).toString().padStart(digits, '0');
}
