import type { SealedSegmentHandle, SegmentContent, SegmentHandle } from '../column/segment.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import type { TimeWindow } from '../plan/logical-plan.ts';
import { QueryError } from '../query-error.ts';
import type { Fragment } from './fragment.ts';
import type { PartialMemo } from './partial-memo.ts';
import { type RememberedPartial, sliceOf } from './remembered-partial.ts';
import type { PieceOrder } from './run-pieces.ts';

/** Rows of one segment that have to be looked at. */
export type Piece = {
  readonly handle: SegmentHandle;
  readonly window: TimeWindow;
  /** There when these are all rows of the segment, and their partial state is worth remembering. */
  readonly content?: SegmentContent | undefined;
  /** Whether they are known to be few: then it is worth it together with others. */
  readonly isFew?: boolean | undefined;
};

/** How the rows of a fragment are come by. */
export type Coverage = {
  readonly fragment: Fragment;
  /** What is remembered, in the order of the segments. */
  readonly partials: readonly AggregatePartial[];
  /** Bytes of these, all of their groups counted. */
  readonly byteSize: number;
  /** Rows that they stand for, and segments that need not be looked at for it. */
  readonly rowCount: number;
  readonly segmentCount: number;
  readonly pieces: readonly Piece[];
  /** Rows of a piece from which its state is remembered. */
  readonly rowsMin: number;
  /** Of a run over few rows: whatever is remembered of it is one state, and stands for whole segments. */
  readonly isSmall?: boolean | undefined;
};

/**
 * Looks for what is remembered of each segment. Together with the pieces it stands for each row of the
 * window once. `undefined`: nothing is remembered, nor would be.
 */
export function coverageOf(
  fragment: Fragment,
  { handles, window }: { readonly handles: readonly SegmentHandle[]; readonly window: TimeWindow },
  { memo, rowsMin }: { readonly memo: PartialMemo; readonly rowsMin: number },
): Coverage | undefined {
  const partials: AggregatePartial[] = [];
  const pieces: Piece[] = [];
  const few = new Map<SegmentContent, SealedSegmentHandle>();
  const sum = { byteSize: 0, rowCount: 0, segmentCount: 0 };
  for (const handle of handles) {
    if (handle.kind !== 'sealed' || handle.content === undefined) {
      pieces.push({ handle, window });
      continue;
    }
    const { content } = handle;
    const isWhole = isWithin(content, window);
    const remembered = memo.find(content, fragment.key);
    if (remembered === undefined) {
      pieces.push({ handle, window, content: isWhole ? content : undefined });
      continue;
    }
    if (remembered === 'few' && isWhole) {
      few.set(content, handle);
      continue;
    }
    if (typeof remembered === 'string') {
      pieces.push({ handle, window });
      continue;
    }
    const slice = isWhole ? wholeOf(remembered) : partOf(remembered, windowWithin(content, window));
    if (slice === undefined) {
      pieces.push({ handle, window });
      continue;
    }
    partials.push(slice.partial);
    for (const edge of slice.edges) pieces.push({ handle, window: edge });
    sum.byteSize += remembered.byteSize;
    sum.rowCount += remembered.rowCount;
    if (slice.edges.length === 0) sum.segmentCount += 1;
  }
  for (const [content, handle] of few) {
    const together = memo.find(content, togetherKey(fragment));
    if (typeof together !== 'object' || !together.members?.every((member) => few.has(member))) {
      pieces.push({ handle, window, content, isFew: true });
      few.delete(content);
      continue;
    }
    partials.push(together.partial);
    sum.byteSize += together.byteSize;
    sum.rowCount += together.rowCount;
    sum.segmentCount += together.members.length;
    for (const member of together.members) few.delete(member);
  }
  const isOfUse = partials.length > 0 || pieces.some(({ content }) => content !== undefined);
  return isOfUse ? { fragment, partials, ...sum, pieces, rowsMin } : undefined;
}

/** What is to be done with some of its pieces. */
export function ordersOf(pieces: readonly Piece[], { rowsMin }: Coverage): readonly PieceOrder[] {
  return pieces.map(({ window, content, isFew }) => ({
    window,
    isFew,
    keptRowsMin: content === undefined || isFew === true ? undefined : rowsMin,
  }));
}

/** Under this key the first of some segments has the state of all of them. */
export function togetherKey({ key }: Fragment): string {
  return `${key} together`;
}

function wholeOf({ partial }: RememberedPartial) {
  return { partial, edges: [] };
}

function partOf(remembered: RememberedPartial, window: TimeWindow) {
  return remembered.times && sliceOf(remembered, remembered.times, window);
}

/** What a sealed segment holds, if the window holds all of it. */
export function wholeContentOf(
  handle: SegmentHandle,
  window: TimeWindow,
): SegmentContent | undefined {
  if (handle.kind !== 'sealed' || handle.content === undefined) return undefined;
  return isWithin(handle.content, window) ? handle.content : undefined;
}

function isWithin(
  { timestampUsMin, timestampUsMax }: SegmentContent,
  { startUs, endUs }: TimeWindow,
): boolean {
  return timestampUsMin >= startUs && timestampUsMax < endUs;
}

/** The window as far as it cuts the segment: a side is open where all rows are inside. */
function windowWithin(
  { timestampUsMin, timestampUsMax }: SegmentContent,
  { startUs, endUs }: TimeWindow,
): TimeWindow {
  return {
    startUs: timestampUsMin >= startUs ? -Infinity : startUs,
    endUs: timestampUsMax < endUs ? Infinity : endUs,
  };
}

/**
 * Whether a run may have failed for what it took of remembered states beyond its window: then it is to
 * be run without them. Such groups count for the limits of an aggregate, and for nothing else.
 */
export function mayFailForMemo(coverage: Coverage | undefined, error: unknown): boolean {
  if (!(error instanceof QueryError) || error.code !== 'query_limit') return false;
  return coverage?.partials.some(({ wanted }) => wanted !== undefined) === true;
}
