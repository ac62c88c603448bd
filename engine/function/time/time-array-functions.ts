import { arrayOf, DATE, INT64, STRING, TIMESTAMP } from '../../column/type.ts';
import { GENERATED_ARRAY_MAX } from '../../limits.ts';
import { QueryError } from '../../query-error.ts';
import { canonicalInteger, floorDivide, type Int64 } from '../number/int64.ts';
import {
  type Constants,
  type ScalarFunction,
  scalarFunction,
  type TimeBuckets,
  typed,
} from '../scalar-function.ts';
import { dayOfUs, midnightUs } from './calendar.ts';
import {
  ADDABLE_PARTS,
  addMonths,
  addParts,
  CLOCK_PARTS,
  FIXED_PARTS,
  fixedPartUs,
  partFinder,
  type TimePart,
  truncateUs,
} from './time-part.ts';

const findStepPart = partFinder('GENERATE_TIMESTAMP_ARRAY', FIXED_PARTS);
const findWindowPart = partFinder('GENERATE_TIMESTAMP_TRUNC_ARRAY', FIXED_PARTS);

/** Of steps between days. */
const STEP_PARTS = ADDABLE_PARTS.filter((part) => !CLOCK_PARTS.includes(part));

export const timeArrayFunctions: readonly ScalarFunction[] = [
  /** `(start, end [, step, part])`: INTERVAL comes as its two halves; both ends are included. */
  scalarFunction(
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
  ),
  /** `(start, end, step, part)`: INTERVAL comes as its two halves. Both ends are included. */
  scalarFunction(
    'generate_timestamp_array',
    [
      'Times from the first to the second, inclusive, with an INTERVAL of `DAY` or shorter as the step. Empty if the step points away from the end; an error for a step of 0.',
      "GENERATE_TIMESTAMP_ARRAY('2026-01-15 10:00:00', '2026-01-15 12:00:00', INTERVAL 2 HOUR)",
      "[TIMESTAMP '2026-01-15 10:00:00', TIMESTAMP '2026-01-15 12:00:00']",
    ],
    {
      parameters: [TIMESTAMP, TIMESTAMP, INT64, 'part'],
      parts: FIXED_PARTS,
      result: arrayOf(TIMESTAMP),
      nulls: 'propagate',
      evaluate: typed((startUs: Int64, endUs: Int64, step: Int64, part: string) =>
        timesOf(seriesOf(startUs, endUs, { count: step, part: findStepPart(part) })),
      ),
      elementCount: typed(
        (startUs: Int64, endUs: Int64, step: Int64, part: string) =>
          seriesOf(startUs, endUs, { count: step, part: findStepPart(part) }).count,
      ),
    },
  ),
  /** `(n, "unit_step", now)`: the third argument is the run's clock, put there by the binder. */
  {
    ...scalarFunction(
      'generate_timestamp_trunc_array',
      [
        "The starts of all steps from so many units ago up to now: `'day_hour'` goes back days and gives each hour. The words are `second`, `minute`, `hour` and `day`. A function of weir's own.",
        "GENERATE_TIMESTAMP_TRUNC_ARRAY(1, 'day_day')",
        "[TIMESTAMP '2026-01-14', TIMESTAMP '2026-01-15']",
      ],
      {
        parameters: [INT64, STRING, TIMESTAMP],
        result: arrayOf(TIMESTAMP),
        nulls: 'propagate',
        facts: { buckets: bucketsOf },
        evaluate: typed((count: Int64, window: string, nowUs: Int64) =>
          timesOf(truncatedSeries(count, window, nowUs)),
        ),
        elementCount: typed(
          (count: Int64, window: string, nowUs: Int64) =>
            truncatedSeries(count, window, nowUs).count,
        ),
      },
    ),
    readsClock: true,
    isOwn: true,
  },
];

/** Words of the window's unit and step, the shortest first. */
const WINDOW_UNITS = ['second', 'minute', 'hour', 'day'];

/** Two at least, the first of the unit before the last. */
function bucketsOf([count, window]: Constants): TimeBuckets | undefined {
  if (typeof count !== 'number' || typeof window !== 'string') return undefined;
  const words = window.toLowerCase().split('_');
  if (words.length !== 2 || !words.every((word) => WINDOW_UNITS.includes(word))) return undefined;
  const [unit, step] = words.map((word) => findWindowPart(word)) as [TimePart, TimePart];
  const [unitUs, stepUs] = [unit, step].map((part) => fixedPartUs(part.unit)) as [number, number];
  const stepCount = (count * unitUs) / stepUs;
  if (!(stepCount >= 1) || unitUs < stepUs) return undefined;
  return {
    start: { count, part: unit.name },
    part: step.name,
    widthUs: stepUs,
    count: stepCount + 1,
  };
}

/** `trunc(now - count units, step)` to `trunc(now, step)`, one per step (contract §3). */
function truncatedSeries(count: Int64, window: string, nowUs: Int64): Series {
  const words = window.toLowerCase().split('_');
  const [unit, step] = words.map((word) => WINDOW_UNITS.indexOf(word)) as [number, number];
  if (words.length !== 2 || step < 0 || unit < step) {
    throw new QueryError(
      'query_failed',
      `GENERATE_TIMESTAMP_TRUNC_ARRAY takes a window unit_step of the words ${WINDOW_UNITS.join(', ')}, ` +
        `the unit no shorter than the step; got ${JSON.stringify(window)}`,
    );
  }
  if (count < 0) {
    throw new QueryError(
      'query_failed',
      `GENERATE_TIMESTAMP_TRUNC_ARRAY takes a count of at least 0; got ${count}`,
    );
  }
  const stepPart = findWindowPart(words[1] as string);
  const windowStartUs = addParts(
    nowUs,
    canonicalInteger(-BigInt(count)),
    findWindowPart(words[0] as string),
  );
  const startUs = truncateUs(windowStartUs, stepPart);
  return seriesOf(startUs, truncateUs(nowUs, stepPart), { count: 1, part: stepPart });
}

/** `count` times, `stepUs` microseconds apart. */
type Series = { readonly startUs: Int64; readonly stepUs: bigint; readonly count: number };

/** From `startUs` by steps up, or down, to `endUs`; empty when it lies the other way. */
function seriesOf(
  startUs: Int64,
  endUs: Int64,
  step: { readonly count: Int64; readonly part: TimePart },
): Series {
  const stepUs = BigInt(step.count) * BigInt(fixedPartUs(step.part.unit) as number);
  if (stepUs === 0n) {
    throw new QueryError('query_failed', 'GENERATE_TIMESTAMP_ARRAY takes a step other than 0');
  }
  const distanceUs = BigInt(endUs) - BigInt(startUs);
  const count =
    stepUs > 0n ? floorDivide(distanceUs, stepUs) + 1n : floorDivide(-distanceUs, -stepUs) + 1n;
  if (count > GENERATED_ARRAY_MAX) {
    throw new QueryError(
      'query_limit',
      `a generated array has at most ${GENERATED_ARRAY_MAX} elements; got ${count}`,
    );
  }
  return { startUs, stepUs, count: Math.max(0, Number(count)) };
}

function timesOf({ startUs, stepUs, count }: Series): readonly Int64[] {
  const start = BigInt(startUs);
  const areSafe = [start, start + BigInt(count) * stepUs].every(
    (us) => typeof canonicalInteger(us) === 'number',
  );
  if (areSafe) {
    const step = Number(stepUs);
    return Array.from({ length: count }, (_, index) => Number(startUs) + index * step);
  }
  return Array.from({ length: count }, (_, index) =>
    canonicalInteger(start + BigInt(index) * stepUs),
  );
}

const findPart = partFinder('GENERATE_DATE_ARRAY', STEP_PARTS);

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
