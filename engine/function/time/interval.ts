import type { Interval } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import type { Int64 } from '../number/int64.ts';
import { canonicalInteger } from '../number/int64.ts';
import {
  US_PER_DAY,
  US_PER_HOUR,
  US_PER_MILLISECOND,
  US_PER_MINUTE,
  US_PER_SECOND,
} from './calendar.ts';
import type { TimeUnit } from './time-part.ts';

export const MONTHS_PER_YEAR = 12;
export const DAYS_PER_MONTH = 30;
const DAY_US = BigInt(US_PER_DAY);

/** Ten thousand years, in each of the three amounts, as in BigQuery: years of 366 days. */
const MONTHS_MAX = 120_000n;
const DAYS_MAX = 3_660_000n;
const US_MAX = DAYS_MAX * DAY_US;

/** Amounts before it is known whether they are within the bounds. */
export type Amounts = { readonly months: bigint; readonly days: bigint; readonly us: bigint };

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
