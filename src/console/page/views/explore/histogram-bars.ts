import type { Bucket } from '../../api/explore.ts';
import { findLevel } from './event-level.ts';

export type HistogramSeries = {
  readonly name: string;
  /** The end of the name of a class of the style. */
  readonly colour: string;
};

/** One bar: a stack of parts, each from a count to a count. */
export type HistogramBar = {
  readonly start: number;
  readonly count: number;
  readonly parts: readonly { readonly key: string; readonly from: number; readonly to: number }[];
};

export type StackedBars = {
  readonly bars: readonly HistogramBar[];
  readonly series: ReadonlyMap<string, HistogramSeries>;
  /** The count of the tallest bar, at least 1. */
  readonly most: number;
};

const OTHER = 'other';
const NONE = 'none';

/** Colours of values that have no meaning of their own, in the order of the values. */
const COLOURS = ['0', '3', '4', '5', '7', '8', '6', '9'] as const;

/** Bars of buckets: the series are in one order in all of them. */
export function stackBuckets(buckets: readonly Bucket[]): StackedBars {
  const series = nameSeries(buckets);
  const order = [...series.keys()];
  const counts = new Map<number, Map<string, number>>();
  for (const bucket of buckets) {
    const parts = counts.get(bucket.start) ?? new Map<string, number>();
    counts.set(bucket.start, parts);
    // A bucket that is cut by a slice comes in two parts.
    const key = makeKey(bucket);
    parts.set(key, (parts.get(key) ?? 0) + bucket.count);
  }
  const bars = [...counts].map(([start, parts]) => stackParts(start, parts, order));
  return { bars, series, most: Math.max(1, ...bars.map(({ count }) => count)) };
}

function stackParts(
  start: number,
  counts: ReadonlyMap<string, number>,
  order: readonly string[],
): HistogramBar {
  let at = 0;
  const parts: { key: string; from: number; to: number }[] = [];
  for (const key of order) {
    const count = counts.get(key);
    if (count === undefined) continue;
    parts.push({ key, from: at, to: at + count });
    at += count;
  }
  return { start, count: at, parts };
}

/** Errors are at the bottom, where they can be compared, and all others above them by name. */
function nameSeries(buckets: readonly Bucket[]): ReadonlyMap<string, HistogramSeries> {
  const keys = [...new Set(buckets.map(makeKey))].sort(
    (one, other) => findRank(one) - findRank(other) || (one < other ? -1 : 1),
  );
  let plainCount = 0;
  return new Map(
    keys.map((key) => {
      if (key === OTHER) return [key, { name: 'other', colour: 'other' }];
      if (key === NONE)
        return [key, { name: 'without it', colour: keys.length === 1 ? '0' : 'none' }];
      const name = key.slice(1) || '(empty)';
      const level = findLevel(name);
      if (level !== 'plain') return [key, { name, colour: level }];
      plainCount += 1;
      return [key, { name, colour: COLOURS[(plainCount - 1) % COLOURS.length]! }];
    }),
  );
}

function findRank(key: string): number {
  if (key === OTHER) return 4;
  if (key === NONE) return 3;
  return { bad: 0, warn: 1, plain: 2 }[findLevel(key.slice(1))];
}

/** Values have a mark before them, so that none is taken for one of the others. */
function makeKey({ series, is_other }: Bucket): string {
  if (is_other === true) return OTHER;
  return series === null ? NONE : `=${series}`;
}
