import type { SegmentContent, SegmentHandle } from '../column/segment.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import { combineFragments } from '../plan/execute.ts';
import type { SoughtPattern } from './families.ts';
import { callKey, type Fragment } from './fragment.ts';
import { shelfKey } from './packed-states.ts';
import type { PartialMemo } from './partial-memo.ts';
import type { PrefixVerdicts } from './prefix-verdicts.ts';
import { partialOf, textsOfPrefix } from './prepare-states.ts';

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
    return this.#memo.findShelf(content, shelfKey(this.#sought.call))?.find(prefix);
  }

  #keyOf(prefix: string): readonly (readonly [string, string])[] {
    const texts = textsOfPrefix(this.#sought.call.parameter, prefix);
    return texts === undefined ? [] : [[prefix, callKey(this.#fragment.planKey, texts, undefined)]];
  }
}
