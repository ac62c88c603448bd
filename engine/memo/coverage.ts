import { assert, must } from '../assert.ts';
import type {
  AnyContent,
  OpenSegmentHandle,
  SegmentContent,
  SegmentHandle,
} from '../column/segment.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import { combineFragments } from '../plan/execute.ts';
import type { TimeWindow } from '../plan/logical-plan.ts';
import { QueryError } from '../query-error.ts';
import type { SoughtPattern, SoughtProject } from './families.ts';
import { callKey, type Fragment } from './fragment.ts';
import {
  type PartialMemo,
  packedKey,
  type RememberedPartial,
  rememberedPartial,
  sliceOf,
} from './partial-memo.ts';
import { type PrefixVerdicts, partialOf, textsOfPrefix } from './prepare-states.ts';
import type { PieceOrder } from './run-pieces.ts';

/** Rows of one segment that have to be looked at. */
export type Piece = {
  readonly handle: SegmentHandle;
  readonly window: TimeWindow;
  /** There when these are all rows of the segment, and their partial state is worth remembering. */
  readonly content?: SegmentContent | undefined;
  /** Whether they are known to be few: then it is worth it together with others. */
  readonly isFew?: boolean;
  /**
   * There when these are the newest rows of an open segment, and the state of all of its rows is worth remembering:
   * that of the rows before these, where there are any.
   */
  readonly growing?: { readonly base?: RememberedPartial };
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
  readonly isSmall?: boolean;
  /** Of such a run whose state is not in the memo yet: all whole segments in order, and what is known of some. */
  readonly small?: SmallBeginning;
};

type SmallBeginning = {
  readonly members: readonly SegmentContent[];
  readonly known?: { readonly partial: AggregatePartial; readonly rowCount: number } | undefined;
};

/**
 * Looks for what is remembered of each segment. Together with the pieces it stands for each row of the
 * window once. `undefined`: nothing is remembered, nor would be.
 */
export function coverageOf(
  fragment: Fragment,
  { handles, window }: WindowOfSegments,
  { memo, rowsMin }: { readonly memo: PartialMemo; readonly rowsMin: number },
): Coverage | undefined {
  const partials: AggregatePartial[] = [];
  const pieces: Piece[] = [];
  const together = new TogetherStates(memo, fragment, { handles, window });
  const sum = { byteSize: 0, rowCount: 0, segmentCount: 0 };
  for (const handle of handles) {
    if (handle.kind === 'open') {
      const { before, piece } = coverOpen(handle, window, { fragment, memo, rowsMin });
      if (piece !== undefined) pieces.push(piece);
      if (before === undefined) continue;
      if (piece?.growing === undefined) partials.push(before.partial);
      if (piece === undefined) sum.segmentCount += 1;
      sum.byteSize += before.byteSize;
      sum.rowCount += before.rowCount;
      continue;
    }
    if (handle.content === undefined) {
      pieces.push({ handle, window });
      continue;
    }
    const { content } = handle;
    if (together.passes(content)) continue;
    const isWhole = isWithin(content, window);
    const ofFew = isWhole ? together.take(content) : undefined;
    if (ofFew !== undefined) {
      partials.push(ofFew.partial);
      sum.byteSize += ofFew.byteSize;
      sum.rowCount += ofFew.rowCount;
      sum.segmentCount += ofFew.members.length;
      continue;
    }
    const remembered = memo.find(content, fragment.key);
    if (remembered === undefined) {
      pieces.push({ handle, window, content: isWhole ? content : undefined });
      continue;
    }
    if (remembered === 'few' && isWhole) {
      pieces.push({ handle, window, content, isFew: true });
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
  const isOfUse =
    partials.length > 0 ||
    pieces.some(({ content, growing }) => content !== undefined || growing !== undefined);
  return isOfUse ? { fragment, partials, ...sum, pieces, rowsMin } : undefined;
}

/** The segments of a run, and how much of their time it asks for. */
type WindowOfSegments = {
  readonly handles: readonly SegmentHandle[];
  readonly window: TimeWindow;
};

/** The only scan of a run: which fragment is asked of which segments. */
export type FragmentScan = WindowOfSegments & { readonly fragment: Fragment };

/** The states that are of several segments with few rows each, as a snapshot is gone through. */
class TogetherStates {
  readonly #memo: PartialMemo;
  readonly #key: string;
  readonly #snapshot: WindowOfSegments;
  /** All that the window holds whole; `undefined`: nobody has asked yet. */
  #wholes: ReadonlySet<AnyContent | undefined> | undefined;
  /** The segments that were come to, and those of states that were taken. */
  readonly #passed = new Set<SegmentContent>();

  constructor(memo: PartialMemo, fragment: Fragment, snapshot: WindowOfSegments) {
    this.#memo = memo;
    this.#key = togetherKey(fragment);
    this.#snapshot = snapshot;
  }

  /** To be asked of each segment once: whether it is in a state that was taken. */
  passes(content: SegmentContent): boolean {
    if (this.#passed.has(content)) return true;
    this.#passed.add(content);
    return false;
  }

  /** The one whose first segment this is, where all of its segments are there and whole. */
  take(content: SegmentContent) {
    const remembered = this.#memo.peek(content, this.#key);
    if (typeof remembered !== 'object' || remembered.members === undefined) return undefined;
    const { members } = remembered;
    const { handles, window } = this.#snapshot;
    this.#wholes ??= new Set(handles.map((handle) => wholeContentOf(handle, window)));
    for (const member of members) {
      const isAhead = member === content || !this.#passed.has(member);
      if (!isAhead || !this.#wholes.has(member)) return undefined;
    }
    this.#memo.find(content, this.#key);
    for (const member of members) this.#passed.add(member);
    return { ...remembered, members };
  }
}

/**
 * What is remembered of an open segment's first rows, and which rows are left. Only where the window holds all of
 * them: they came lately, and mostly do.
 */
function coverOpen(
  handle: OpenSegmentHandle,
  window: TimeWindow,
  {
    fragment,
    memo,
    rowsMin,
  }: { readonly fragment: Fragment; readonly memo: PartialMemo; readonly rowsMin: number },
): { readonly before?: RememberedPartial; readonly piece?: Piece } {
  const { content, rowCount, isEnded } = handle;
  if (rowCount < rowsMin || !isWithin(handle, window)) return { piece: { handle, window } };
  const before = memo.find(content, fragment.key);
  if (typeof before !== 'object') return { piece: { handle, window, growing: {} } };
  const rowStart = must(before.rowEnd, 'a state of an open segment tells how far it goes');
  assert(rowStart <= rowCount, 'a snapshot has all rows that were remembered of those before');
  if (rowStart === rowCount) return { before };
  const rest = { handle: { ...handle, rowStart }, window };
  // To send the state along and back again costs as much as to look at some rows twice.
  const isWorthIt = rowCount - rowStart >= rowsMin || isEnded === true;
  return { before, piece: isWorthIt ? { ...rest, growing: { base: before } } : rest };
}

/** What is to be done with some of its pieces. */
export function ordersOf(pieces: readonly Piece[], { rowsMin }: Coverage): readonly PieceOrder[] {
  return pieces.map(({ window, content, isFew, growing }) => {
    const isKept = growing !== undefined || (content !== undefined && isFew !== true);
    const isGrowing = growing !== undefined;
    const base = growing?.base?.partial;
    return { window, isFew, keptRowsMin: isKept ? rowsMin : undefined, isGrowing, base };
  });
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
  { timestampUsMin, timestampUsMax }: Pick<SegmentContent, 'timestampUsMin' | 'timestampUsMax'>,
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

/**
 * Whole sealed segments from which a run over few rows has one state of all of them: to look at a segment with
 * rows takes some 3 to 7 µs, however few they are, and to take in the state about as long.
 */
export const SMALL_STATE_SEGMENTS_MIN = 2;

/** Bytes of such a state at most: as many as 4,096 rows, `INLINE_ROWS_MAX`, give when nearly all are a group. */
export const SMALL_STATE_BYTES_MAX = 256 * 1024;

/** The state of some whole segments together. */
type SmallState = {
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
  run: FragmentScan,
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
  run: FragmentScan,
  memo: PartialMemo,
  sought: SoughtProject | undefined,
): Coverage {
  const { fragment, handles, window } = run;
  const members = handles.flatMap((handle) => wholeContentOf(handle, window) ?? []);
  const known = sought && packedStateOf(run, members, { memo, sought });
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
function packedStateOf(
  { fragment: { breaker } }: FragmentScan,
  contents: readonly SegmentContent[],
  {
    memo,
    sought: { family, call },
  }: { readonly memo: PartialMemo; readonly sought: SoughtProject },
): SmallState | undefined {
  const key = packedKey(call);
  const partials: AggregatePartial[] = [];
  const members: SegmentContent[] = [];
  let rowCount = 0;
  for (const content of contents) {
    const partial = memo.findPacked(content, key)?.find(call.project);
    if (partial === undefined) continue;
    partials.push(partial);
    members.push(content);
    rowCount += content.rowCount;
  }
  if (partials.length === 0) return undefined;
  const partial = partialOf(() => combineFragments(breaker, partials, family.prepared));
  return partial && { members, partial, rowCount };
}

/**
 * The states of a pattern that prefixes of strings decide on, as those of a few hosts of URLs: a string with a prefix that
 * the pattern takes matches, and no other does, so that its state is the sum of those of these prefixes.
 */
export class PrefixSums {
  readonly #sought: SoughtPattern;
  readonly #fragment: Fragment;
  readonly #memo: PartialMemo;
  /** Tried when the first segment asks. */
  #verdicts: { readonly found: PrefixVerdicts | undefined } | undefined;
  /** Of the states of the prefixes that are taken; none of one that no pattern says. */
  #keys: ReadonlyMap<string, string> | undefined;

  constructor(sought: SoughtPattern, fragment: Fragment, memo: PartialMemo) {
    this.#sought = sought;
    this.#fragment = fragment;
    this.#memo = memo;
  }

  /** Those of segments of which nothing is remembered for the pattern itself. */
  *ofEach(
    handles: readonly SegmentHandle[],
  ): Iterable<readonly [SegmentContent, AggregatePartial]> {
    for (const handle of handles) {
      const { content } = handle.kind === 'sealed' ? handle : {};
      if (content === undefined || this.#memo.peek(content, this.#fragment.key) !== undefined) {
        continue;
      }
      const partial = this.ofAll([content]);
      if (partial !== undefined) yield [content, partial];
    }
  }

  /** That of some segments together; `undefined`: some strings, or some states, are not known. */
  ofAll(contents: readonly SegmentContent[]): AggregatePartial | undefined {
    const states: AggregatePartial[] = [];
    for (const content of contents) {
      const own = this.#statesIn(content);
      if (own === undefined) return undefined;
      states.push(...own);
    }
    const { breaker } = this.#fragment;
    const { prepared } = this.#sought.family;
    // Of one, too: it may be among small ones, and these are not kept as they are.
    return partialOf(() => combineFragments(breaker, states, prepared));
  }

  /** Of the prefixes of a segment that are taken. */
  #statesIn(content: SegmentContent): readonly AggregatePartial[] | undefined {
    const { family, call } = this.#sought;
    const prefixes = family.prefixes.of(content);
    if (prefixes === undefined) return undefined;
    this.#verdicts ??= { found: family.prefixes.verdictsOf(call.pattern) };
    const { found } = this.#verdicts;
    if (found === undefined || found.open.some((prefix) => prefixes.has(prefix))) return undefined;
    this.#keys ??= new Map(found.taken.flatMap((prefix) => this.#keyOf(prefix)));
    const taken = found.taken.filter((prefix) => prefixes.has(prefix));
    const states: AggregatePartial[] = [];
    // Any string begins with the empty one, and with no other but its own.
    for (const prefix of taken.includes('') ? [''] : taken) {
      const state = this.#stateOf(content, prefix);
      if (state === undefined) return undefined;
      states.push(state);
    }
    return states;
  }

  /** Of one prefix: a large state, or one of the small ones. */
  #stateOf(content: SegmentContent, prefix: string): AggregatePartial | undefined {
    const key = this.#keys?.get(prefix);
    const state = key === undefined ? undefined : this.#memo.find(content, key);
    if (typeof state === 'object') return state.partial;
    return this.#memo.findPacked(content, packedKey(this.#sought.call))?.find(prefix);
  }

  #keyOf(prefix: string): readonly (readonly [string, string])[] {
    const texts = textsOfPrefix(this.#sought.call.parameter, prefix);
    return texts === undefined ? [] : [[prefix, callKey(this.#fragment.planKey, texts, undefined)]];
  }
}
