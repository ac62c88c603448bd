import { carvedFloat64 } from '../../column/carved-arrays.ts';
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
  const starts = carvedFloat64(count);
  for (let i = 0; i < count; i++) starts[i] = Math.floor(times.values[i]! / lengthUs) * lengthUs;
  for (let i = 0; i < count; i++) if (starts[i]! < Number.MIN_SAFE_INTEGER) return undefined;
  return numberVector(starts, count, times.nulls);
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
