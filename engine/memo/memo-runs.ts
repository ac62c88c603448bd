import { must } from '../assert.ts';
import type {
  AnyContent,
  SealedSegmentHandle,
  SegmentContent,
  SegmentHandle,
} from '../column/segment.ts';
import { REMEMBERED_BYTES_MAX } from '../limits.ts';
import { combineFragments } from '../plan/execute.ts';
import type { TimeWindow } from '../plan/logical-plan.ts';
import {
  type Coverage,
  coverageOf,
  type FragmentScan,
  hasSmallState,
  keepSmallState,
  type Piece,
  PrefixSums,
  SMALL_STATE_BYTES_MAX,
  SMALL_STATE_SEGMENTS_MIN,
  smallCoverageOf,
  togetherKey,
  wholeContentOf,
} from './coverage.ts';
import { Families, type Family, isSearch, isWanted, type SoughtPattern } from './families.ts';
import { type Fragment, fragmentOf, type ScannedPlan } from './fragment.ts';
import {
  inheritedPartials,
  type MemoStats,
  PACKED_STATES_BYTES_MAX,
  PackedStateReader,
  PartialMemo,
  packedKey,
  type Remembered,
  rememberedPartial,
} from './partial-memo.ts';
import { type PreparedStates, partialOf, type StatesOrder } from './prepare-states.ts';
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
    const { fragment, handles, window } = scanned;
    this.#families.note(fragment, window);
    this.#sumPrefixes(scanned);
    const { rowsMin } = this.#limits;
    return coverageOf(fragment, { handles, window }, { memo: this.#memo, rowsMin });
  }

  /** Whether a segment of a run has a state of its own: then it has rows enough to be no run over few. */
  hasOwnState(run: RunSnapshot): boolean {
    const scanned = this.#scannedBy(run);
    if (scanned === undefined) return false;
    if (this.#sumPrefixesOfAll(scanned)) return false;
    this.#sumPrefixes(scanned);
    return scanned.handles.some(({ content }) => {
      const remembered = content && this.#memo.peek(content, scanned.fragment.key);
      return typeof remembered === 'object';
    });
  }

  /** As `cover`, for a run over few rows: in little time, whatever the number of segments. */
  coverSmall(run: RunSnapshot): Coverage | undefined {
    const scanned = this.#scannedBy(run);
    if (scanned === undefined) return undefined;
    return smallCoverageOf(scanned, this.#memo, this.#families.ofSought(scanned.fragment));
  }

  /** What states of prefixes come to for a pattern is remembered as its own. */
  #sumPrefixes({ fragment, handles }: FragmentScan): void {
    const sought = this.#families.ofPattern(fragment);
    if (sought === undefined || this.#isSummed(sought, fragment)) return;
    this.#summed.set(fragment, sought.family.prefixes.version);
    const sums = new PrefixSums(sought, fragment, this.#memo);
    for (const [content, partial] of sums.ofEach(handles)) {
      const result = { partial, rowCount: content.rowCount };
      this.#memo.keep(content, fragment.key, this.#rememberedOf(result, fragment));
    }
  }

  /**
   * The same of all sealed segments together, as that of a run over few rows, where the window cuts none of them: whether
   * it is remembered then.
   */
  #sumPrefixesOfAll({ fragment, handles, window }: FragmentScan): boolean {
    const sought = this.#families.ofPattern(fragment);
    if (sought === undefined) return false;
    const sealed = handles.flatMap((handle) => (handle.kind === 'sealed' ? handle : []));
    const members = sealed.flatMap((handle) => wholeContentOf(handle, window) ?? []);
    if (members.length < Math.max(sealed.length, SMALL_STATE_SEGMENTS_MIN)) return false;
    if (hasSmallState(this.#memo, fragment, members)) return true;
    if (this.#isSummed(sought, fragment)) return false;
    const partial = new PrefixSums(sought, fragment, this.#memo).ofAll(members);
    if (partial === undefined) return false;
    const rowCount = members.reduce((sum, content) => sum + content.rowCount, 0);
    keepSmallState(this.#memo, fragment, { members, partial, rowCount });
    return hasSmallState(this.#memo, fragment, members);
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
   * Takes note of the state of some segments with few rows, if together they have enough. The pieces are in the order of
   * the snapshot, in which the state is looked for.
   */
  keepTogether(
    { fragment, small }: Coverage,
    pieces: readonly Piece[],
    result: TogetherResult,
  ): void {
    if (small !== undefined) {
      this.#keepSmall(fragment, small, result);
      return;
    }
    const { rowCount } = result;
    const members = pieces.flatMap(({ content }) => content ?? []);
    const { rowsMin, bytesPerRowMax } = this.#limits;
    if (rowCount < rowsMin || members.length < 2) return;
    const partial = unpackedWithin(result.partial, bytesPerRowMax * rowCount);
    if (partial === undefined) return;
    const remembered = {
      ...rememberedPartial(partial, rowCount, fragment, 'as a whole'),
      members,
    };
    if (remembered.byteSize > bytesPerRowMax * rowCount) return;
    this.#memo.keep(members[0]!, togetherKey(fragment), remembered);
    // It says itself of which segments it is: a mark for each would take as much as all of it.
    for (const member of members) this.#memo.drop(member, fragment.key);
  }

  /** Of a run over few rows: with what was known of some segments, the state of all. */
  #keepSmall(
    fragment: Fragment,
    { members, known }: NonNullable<Coverage['small']>,
    { partial: sent, rowCount }: TogetherResult,
  ): void {
    const partial = unpackedWithin(sent, SMALL_STATE_BYTES_MAX);
    if (partial === undefined) return;
    if (known === undefined) {
      keepSmallState(this.#memo, fragment, { members, partial, rowCount });
      return;
    }
    const partials = [known.partial, partial];
    const sum = partialOf(() => combineFragments(fragment.breaker, partials));
    if (sum === undefined) return;
    const state = { members, partial: sum, rowCount: known.rowCount + rowCount };
    keepSmallState(this.#memo, fragment, state);
  }

  /** Takes note of what came of a piece that is to be remembered. */
  keep({ fragment }: Coverage, { content, growing, handle }: Piece, result: KeptResult): void {
    if (content !== undefined) this.#keep(fragment, content, result);
    if (growing === undefined || handle.kind !== 'open' || result === 'few') return;
    const rowCount = result.rowCount + (growing.base?.rowCount ?? 0);
    const remembered = this.#rememberedOf({ ...result, rowCount }, fragment);
    // A state that is dear now may be worth it once there are more rows.
    if (typeof remembered === 'string') return;
    const { content: open, rowCount: rowEnd } = handle;
    this.#memo.keep(open, fragment.key, { ...remembered, rowEnd });
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
      this.#memo.keep(content, key, rememberedPartial(partial, rowCount, family.fragment));
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
    const inherited = inheritedPartials(this.#memo, from, to);
    for (const [key, parts] of inherited) {
      await new Promise(setImmediate);
      const { fragment } = parts[0]!;
      const rowCount = parts.reduce((sum, part) => sum + part.rowCount, 0);
      const partials = parts.map((part) => part.partial);
      const combine = () => combineFragments(fragment.breaker, partials);
      const partial = partials.length === 1 ? partials[0] : partialOf(combine);
      if (partial === undefined || this.#memo.peek(to, key) !== undefined) continue;
      this.#memo.keep(to, key, this.#rememberedOf({ partial, rowCount }, fragment));
    }
  }

  /** To be told when a segment is no more. */
  forget(content: AnyContent): void {
    this.#memo.forget(content);
  }

  stats(): MemoStats {
    return this.#memo.stats();
  }

  #keep(fragment: Fragment, content: SegmentContent, result: KeptResult): void {
    this.#memo.keep(content, fragment.key, this.#rememberedOf(result, fragment));
  }

  #rememberedOf(result: KeptResult, fragment: Fragment): Remembered {
    if (result === 'few') return 'few';
    const bytesMax = this.#limits.bytesPerRowMax * result.rowCount;
    const partial = unpackedWithin(result.partial, bytesMax);
    if (partial === undefined) return 'dear';
    const remembered = rememberedPartial(partial, result.rowCount, fragment);
    return remembered.byteSize > bytesMax ? 'dear' : remembered;
  }
}
