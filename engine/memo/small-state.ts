import type { SegmentContent, SegmentHandle } from '../column/segment.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import { combineFragments } from '../plan/execute.ts';
import { type Coverage, type Piece, type ScannedRun, wholeContentOf } from './coverage.ts';
import type { SoughtPattern, SoughtProject } from './families.ts';
import { callKey, type Fragment } from './fragment.ts';
import { type PartialMemo, packedKey, rememberedPartial } from './partial-memo.ts';
import { partialOf, textsOfPrefix } from './prepare-states.ts';
import type { PrefixVerdicts } from './text-prefixes.ts';

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
  { fragment: { breaker } }: ScannedRun,
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
