import type { Interval } from '../../column/value.ts';
import { US_PER_DAY } from './calendar.ts';
import { amountsOf, DAYS_PER_MONTH, intervalOf, totalUs } from './interval.ts';

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
