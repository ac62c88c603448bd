import type { SegmentContent, SegmentHandle } from '../column/segment.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import { combineFragments } from '../plan/execute.ts';
import type { TimeWindow } from '../plan/logical-plan.ts';
import type { Family } from './families.ts';
import { callKey, type Fragment } from './fragment.ts';
import { shelfKey } from './packed-states.ts';
import type { PartialMemo } from './partial-memo.ts';
import type { PrefixVerdicts } from './prefix-verdicts.ts';
import { type PatternCall, partialOf, textsOfPrefix } from './prepare-states.ts';

/**
 * The states of a pattern that prefixes of strings decide on, as those of a few hosts of URLs: a string with a prefix that
 * the pattern takes matches, and no other does, so that its state is the sum of those of these prefixes.
 */
export class PrefixSums {
  readonly #family: Family;
  readonly #call: PatternCall;
  readonly #memo: PartialMemo;
  /** Tried when the first segment asks. */
  #verdicts: { readonly found: PrefixVerdicts | undefined } | undefined;
  /** Of the states of the prefixes that are taken; `undefined`: one has none. */
  #keys: ReadonlyMap<string, string> | undefined;

  constructor({ family, call }: { family: Family; call: PatternCall }, memo: PartialMemo) {
    this.#family = family;
    this.#call = call;
    this.#memo = memo;
  }

  /** Those of segments of which nothing is remembered for the pattern itself. */
  *statesOf(
    fragment: Fragment,
    {
      handles,
      window,
    }: { readonly handles: readonly SegmentHandle[]; readonly window: TimeWindow },
  ): Iterable<readonly [SegmentContent, AggregatePartial]> {
    for (const handle of handles) {
      const { content } = handle.kind === 'sealed' ? handle : {};
      if (content === undefined || !isMet(content, window)) continue;
      if (this.#memo.peek(content, fragment.key) !== undefined) continue;
      const prefixes = this.#family.prefixes.of(content);
      const states = prefixes && this.#statesIn(content, prefixes, fragment);
      if (states === undefined) continue;
      // Of one, too: it may be among small ones, and these are not kept as they are.
      const partial = this.#sumOf(states, fragment);
      if (partial !== undefined) yield [content, partial];
    }
  }

  #sumOf(states: readonly AggregatePartial[], { breaker }: Fragment): AggregatePartial | undefined {
    return partialOf(
      () => combineFragments(breaker, states, this.#family.prepared) as AggregatePartial,
    );
  }

  /** Of the prefixes of a segment that are taken; `undefined`: some strings, or some states, are not known. */
  #statesIn(
    content: SegmentContent,
    prefixes: ReadonlySet<string>,
    fragment: Fragment,
  ): readonly AggregatePartial[] | undefined {
    this.#verdicts ??= { found: this.#family.prefixes.verdictsOf(this.#call.pattern) };
    const { found } = this.#verdicts;
    if (found === undefined || found.open.some((prefix) => prefixes.has(prefix))) return undefined;
    this.#keys ??= new Map(found.taken.flatMap((prefix) => this.#keyOf(prefix, fragment)));
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
    return this.#memo.findShelf(content, shelfKey(this.#call))?.find(prefix);
  }

  #keyOf(prefix: string, { planKey }: Fragment): readonly (readonly [string, string])[] {
    const texts = textsOfPrefix(this.#call.parameter, prefix);
    return texts === undefined ? [] : [[prefix, callKey(planKey, texts, undefined)]];
  }
}

/** Whether a window has some of a segment's time. */
function isMet(
  { timestampUsMin, timestampUsMax }: SegmentContent,
  { startUs, endUs }: TimeWindow,
): boolean {
  return timestampUsMin < endUs && timestampUsMax >= startUs;
}
