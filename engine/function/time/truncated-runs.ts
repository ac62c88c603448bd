import type { PackedNumbers } from '../../column/packed-numbers.ts';
import { RunNumbers } from '../../column/run-numbers.ts';
import type { NumberVector } from '../../column/vector.ts';

/** Runs pay where they are at least this long: there are fewer of them to look at than of rows. */
const RUN_LENGTH_MIN = 4;

/** Rows below which it does not matter. */
const ROWS_MIN = 16;

/** Where the runs of one chunk are collected. */
let starts = new Float64Array(0);
let ends = new Int32Array(0);

/**
 * Times truncated to multiples of `lengthUs`, where they come in runs of one multiple, as those of events
 * sorted by time do. `undefined` where there are NULLs, too many runs, or results below the safe integers.
 */
export function truncateInRuns(times: NumberVector, lengthUs: number): RunNumbers | undefined {
  const { count, nulls } = times;
  if (nulls !== undefined || count < ROWS_MIN) return undefined;
  const runsMax = Math.floor(count / RUN_LENGTH_MIN);
  if (starts.length < runsMax) {
    starts = new Float64Array(runsMax);
    ends = new Int32Array(runsMax);
  }
  const ascending = ascendingCodes(times);
  const runCount =
    ascending === undefined
      ? collectRuns(times.values, count, lengthUs, runsMax)
      : findRuns(ascending, lengthUs, runsMax);
  if (runCount < 0) return undefined;
  for (let run = 0; run < runCount; run++) {
    if (starts[run]! < Number.MIN_SAFE_INTEGER) return undefined;
  }
  return new RunNumbers(starts.slice(0, runCount), ends.slice(0, runCount), count);
}

/** Times that ascend: entry `i` is `base + step * codes[start + i]`. */
type AscendingCodes = {
  readonly codes: PackedNumbers['codes'] | Float64Array;
  readonly start: number;
  readonly count: number;
  readonly base: number;
  readonly step: number;
};

function ascendingCodes(times: NumberVector): AscendingCodes | undefined {
  if (times.form === 'ascending numbers') {
    return { codes: times.values, start: 0, count: times.count, base: 0, step: 1 };
  }
  if (!(times.form === 'packed numbers' && times.isAscending)) return undefined;
  const { codes, start, count, coding } = times;
  if (coding.table !== undefined) return undefined;
  return { codes, start, count, base: coding.base, step: coding.step };
}

/** Looks at each time; -1 when there are more runs than `runsMax`. */
function collectRuns(
  values: Float64Array,
  count: number,
  lengthUs: number,
  runsMax: number,
): number {
  let runCount = 0;
  let row = 0;
  while (row < count) {
    if (runCount === runsMax) return -1;
    const startUs = Math.floor(values[row]! / lengthUs) * lengthUs;
    const endUs = startUs + lengthUs;
    row += 1;
    while (row < count && values[row]! >= startUs && values[row]! < endUs) row += 1;
    starts[runCount] = startUs;
    ends[runCount++] = row;
  }
  return runCount;
}

/** The same of ascending times, looking at a few of each run. */
function findRuns(times: AscendingCodes, lengthUs: number, runsMax: number): number {
  const { count, codes, start, base, step } = times;
  const end = start + count;
  let runCount = 0;
  for (let at = start; at < end; ) {
    if (runCount === runsMax) return -1;
    const startUs = Math.floor((base + step * codes[at]!) / lengthUs) * lengthUs;
    // A time is at the next start or beyond when its code is at `next` or above.
    const next = (startUs + lengthUs - base) / step;
    at = codes[end - 1]! < next ? end : firstFrom(codes, at, end, next);
    starts[runCount] = startUs;
    ends[runCount++] = at - start;
  }
  return runCount;
}

/**
 * The first position after `start` whose code is `least` or more; that of `start` is less, and some before
 * `end` is not. By steps that double, for runs may be short, then by halves (Bentley and Yao, "An almost
 * optimal algorithm for unbounded searching").
 */
function firstFrom(
  codes: AscendingCodes['codes'],
  start: number,
  end: number,
  least: number,
): number {
  let low = start;
  let step = 1;
  while (low + step < end && codes[low + step]! < least) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, end - 1);
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (codes[middle]! < least) low = middle;
    else high = middle;
  }
  return high;
}
