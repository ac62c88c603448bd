import { arrayOf, DATE, INT64 } from '../../column/type.ts';
import { GENERATED_ARRAY_MAX } from '../../limits.ts';
import { QueryError } from '../../query-error.ts';
import { scalarFunction, typed } from '../definition.ts';
import type { Int64 } from '../number/int64.ts';
import type { ScalarFunction } from '../scalar-function.ts';
import { dayOfUs, midnightUs } from './calendar.ts';
import type { TimePart } from './time-part.ts';
import { ADDABLE_PARTS, addMonths, CLOCK_PARTS, partFinder } from './time-part.ts';

const STEP_PARTS = ADDABLE_PARTS.filter((part) => !CLOCK_PARTS.includes(part));
const findPart = partFinder('GENERATE_DATE_ARRAY', STEP_PARTS);

/** `(start, end [, step, part])`: INTERVAL comes as its two halves; both ends are included. */
export const GENERATE_DATE_ARRAY: ScalarFunction = scalarFunction(
  'generate_date_array',
  [
    'Days from the first to the second, inclusive, with an INTERVAL of `DAY` to `YEAR` as the step (default one day). Each step starts from the previous element, so a day that a short month moved stays moved.',
    "GENERATE_DATE_ARRAY('2026-01-31', '2026-03-31', INTERVAL 1 MONTH)",
    "[DATE '2026-01-31', DATE '2026-02-28', DATE '2026-03-28']",
  ],
  {
    parameters: [DATE, DATE, INT64, 'part'],
    optionalCount: 2,
    parts: STEP_PARTS,
    result: arrayOf(DATE),
    nulls: 'propagate',
    evaluate: typed(daysBetween),
    elementCount: typed(
      (start: number, end: number, count?: Int64, part?: string) =>
        daysBetween(start, end, count, part).length,
    ),
  },
);

/**
 * Each day is the step from the one before it, so a month's last day that was cut short stays so:
 * 31 January, 28 February, 28 March. There are fewer days in all years than may be asked for.
 */
function daysBetween(start: number, end: number, count: Int64 = 1, part = 'DAY'): number[] {
  if (count === 0) {
    throw new QueryError('query_failed', 'GENERATE_DATE_ARRAY takes a step other than 0');
  }
  const next = stepOf(count, findPart(part));
  const days: number[] = [];
  for (let day = start; count > 0 ? day <= end : day >= end; day = next(day)) days.push(day);
  if (days.length > GENERATED_ARRAY_MAX) {
    throw new QueryError(
      'query_limit',
      `a generated array has at most ${GENERATED_ARRAY_MAX} elements; got ${days.length}`,
    );
  }
  return days;
}

/** The next day; beyond all years when the calendar has no such day. */
function stepOf(count: Int64, { unit }: TimePart): (day: number) => number {
  if (unit === 'DAY' || unit === 'WEEK') {
    const step = Number(count) * (unit === 'WEEK' ? 7 : 1);
    return (day) => day + step;
  }
  const months = Number(count) * (unit === 'YEAR' ? 12 : unit === 'QUARTER' ? 3 : 1);
  const beyond = count > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  return (day) => {
    try {
      return dayOfUs(addMonths(midnightUs(day), months));
    } catch (error) {
      if (error instanceof QueryError) return beyond;
      throw error;
    }
  };
}
