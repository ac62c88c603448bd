import { carvedFloat64, carvedUint16, threadArrays } from '../../column/arrays.ts';
import { IntegerCoding, PackedNumbers, RunNumbers } from '../../column/number-vectors.ts';
import { type NumberVector, numberVector, type Vector } from '../../column/vector.ts';
import { UTC_NAMES } from './calendar.ts';
import { CALENDAR_PARTS, fixedPartUs, partFinder } from './time-part.ts';

const findPart = partFinder('TIMESTAMP_TRUNC', CALENDAR_PARTS);

/**
 * Truncation of a column to a constant part of one length, in UTC. The quotient of an integer below
 * 2^53 by a smaller one never rounds up to the next integer (see `splitUs`), so `floor` is exact.
 */
export function truncateKernel(vectors: readonly Vector[], count: number): Vector | undefined {
  const [times, part, zone] = vectors as [Vector, Vector, Vector | undefined];
  if (times.kind !== 'number' || !isUtc(zone)) return undefined;
  const lengthUs = constantPartUs(part);
  if (lengthUs === undefined) return undefined;
  const runs = truncateInRuns(times, lengthUs);
  if (runs !== undefined) return runs;
  const units = carvedFloat64(count);
  const span = writeUnits(times.values, lengthUs, units);
  if (span.least * lengthUs < Number.MIN_SAFE_INTEGER) return undefined;
  // Few starts, as of times that are near each other, are told by codes.
  const unitCount = span.greatest - span.least + 1;
  if (times.nulls === undefined && unitCount <= Math.min(count, CODED_UNITS_MAX)) {
    return codedStarts(units, span, lengthUs);
  }
  for (let i = 0; i < count; i++) units[i]! *= lengthUs;
  return numberVector(units, count, times.nulls);
}

/** What 16 bits tell apart. */
const CODED_UNITS_MAX = 65_536;

type UnitSpan = { readonly least: number; readonly greatest: number };

/** Writes how many whole units each time is from the epoch. */
function writeUnits(times: Float64Array, lengthUs: number, units: Float64Array): UnitSpan {
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < units.length; i++) {
    const unit = Math.floor(times[i]! / lengthUs);
    units[i] = unit;
    if (unit < least) least = unit;
    if (unit > greatest) greatest = unit;
  }
  return { least, greatest };
}

function codedStarts(
  units: Float64Array,
  { least, greatest }: UnitSpan,
  lengthUs: number,
): PackedNumbers {
  const count = units.length;
  const codes = carvedUint16(count);
  for (let i = 0; i < count; i++) codes[i] = units[i]! - least;
  const coding = IntegerCoding.inSteps(least * lengthUs, lengthUs, greatest - least);
  return new PackedNumbers(codes, { start: 0, count, isAscending: false }, coding);
}

function isUtc(zone: Vector | undefined): boolean {
  if (zone === undefined) return true;
  if (zone.kind !== 'constant' || typeof zone.value !== 'string') return false;
  return UTC_NAMES.has(zone.value.toLowerCase());
}

function constantPartUs(part: Vector): number | undefined {
  if (part.kind !== 'constant' || typeof part.value !== 'string') return undefined;
  if (!CALENDAR_PARTS.includes(part.value)) return undefined;
  return fixedPartUs(findPart(part.value).unit);
}

/** Runs pay where they are at least this long: there are fewer of them to look at than of rows. */
const RUN_LENGTH_MIN = 4;

/** Rows below which it does not matter. */
const ROWS_MIN = 16;

/** The runs of one chunk. */
class TimeRuns {
  readonly length: number;
  readonly starts: Float64Array<ArrayBuffer>;
  readonly ends: Int32Array<ArrayBuffer>;

  constructor(length: number) {
    this.length = length;
    this.starts = new Float64Array(length);
    this.ends = new Int32Array(length);
  }
}

/**
 * Times truncated to multiples of `lengthUs`, where they come in runs of one multiple, as those of events
 * sorted by time do. `undefined` where there are NULLs, too many runs, or results below the safe integers.
 */
export function truncateInRuns(times: NumberVector, lengthUs: number): RunNumbers | undefined {
  const { count, nulls } = times;
  if (nulls !== undefined || count < ROWS_MIN) return undefined;
  const runsMax = Math.floor(count / RUN_LENGTH_MIN);
  const runs = threadArrays.borrow(TimeRuns, runsMax);
  const ascending = ascendingCodes(times);
  const runCount =
    ascending === undefined
      ? collectRuns(times.values, lengthUs, runs, { count, runsMax })
      : findRuns(ascending, lengthUs, runs, runsMax);
  threadArrays.giveBack(runs);
  if (runCount < 0) return undefined;
  const { starts, ends } = runs;
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
  lengthUs: number,
  { starts, ends }: TimeRuns,
  { count, runsMax }: { readonly count: number; readonly runsMax: number },
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
function findRuns(
  times: AscendingCodes,
  lengthUs: number,
  { starts, ends }: TimeRuns,
  runsMax: number,
): number {
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
