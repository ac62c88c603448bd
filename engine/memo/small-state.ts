import type { SegmentContent } from '../column/segment.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import { combineFragments } from '../plan/execute.ts';
import { type Coverage, type Piece, type ScannedRun, wholeContentOf } from './coverage.ts';
import type { SoughtProject } from './families.ts';
import type { Fragment } from './fragment.ts';
import { SMALL_STATE_BYTES_MAX, SMALL_STATE_SEGMENTS_MIN } from './limits.ts';
import { shelfKey } from './packed-states.ts';
import type { PartialMemo } from './partial-memo.ts';
import { partialOf } from './prepare-states.ts';
import { rememberedPartial } from './remembered-partial.ts';

/** The state of some whole segments together. */
export type SmallState = {
  readonly members: readonly SegmentContent[];
  readonly partial: AggregatePartial;
  /** Rows it stands for. */
  readonly rowCount: number;
};

/**
 * A run over few rows has one state of all sealed segments that its window holds, however many they are: kept
 * with the first of them, and good while these are the same. What is left are the open segment, and those that
 * the window cuts. Where nothing is remembered of a project that is searched for, small states that were made ahead are
 * taken, and the other segments looked at. `undefined`: it is to be run without.
 */
export function smallCoverageOf(
  run: ScannedRun,
  memo: PartialMemo,
  sought: SoughtProject | undefined,
): Coverage | undefined {
  const { fragment, handles, window } = run;
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
    else return newCoverageOf(run, memo, sought);
  }
  if (remembered === undefined || memberCount !== members?.length) {
    return newCoverageOf(run, memo, sought);
  }
  const { partial, byteSize, rowCount } = remembered;
  const sum = { byteSize, rowCount, segmentCount: memberCount };
  return { fragment, partials: [partial], ...sum, pieces: rest, rowsMin: 0, isSmall: true };
}

/** Whether the state of just these segments is remembered. */
export function hasSmallState(
  memo: PartialMemo,
  { smallKey }: Fragment,
  members: readonly SegmentContent[],
): boolean {
  const remembered = memo.peek(members[0]!, smallKey);
  const known = (typeof remembered === 'object' && remembered.members) || [];
  return known.length === members.length && known.every((one, index) => one === members[index]);
}

/** Takes note of the state of all segments that the window of a run holds: of those looked at, and of others before. */
export function keepSmallState(
  memo: PartialMemo,
  fragment: Fragment,
  { members, partial, rowCount }: SmallState,
): void {
  const remembered = { ...rememberedPartial(partial, rowCount, fragment, 'as a whole'), members };
  const isDear = remembered.byteSize > SMALL_STATE_BYTES_MAX;
  memo.keep(members[0]!, fragment.smallKey, isDear ? 'dear' : remembered);
}

/** All are to be looked at, those inside of the window together, but for those that have a small state. */
function newCoverageOf(
  run: ScannedRun,
  memo: PartialMemo,
  sought: SoughtProject | undefined,
): Coverage {
  const { fragment, handles, window } = run;
  const members = handles.flatMap((handle) => wholeContentOf(handle, window) ?? []);
  const known = sought && shelvedStateOf(run, members, { memo, sought });
  if (known?.members.length === members.length) keepSmallState(memo, fragment, known);
  const isKnown = new Set(known?.members);
  const pieces: Piece[] = [];
  for (const handle of handles) {
    const content = wholeContentOf(handle, window);
    if (content !== undefined && isKnown.has(content)) continue;
    pieces.push({ handle, window, content, isFew: content !== undefined });
  }
  const partials = known === undefined ? [] : [known.partial];
  const sum = { byteSize: 0, rowCount: known?.rowCount ?? 0, segmentCount: isKnown.size };
  const small = { members, known };
  return { fragment, partials, ...sum, pieces, rowsMin: 0, isSmall: true, small };
}

/** The state of those segments that have a small one of the project; `undefined`: there is none. */
function shelvedStateOf(
  { fragment: { breaker } }: ScannedRun,
  contents: readonly SegmentContent[],
  {
    memo,
    sought: { family, call },
  }: { readonly memo: PartialMemo; readonly sought: SoughtProject },
): SmallState | undefined {
  const key = shelfKey(call);
  const partials: AggregatePartial[] = [];
  const members: SegmentContent[] = [];
  let rowCount = 0;
  for (const content of contents) {
    const partial = memo.findShelf(content, key)?.find(call.project);
    if (partial === undefined) continue;
    partials.push(partial);
    members.push(content);
    rowCount += content.rowCount;
  }
  if (partials.length === 0) return undefined;
  const partial = partialOf(() => combineFragments(breaker, partials, family.prepared));
  return partial && { members, partial, rowCount };
}
