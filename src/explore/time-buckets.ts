import type { ExploredWindow } from './time-window.ts';

/** A unit that TIMESTAMP_TRUNC knows; its name in SQL. */
type TimeUnit = { readonly name: string; readonly us: number };

const UNITS: readonly TimeUnit[] = [
  { name: 'DAY', us: 86_400e6 },
  { name: 'HOUR', us: 3_600e6 },
  { name: 'MINUTE', us: 60e6 },
  { name: 'SECOND', us: 1e6 },
  { name: 'MILLISECOND', us: 1e3 },
];

/** Sizes that a scale of time has. */
const STEPS_US: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((count) => count * 1e3),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * 1e6),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * 60e6),
  ...[1, 2, 3, 6, 12].map((count) => count * 3_600e6),
  ...[1, 2, 7, 14, 28, 91, 364].map((count) => count * 86_400e6),
];

/** The size of buckets that divides a window into about `count` of them. They begin at multiples of it since the epoch. */
export function chooseBucketUs({ fromUs, toUs }: ExploredWindow, count: number): number {
  const wantedUs = (toUs - fromUs) / count;
  let best = STEPS_US[0]!;
  for (const stepUs of STEPS_US) {
    if (Math.abs(Math.log(stepUs / wantedUs)) < Math.abs(Math.log(best / wantedUs))) best = stepUs;
  }
  return best;
}

/** The largest unit of which a bucket is a whole number. */
export function findUnit(bucketUs: number): TimeUnit {
  return UNITS.find(({ us }) => bucketUs % us === 0)!;
}

/** The start of the bucket that a time is in. */
export function bucketStart(timestampUs: number, bucketUs: number): number {
  return Math.floor(timestampUs / bucketUs) * bucketUs;
}
