import { must } from '../assert.ts';
import type {
  AnyContent,
  SealedSegmentHandle,
  SegmentContent,
  SegmentHandle,
} from '../column/segment.ts';
import { REMEMBERED_BYTES_MAX } from '../limits.ts';
import type { TimeWindow } from '../plan/logical-plan.ts';
import {
  type Coverage,
  coverageOf,
  type FragmentScan,
  hasStateOfAll,
  type KnownState,
  keepSmallState,
  type Piece,
  SMALL_STATE_BYTES_MAX,
  SMALL_STATE_SEGMENTS_MIN,
  smallCoverageOf,
  wholeContentsOf,
} from './coverage.ts';
import {
  Families,
  type Family,
  isSearch,
  isWanted,
  PrefixSums,
  type SoughtPattern,
} from './families.ts';
import { type Fragment, fragmentOf, type ScannedPlan } from './fragment.ts';
import {
  inheritedStates,
  type MemoStats,
  PACKED_STATES_BYTES_MAX,
  PackedStateReader,
  PartialMemo,
  packedKey,
  type RememberedState,
  rememberedState,
} from './partial-memo.ts';
import { combinedOf, type PreparedStates, type StatesOrder } from './prepare-states.ts';
import { type KeptResult, type TogetherResult, unpackedWithin } from './run-pieces.ts';

/**
 * Rows of a segment from which their partial state is remembered: to look at fewer takes less than the
 * 50 µs after which a state of its own has paid for itself.
 */
const REMEMBERED_ROWS_MIN = 4096;

/**
 * Bytes of a partial state for each row that it stands for, at most, to be remembered: an entry of 6 bytes is
 * taken in in some 3 ns, a row looked at in 4 at best, and in twenty times that where groups are small.
 */
const REMEMBERED_BYTES_PER_ROW_MAX = 4;

/**
 * Rows of a segment from which small states of it are packed ahead, too, where projects are searched for in all rows: to
 * make two thousand takes a few tenths of a second, and what is smaller is soon merged.
 */
const PACKED_SEGMENT_ROWS_MIN = 524_288;

/** Bytes that may be remembered from which small states are packed: those of the segments of a week leave as much again. */
export const PACKED_MEMORY_MIN = 16 * PACKED_STATES_BYTES_MAX;

/** What a run is over: its scans as the call has them, and their segments. */
export type RunSnapshot = ScannedPlan & {
  readonly segments: readonly (readonly SegmentHandle[])[];
};

/** States of one segment to be made ahead. */
export type Preparation = {
  readonly family: Family;
  readonly content: SegmentContent;
  readonly handle: SealedSegmentHandle;
  readonly order: StatesOrder;
};

/** Bounds of what is remembered; those of `limits.ts` where left out. */
export type MemoLimits = {
  /** With 0 nothing is remembered. */
  readonly bytesMax: number;
  readonly rowsMin: number;
  readonly bytesPerRowMax: number;
  /** Rows of a segment from which small states of it are made ahead, too. */
  readonly packedRowsMin: number;
};

const LIMITS: MemoLimits = {
  bytesMax: REMEMBERED_BYTES_MAX,
  rowsMin: REMEMBERED_ROWS_MIN,
  bytesPerRowMax: REMEMBERED_BYTES_PER_ROW_MAX,
  packedRowsMin: PACKED_SEGMENT_ROWS_MIN,
};

/**
 * Remembers the partial states of segments that runs make, and finds them again for others. Kept
 * on the main thread.
 */
export class MemoRuns {
  readonly #limits: MemoLimits;
  readonly #memo: PartialMemo;
  readonly #families = new Families();
  /** By the pattern of a fragment what was known of prefixes when their states were last summed. */
  readonly #summed = new WeakMap<Fragment, number>();

  constructor(limits: Partial<MemoLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
    this.#memo = new PartialMemo(this.#limits.bytesMax);
  }

  /** What is remembered for a run; `undefined` when it is to be run without. */
  cover(run: RunSnapshot): Coverage | undefined {
    const scanned = this.#scannedBy(run);
    if (scanned === undefined) return undefined;
    this.#families.note(scanned.fragment, scanned.window);
    this.#sumPrefixes(scanned);
    return coverageOf(scanned, { memo: this.#memo, rowsMin: this.#limits.rowsMin });
  }

  /**
   * As `cover`, for a run over few rows: in little time, whatever the number of segments. `'not few'`: a segment has a state
   * of its own, so it has rows enough.
   */
  coverSmall(run: RunSnapshot): Coverage | 'not few' | undefined {
    const scanned = this.#scannedBy(run);
    if (scanned === undefined) return undefined;
    if (!this.#sumPrefixesOfAll(scanned)) this.#sumPrefixes(scanned);
    return smallCoverageOf(scanned, this.#memo, this.#families.ofSought(scanned.fragment));
  }

  /** What states of prefixes come to for a pattern is remembered as its own. */
  #sumPrefixes({ fragment, handles }: FragmentScan): void {
    const sought = this.#families.ofPattern(fragment);
    if (sought === undefined || this.#isSummed(sought, fragment)) return;
    this.#summed.set(fragment, sought.family.prefixes.version);
    const sums = new PrefixSums(sought, fragment, this.#memo);
    for (const [content, partial] of sums.ofEach(handles)) {
      this.#keepOwn(fragment, { partial, rowCount: content.rowCount }, content);
    }
  }

  /**
   * The same of all sealed segments together, as that of a run over few rows, where the window cuts none of them: whether
   * it is remembered then.
   */
  #sumPrefixesOfAll({ fragment, handles, window }: FragmentScan): boolean {
    const sought = this.#families.ofPattern(fragment);
    if (sought === undefined) return false;
    const sealedCount = handles.filter(({ kind }) => kind === 'sealed').length;
    const segments = wholeContentsOf({ handles, window });
    if (segments.length < Math.max(sealedCount, SMALL_STATE_SEGMENTS_MIN)) return false;
    if (hasStateOfAll(this.#memo, fragment, segments)) return true;
    if (this.#isSummed(sought, fragment)) return false;
    const partial = new PrefixSums(sought, fragment, this.#memo).ofAll(segments);
    if (partial === undefined) return false;
    const rowCount = segments.reduce((sum, content) => sum + content.rowCount, 0);
    keepSmallState(this.#memo, fragment, { segments, partial, rowCount });
    return hasStateOfAll(this.#memo, fragment, segments);
  }

  /** Whether each segment has what can be had of states of prefixes, or what was found by looking at it. */
  #isSummed({ family }: SoughtPattern, fragment: Fragment): boolean {
    return this.#summed.get(fragment) === family.prefixes.version;
  }

  /**
   * Takes note of a call whose run was one over few rows. Where these are searched for among those of all, what it took
   * was finding them.
   */
  noteFew(fragment: Fragment, window: TimeWindow): void {
    if (isSearch(fragment)) this.#families.note(fragment, window);
  }

  /** The only scan of a run, where its states may be remembered. */
  #scannedBy(run: RunSnapshot): FragmentScan | undefined {
    const { scans, segments } = run;
    if (!this.#memo.isOn || scans.length !== 1) return undefined;
    const fragment = fragmentOf(run);
    if (fragment === undefined) return undefined;
    const handles = must(segments[0], 'each scan has its segments');
    return { fragment, handles, window: scans[0]!.window };
  }

  /**
   * Takes note of the state of some segments with few rows, if together they have enough; of a run over few rows, of all.
   * The pieces are in the order of the snapshot, in which the state is looked for.
   */
  keepTogether(
    { fragment, small }: Coverage,
    pieces: readonly Piece[],
    result: TogetherResult,
  ): void {
    const { rowsMin, bytesPerRowMax } = this.#limits;
    const { rowCount } = result;
    if (small !== undefined) {
      const partial = unpackedWithin(result.partial, SMALL_STATE_BYTES_MAX);
      const state = partial && joined(fragment, small.known, { partial, rowCount });
      if (state) keepSmallState(this.#memo, fragment, { segments: small.segments, ...state });
      return;
    }
    const segments = pieces.flatMap(({ content }) => content ?? []);
    const bytesMax = bytesPerRowMax * rowCount;
    if (rowCount < rowsMin || segments.length < 2) return;
    const partial = unpackedWithin(result.partial, bytesMax);
    if (partial === undefined) return;
    const state = rememberedState(fragment, { segments, partial, rowCount });
    if (state.byteSize <= bytesMax) this.#memo.keep(segments[0]!, fragment.key, state);
  }

  /** Takes note of what came of a piece that is to be remembered. */
  keep({ fragment }: Coverage, { content, growing, handle }: Piece, result: KeptResult): void {
    if (content !== undefined) this.#keepOwn(fragment, result, content);
    if (growing === undefined || handle.kind !== 'open') return;
    const rowCount = result.rowCount + (growing.base?.rowCount ?? 0);
    const { content: open, rowCount: rowEnd } = handle;
    const state = this.#ownState(fragment, { ...result, rowCount }, open, rowEnd);
    // A state that is dear now may be worth it once there are more rows.
    if (state !== undefined) this.#memo.keep(open, fragment.key, state);
  }

  /**
   * What is to be made ahead next, so that calls for other projects find it; `undefined`: nothing. It is
   * not told again, whatever comes of it.
   */
  nextPreparation(
    sealedSegments: (source: string) => readonly SegmentHandle[],
  ): Preparation | undefined {
    for (const family of this.#families.inUse()) {
      for (const handle of sealedSegments(family.fragment.scan.source)) {
        const { content } = handle.kind === 'sealed' ? handle : {};
        if (content === undefined || family.done.has(content)) continue;
        if (!isWanted(family, content)) continue;
        family.done.add(content);
        const { call, asked } = family;
        const { breaker, planKey } = family.fragment;
        const { rowsMin, bytesPerRowMax } = this.#limits;
        const packedRowsMin = this.#packedRowsMin();
        const order = {
          ...{ breaker, planKey, call, asked },
          ...{ rowsMin, bytesPerRowMax, packedRowsMin },
        };
        return { family, content, handle: handle as SealedSegmentHandle, order };
      }
    }
    return undefined;
  }

  /** Where small states would leave little room for others none are made. */
  #packedRowsMin(): number {
    const { bytesMax, packedRowsMin } = this.#limits;
    return bytesMax < PACKED_MEMORY_MIN ? Number.POSITIVE_INFINITY : packedRowsMin;
  }

  /** Takes what was made ahead. */
  keepPrepared(
    { family, content }: Preparation,
    { states, packed, prefixes }: PreparedStates,
  ): void {
    if (prefixes !== undefined) family.prefixes.note(content, prefixes);
    if (packed !== undefined) {
      this.#memo.keep(content, packedKey(family.call), new PackedStateReader(packed));
    }
    let keptCount = packed === undefined ? 0 : 1;
    for (const { key, rowCount, partial } of states) {
      if (partial === undefined) {
        this.#memo.keep(content, key, 'dear');
        continue;
      }
      keptCount += 1;
      const state = rememberedState(family.fragment, { segments: [content], partial, rowCount });
      this.#memo.keep(content, key, state);
    }
    if (keptCount > 0) family.vainCount = 0;
    else if (states.length > 0) family.vainCount += 1;
  }

  /**
   * To be told when all rows of some segments are in one in their place, before these are no more: what is
   * remembered of each of them comes to what is so of that one. States are combined a few at a time, between what
   * else this thread has to do.
   */
  async inherit(from: readonly AnyContent[], to: SegmentContent): Promise<void> {
    const inherited = inheritedStates(this.#memo, from, to);
    for (const [key, parts] of inherited) {
      await new Promise(setImmediate);
      const { fragment } = parts[0]!;
      const rowCount = parts.reduce((sum, part) => sum + part.rowCount, 0);
      const partials = parts.map((part) => part.partial);
      const partial = partials.length === 1 ? partials[0] : combinedOf(fragment.breaker, partials);
      if (partial === undefined || this.#memo.peek(to, key) !== undefined) continue;
      this.#memo.keep(to, key, this.#ownState(fragment, { partial, rowCount }, to) ?? 'dear');
    }
  }

  /** To be told when a segment is no more. */
  forget(content: AnyContent): void {
    this.#memo.forget(content);
  }

  stats(): MemoStats {
    return this.#memo.stats();
  }

  #keepOwn(fragment: Fragment, result: KeptResult, content: SegmentContent): void {
    this.#memo.keep(content, fragment.key, this.#ownState(fragment, result, content) ?? 'dear');
  }

  /** The state of one segment; `undefined`: it is dear. */
  #ownState(
    fragment: Fragment,
    { partial: sent, rowCount }: KeptResult,
    content: AnyContent,
    rowEnd?: number,
  ): RememberedState | undefined {
    const bytesMax = this.#limits.bytesPerRowMax * rowCount;
    const partial = unpackedWithin(sent, bytesMax);
    if (partial === undefined) return undefined;
    const state = rememberedState(fragment, { segments: [content], rowEnd, partial, rowCount });
    return state.byteSize > bytesMax ? undefined : state;
  }
}

/** What is known of some segments and what came of others; `undefined` where a limit fails. */
function joined(
  fragment: Fragment,
  known: KnownState | undefined,
  more: KnownState,
): KnownState | undefined {
  if (known === undefined) return more;
  const partial = combinedOf(fragment.breaker, [known.partial, more.partial]);
  return partial && { partial, rowCount: known.rowCount + more.rowCount };
}
