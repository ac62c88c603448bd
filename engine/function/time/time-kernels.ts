import { carvedFloat64, carvedUint16 } from '../../column/carved-arrays.ts';
import { IntegerCoding, PackedNumbers } from '../../column/packed-numbers.ts';
import type { Vector } from '../../column/vector.ts';
import { numberVector } from '../../column/vector.ts';
import { CALENDAR_PARTS, fixedPartUs, partFinder } from './time-part.ts';
import { UTC_NAMES } from './time-zone.ts';
import { truncateInRuns } from './truncated-runs.ts';

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
