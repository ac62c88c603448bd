import { distinctValue } from '../aggregate/distinct-values.ts';
import type { SegmentContent } from '../column/segment.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import type { TimeWindow } from '../plan/logical-plan.ts';
import type { Fragment, TimeKey } from './fragment.ts';
import { partialSize } from './partial-size.ts';

/** The partial state of all rows of a segment that a fragment is over, ready to be used again. */
export type RememberedPartial = {
  readonly partial: AggregatePartial;
  /** Of which it is the state, or one that differs in its texts alone. */
  readonly fragment: Fragment;
  /** Rows it stands for. */
  readonly rowCount: number;
  readonly byteSize: number;
  /** There when it can be used for a part of its time. */
  readonly times?: GroupTimes | undefined;
  /** Of an open segment: the first row that it does not stand for. */
  readonly rowEnd?: number;
  /** The segments that it is of, where these are several. */
  readonly members?: readonly SegmentContent[];
};

/** Rows of group `g` have times in [starts[g], ends[g]), and none else. */
export type GroupTimes = { readonly starts: Float64Array; readonly ends: Float64Array };

export function rememberedPartial(
  partial: AggregatePartial,
  rowCount: number,
  fragment: Fragment,
  use: 'by time' | 'as a whole' = 'by time',
): RememberedPartial {
  const { timeKey } = fragment;
  const times = timeKey && use === 'by time' ? groupTimes(partial, timeKey) : undefined;
  const byteSize = partialSize(partial) + (times === undefined ? 0 : partialSize(times));
  return { partial, fragment, rowCount, byteSize, times };
}

function groupTimes({ keys }: AggregatePartial, { index, steps }: TimeKey): GroupTimes | undefined {
  const { ids, values } = keys.columns[index]!;
  const starts = new Float64Array(keys.size);
  const ends = new Float64Array(keys.size);
  for (let group = 0; group < keys.size; group++) {
    const value = distinctValue(values, values.refs[ids[group]!]!);
    if (typeof value !== 'number') return undefined;
    const startUs = steps.firstUs(value);
    const endUs = steps.firstUs(value + 1);
    if (startUs === undefined || endUs === undefined) return undefined;
    starts[group] = startUs;
    ends[group] = endUs;
  }
  return { starts, ends };
}

/** What of a remembered partial lies inside a window, and where rows have to be looked at beside it. */
export type PartialSlice = {
  readonly partial: AggregatePartial;
  readonly edges: readonly TimeWindow[];
};

/** `undefined`: none of its groups lies wholly inside. */
export function sliceOf(
  { partial }: RememberedPartial,
  { starts, ends }: GroupTimes,
  { startUs, endUs }: TimeWindow,
): PartialSlice | undefined {
  const wanted = new Uint8Array(partial.keys.size);
  let wantedCount = 0;
  let leftEndUs = startUs;
  let rightStartUs = endUs;
  for (let group = 0; group < wanted.length; group++) {
    const start = starts[group]!;
    const end = ends[group]!;
    if (start >= startUs && end <= endUs) {
      wanted[group] = 1;
      wantedCount += 1;
      continue;
    }
    if (start < startUs && end > startUs) leftEndUs = Math.min(end, endUs);
    if (start < endUs && end > endUs) rightStartUs = Math.max(start, startUs);
  }
  if (wantedCount === 0) return undefined;
  const edges: TimeWindow[] = [];
  if (leftEndUs > startUs) edges.push({ startUs, endUs: leftEndUs });
  if (rightStartUs < endUs) edges.push({ startUs: rightStartUs, endUs });
  return { partial: wantedCount === wanted.length ? partial : { ...partial, wanted }, edges };
}
