import { arrayOf, DATE, INT64 } from '../column/type.ts';
import { GENERATED_ARRAY_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import { civilDateOf, dayOfUs, midnightUs } from './calendar.ts';
import { scalarFunction, typed } from './definition.ts';
import type { Int64 } from './int64.ts';
import type { ScalarFunction } from './scalar-function.ts';
import { addMonths } from './time-part.ts';

/** Parts as days, or as months: these have no one length. */
const STEPS: ReadonlyMap<string, { readonly days: number; readonly months: number }> = new Map([
  ['DAY', { days: 1, months: 0 }],
  ['WEEK', { days: 7, months: 0 }],
  ['MONTH', { days: 0, months: 1 }],
  ['QUARTER', { days: 0, months: 3 }],
  ['YEAR', { days: 0, months: 12 }],
]);

export const dateArrayFunctions: readonly ScalarFunction[] = [
  /** `(start, end[, step, part])`: INTERVAL comes as its two halves. Both ends are included. */
  scalarFunction('generate_date_array', {
    parameters: [DATE, DATE, INT64, 'part'],
    optionalCount: 2,
    parts: [...STEPS.keys()],
    result: arrayOf(DATE),
    nulls: 'propagate',
    evaluate: typed(days),
    elementCount: typed(countDays),
  }),
];

/** As GoogleSQL has it, each is a step behind the one before: a day cut to a month's end stays cut. */
function days(start: number, end: number, step: Int64 = 1, part = 'DAY'): readonly number[] {
  const { days: dayCount, months } = stepOf(step, part);
  if (months !== 0) return monthly(start, end, months);
  return Array.from(
    { length: countDays(start, end, step, part) },
    (_, index) => start + index * dayCount,
  );
}

function countDays(start: number, end: number, step: Int64 = 1, part = 'DAY'): number {
  const { days: dayCount, months } = stepOf(step, part);
  if (months !== 0) return monthly(start, end, months).length;
  const count = Math.max(0, Math.floor((end - start) / dayCount) + 1);
  if (count <= GENERATED_ARRAY_MAX) return count;
  throw new QueryError(
    'query_limit',
    `a generated array has at most ${GENERATED_ARRAY_MAX} elements; got ${count}`,
  );
}

function stepOf(step: Int64, part: string): { readonly days: number; readonly months: number } {
  const amount = Number(step);
  if (amount === 0) {
    throw new QueryError('query_failed', 'GENERATE_DATE_ARRAY takes a step other than 0');
  }
  const { days: dayCount, months } = STEPS.get(part)!;
  return { days: dayCount * amount, months: months * amount };
}

const LAST_MONTH = 9999 * 12 + 12;

/** At most 120,000: there are no more months in the calendar. */
function monthly(start: number, end: number, months: number): readonly number[] {
  const found: number[] = [];
  let day = start;
  while (months > 0 ? day <= end : day >= end) {
    found.push(day);
    const { year, month } = civilDateOf(day);
    const next = year * 12 + month + months;
    if (next <= 12 || next > LAST_MONTH) break;
    day = dayOfUs(addMonths(midnightUs(day), months));
  }
  return found;
}
