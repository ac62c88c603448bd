import type { SegmentContent, SegmentHandle } from '../column/segment.ts';
import { SMALL_STATE_BYTES_MAX, SMALL_STATE_SEGMENTS_MIN } from '../limits.ts';
import type { TimeWindow } from '../plan/logical-plan.ts';
import { type Coverage, type Piece, wholeContentOf } from './coverage.ts';
import type { Fragment } from './fragment.ts';
import type { PartialMemo } from './partial-memo.ts';
import { rememberedPartial } from './remembered-partial.ts';
import type { TogetherResult } from './run-pieces.ts';

/**
 * A run over few rows has one state of all sealed segments that its window holds, however many they are: kept
 * with the first of them, and good while these are the same. What is left are the open segment, and those that
 * the window cuts. `undefined`: it is to be run without.
 */
export function smallCoverageOf(
  fragment: Fragment,
  { handles, window }: { readonly handles: readonly SegmentHandle[]; readonly window: TimeWindow },
  memo: PartialMemo,
): Coverage | undefined {
  let first: SegmentContent | undefined;
  let wholeCount = 0;
  for (const handle of handles) {
    const content = wholeContentOf(handle, window);
    if (content === undefined) continue;
    first ??= content;
    wholeCount += 1;
  }
  if (first === undefined || wholeCount < SMALL_STATE_SEGMENTS_MIN) return undefined;
  const remembered = memo.find(first, fragment.smallKey);
  if (typeof remembered === 'string') return undefined;
  const members = remembered?.members;
  const rest: Piece[] = [];
  let memberCount = 0;
  for (const handle of handles) {
    const content = wholeContentOf(handle, window);
    if (content === undefined) rest.push({ handle, window });
    else if (content === members?.[memberCount]) memberCount += 1;
    else return unknownState(fragment, { handles, window });
  }
  if (remembered === undefined || memberCount !== members?.length) {
    return unknownState(fragment, { handles, window });
  }
  const { partial, byteSize, rowCount } = remembered;
  const sum = { byteSize, rowCount, segmentCount: memberCount };
  return { fragment, partials: [partial], ...sum, pieces: rest, rowsMin: 0, isSmall: true };
}

/** Takes note of the state of all segments that the window of a run holds. */
export function keepSmallState(
  memo: PartialMemo,
  fragment: Fragment,
  { pieces, result }: { readonly pieces: readonly Piece[]; readonly result: TogetherResult },
): void {
  const members = pieces.flatMap(({ content }) => content ?? []);
  const { partial, rowCount } = result;
  const remembered = { ...rememberedPartial(partial, rowCount, fragment, 'as a whole'), members };
  const isDear = remembered.byteSize > SMALL_STATE_BYTES_MAX;
  memo.keep(members[0]!, fragment.smallKey, isDear ? 'dear' : remembered);
}

/** All are to be looked at, those inside of the window together. */
function unknownState(
  fragment: Fragment,
  { handles, window }: { readonly handles: readonly SegmentHandle[]; readonly window: TimeWindow },
): Coverage {
  const pieces = handles.map((handle) => {
    const content = wholeContentOf(handle, window);
    return { handle, window, content, isFew: content !== undefined };
  });
  const nothing = { partials: [], byteSize: 0, rowCount: 0, segmentCount: 0 };
  return { fragment, ...nothing, pieces, rowsMin: 0, isSmall: true };
}
