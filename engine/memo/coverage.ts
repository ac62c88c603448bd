import { assert, must } from '../assert.ts';
import type { OpenSegmentHandle, SegmentContent, SegmentHandle } from '../column/segment.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import type { TimeWindow } from '../plan/logical-plan.ts';
import type { PreparedPlan } from '../plan/prepared-plan.ts';
import { QueryError } from '../query-error.ts';
import type { SoughtProject } from './families.ts';
import type { Fragment } from './fragment.ts';
import {
  type PartialMemo,
  packedKey,
  type RememberedState,
  rememberedState,
  sliceOf,
} from './partial-memo.ts';
import { combinedOf } from './prepare-states.ts';
import type { PieceOrder } from './run-pieces.ts';

/** Rows of one segment that have to be looked at. */
export type Piece = {
  readonly handle: SegmentHandle;
  readonly window: TimeWindow;
  /**
   * There when these are all rows of a sealed segment, and worth remembering: in a state of their own, or, where they are
   * few, in one of all such pieces.
   */
  readonly content?: SegmentContent | undefined;
  /**
   * There when these are the newest rows of an open segment, and the state of all of its rows is worth remembering:
   * that of the rows before these, where there are any.
   */
  readonly growing?: { readonly base?: RememberedState };
};

/** How the rows of a fragment are come by: the states and the pieces stand for each row of the window once. */
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
  /** Rows of a piece from which it has a state of its own. */
  readonly rowsMin: number;
  /** There in a run over few rows. */
  readonly small: SmallCoverage | undefined;
};

/** A run over few rows has one state of all sealed segments that its window holds, however many they are. */
type SmallCoverage = {
  /** All of them, where the state has yet to be made. */
  readonly segments: readonly SegmentContent[];
  /** What is remembered of some of them. */
  readonly known: KnownState | undefined;
};

type TakenState = Pick<RememberedState, 'partial' | 'rowCount' | 'byteSize'>;

export type KnownState = Pick<RememberedState, 'partial' | 'rowCount'>;

/** The segments of a run, and how much of their time it asks for. */
type WindowOfSegments = {
  readonly handles: readonly SegmentHandle[];
  readonly window: TimeWindow;
};

/** The only scan of a run: which fragment is asked of which segments. */
export type FragmentScan = WindowOfSegments & { readonly fragment: Fragment };

type CoverOptions = { readonly memo: PartialMemo; readonly rowsMin: number };

/** Takes the state that is remembered of each segment where there is one. `undefined`: nothing is remembered, nor would be. */
export function coverageOf(scan: FragmentScan, options: CoverOptions): Coverage | undefined {
  const cover = new Cover(scan, options);
  const isOfUse =
    cover.partials.length > 0 ||
    cover.pieces.some(({ content, growing }) => content !== undefined || growing !== undefined);
  return isOfUse ? cover.coverage() : undefined;
}

/** What is remembered of a snapshot: its segments are gone through once, and each state is taken that fits. */
class Cover {
  partials: AggregatePartial[] = [];
  pieces: Piece[] = [];
  /** Whether some segment has a state of its own. */
  hasOwn = false;
  /** Whether some has none because that would be dear. */
  hasDear = false;
  readonly #scan: FragmentScan;
  readonly #memo: PartialMemo;
  readonly #rowsMin: number;
  /** 1 at the index of each segment whose rows are in a state that was taken. */
  readonly #isTaken: Uint8Array;
  #byteSize = 0;
  #rowCount = 0;
  #segmentCount = 0;

  constructor(scan: FragmentScan, { memo, rowsMin }: CoverOptions) {
    this.#scan = scan;
    this.#memo = memo;
    this.#rowsMin = rowsMin;
    const { handles } = scan;
    this.#isTaken = new Uint8Array(handles.length);
    for (let index = 0; index < handles.length; index++) {
      const handle = handles[index]!;
      if (handle.kind === 'open') this.#coverOpen(handle);
      else if (handle.content === undefined) this.#leave(handle);
      else if (this.#isTaken[index] === 0) this.#coverSealed(index, handle, handle.content);
    }
  }

  /** Whether there is no more of sealed segments to be remembered. */
  get isComplete(): boolean {
    return this.pieces.every(({ content }) => content === undefined);
  }

  /** Takes small states that were made ahead of whole segments that have none. */
  takePacked({ call }: SoughtProject): void {
    const key = packedKey(call);
    const pieces: Piece[] = [];
    for (const piece of this.pieces) {
      const { content } = piece;
      const partial = content && this.#memo.findPacked(content, key)?.find(call.project);
      if (partial === undefined) pieces.push(piece);
      else this.#take({ partial, rowCount: content!.rowCount, byteSize: 0 }, 1);
    }
    this.pieces = pieces;
  }

  /** All states as one; `undefined` where a limit fails: so would the run, and that shall tell. */
  join(prepared: PreparedPlan | undefined): KnownState | undefined {
    const { breaker } = this.#scan.fragment;
    const partial = combinedOf(breaker, this.partials, prepared);
    if (partial === undefined) return undefined;
    this.partials = [partial];
    return { partial, rowCount: this.#rowCount };
  }

  coverage(small?: SmallCoverage): Coverage {
    return {
      fragment: this.#scan.fragment,
      partials: this.partials,
      byteSize: this.#byteSize,
      rowCount: this.#rowCount,
      segmentCount: this.#segmentCount,
      pieces: this.pieces,
      rowsMin: this.#rowsMin,
      small,
    };
  }

  #take(state: TakenState, segmentCount: number): void {
    this.partials.push(state.partial);
    this.#count(state, segmentCount);
  }

  #count({ rowCount, byteSize }: TakenState, segmentCount: number): void {
    this.#rowCount += rowCount;
    this.#byteSize += byteSize;
    this.#segmentCount += segmentCount;
  }

  /** Its rows inside the window are to be looked at, and nothing is to be remembered of them. */
  #leave(handle: SegmentHandle): void {
    this.pieces.push({ handle, window: this.#scan.window });
  }

  #coverSealed(index: number, handle: SegmentHandle, content: SegmentContent): void {
    const { fragment, window } = this.#scan;
    const isWhole = isWithin(content, window);
    const remembered = this.#memo.find(content, fragment.key);
    if (remembered === 'dear') {
      this.hasDear = true;
      this.#leave(handle);
      return;
    }
    if (remembered?.segments.length === 1) {
      this.hasOwn = true;
      if (isWhole) this.#take(remembered, 1);
      else this.#takePart(remembered, handle, content);
      return;
    }
    if (remembered !== undefined && isWhole && this.#takeAll(remembered, index)) return;
    this.pieces.push({ handle, window, content: isWhole ? content : undefined });
  }

  /** Takes the state of some segments if the snapshot has all of them from `first` on, and none of them was taken. */
  #takeAll(state: RememberedState, first: number): boolean {
    const { handles, window } = this.#scan;
    const { segments } = state;
    const indexes: number[] = [];
    for (let index = first; index < handles.length && indexes.length < segments.length; index++) {
      if (this.#isTaken[index] === 1) continue;
      const content = wholeContentOf(handles[index]!, window);
      if (content === segments[indexes.length]) indexes.push(index);
    }
    if (indexes.length < segments.length) return false;
    for (const index of indexes) this.#isTaken[index] = 1;
    this.#take(state, segments.length);
    return true;
  }

  /** Takes those groups that lie inside the window. */
  #takePart(state: RememberedState, handle: SegmentHandle, content: SegmentContent): void {
    const slice = sliceOf(state, windowWithin(content, this.#scan.window));
    if (slice === undefined) {
      this.#leave(handle);
      return;
    }
    const { partial, edges } = slice;
    this.#take({ ...state, partial }, edges.length === 0 ? 1 : 0);
    for (const edge of edges) this.pieces.push({ handle, window: edge });
  }

  /** Only where the window holds all of its rows: they came lately, and mostly do. */
  #coverOpen(handle: OpenSegmentHandle): void {
    const { fragment, window } = this.#scan;
    const { content, rowCount, isEnded } = handle;
    if (rowCount < this.#rowsMin || !isWithin(handle, window)) {
      this.#leave(handle);
      return;
    }
    const before = this.#memo.find(content, fragment.key);
    if (typeof before !== 'object') {
      this.pieces.push({ handle, window, growing: {} });
      return;
    }
    const rowStart = must(before.rowEnd, 'a state of an open segment tells how far it goes');
    assert(rowStart <= rowCount, 'a snapshot has all rows that were remembered of those before');
    if (rowStart === rowCount) {
      this.#take(before, 1);
      return;
    }
    const rest = { handle: { ...handle, rowStart }, window };
    // To send the state along and back again costs as much as to look at some rows twice.
    const isSent = rowCount - rowStart >= this.#rowsMin || isEnded === true;
    this.pieces.push(isSent ? { ...rest, growing: { base: before } } : rest);
    if (isSent) this.#count(before, 0);
    else this.#take(before, 0);
  }
}

/** What is to be done with some of its pieces. */
export function ordersOf(pieces: readonly Piece[], { rowsMin }: Coverage): readonly PieceOrder[] {
  return pieces.map(({ window, content, growing }) => ({
    window,
    keptRowsMin: content === undefined && growing === undefined ? undefined : rowsMin,
    isGrowing: growing !== undefined,
    base: growing?.base?.partial,
  }));
}

/** What a sealed segment holds, if the window holds all of it. */
function wholeContentOf(handle: SegmentHandle, window: TimeWindow): SegmentContent | undefined {
  if (handle.kind !== 'sealed' || handle.content === undefined) return undefined;
  return isWithin(handle.content, window) ? handle.content : undefined;
}

/** All of them in order. */
export function wholeContentsOf({ handles, window }: WindowOfSegments): readonly SegmentContent[] {
  return handles.flatMap((handle) => wholeContentOf(handle, window) ?? []);
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

/**
 * As `coverageOf`, for a run over few rows. Of segments without a state, those are taken that were made ahead of a project that
 * is searched for. What is left are the open segment, what the window cuts, and what is new; of that and what is known
 * one state is made. `'not few'`: a segment has rows enough for a state of its own. `undefined`: it is to be run without.
 */
export function smallCoverageOf(
  scan: FragmentScan,
  memo: PartialMemo,
  sought: SoughtProject | undefined,
): Coverage | 'not few' | undefined {
  const cover = new Cover(scan, { memo, rowsMin: Number.POSITIVE_INFINITY });
  if (cover.hasOwn) return 'not few';
  if (cover.isComplete && cover.partials.length === 1) {
    return cover.coverage({ segments: [], known: undefined });
  }
  const segments = wholeContentsOf(scan);
  if (segments.length < SMALL_STATE_SEGMENTS_MIN || cover.hasDear) return undefined;
  if (sought !== undefined) cover.takePacked(sought);
  if (cover.partials.length === 0) return cover.coverage({ segments, known: undefined });
  const known = cover.join(sought?.family.prepared);
  if (known === undefined) return undefined;
  if (cover.isComplete) keepSmallState(memo, scan.fragment, { segments, ...known });
  return cover.coverage({ segments, known });
}

/** Takes note of the state of all segments that the window of a run over few rows holds. */
export function keepSmallState(
  memo: PartialMemo,
  fragment: Fragment,
  of: KnownState & { readonly segments: readonly SegmentContent[] },
): void {
  const state = rememberedState(fragment, of);
  const isDear = state.byteSize > SMALL_STATE_BYTES_MAX;
  memo.keep(of.segments[0]!, fragment.key, isDear ? 'dear' : state);
}

/** Whether the state of just these segments is remembered. */
export function hasStateOfAll(
  memo: PartialMemo,
  { key }: Fragment,
  segments: readonly SegmentContent[],
): boolean {
  const remembered = memo.peek(segments[0]!, key);
  const known = typeof remembered === 'object' ? remembered.segments : [];
  return known.length === segments.length && known.every((one, index) => one === segments[index]);
}
