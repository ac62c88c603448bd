import { must } from '../assert.ts';
import { findOnce } from '../column/caches.ts';
import type { SegmentContent, SegmentHandle } from '../column/segment.ts';
import { compileRegex } from '../function/text/regular-expression.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import { isLateText, type LateTexts } from '../plan/late-texts.ts';
import type { TimeWindow } from '../plan/logical-plan.ts';
import { type Breaker, scansOf } from '../plan/physical-plan.ts';
import { someExpression } from '../plan/physical-walk.ts';
import { PreparedPlan } from '../plan/prepared-plan.ts';
import { callKey, type Fragment } from './fragment.ts';
import { type PartialMemo, packedKey } from './partial-memo.ts';
import {
  combinedOf,
  type FamilyMember,
  KnownPrefixes,
  type PatternMember,
  type PrefixVerdicts,
  type ProjectMember,
  textsOfPrefix,
  withProject,
} from './prepare-states.ts';

/**
 * Fragments known by calls whose states are made ahead, for all projects: each is one more look at each row of
 * the segments in use.
 */
const FAMILIES_MAX = 32;

/** Calls, for any project, from which one counts as in use: a text that was sent once does not come again. */
const FAMILY_CALLS_MIN = 2;

/** Projects, or patterns, of its last calls by which it is known that it is one that they differ in: some come again and again. */
const FAMILY_ASKED_MAX = 8;

/**
 * How often calls must have asked for as much time as a segment holds before all of it is looked at for their sake: what
 * is made ahead costs no more than a few times what they have cost.
 */
const PREPARED_LOOKS_MIN = 1 / 4;

/** The share of a segment's time that a call must ask for: of less there is little to be gained, whoever calls how often. */
const PREPARED_OVERLAP_MIN = 1 / 64;

/** The same share where no part of the state can be used, so that a call must ask for all of the segment one day. */
const PREPARED_WHOLE_OVERLAP_MIN = 1 / 8;

/** Segments in a row without a state worth keeping after which no more are made for a fragment. */
const PREPARED_VAIN_MAX = 3;

/** Fragments that differ in the project alone, or in the pattern, and what was made of them ahead. */
export type Family = {
  /** Of the project, or pattern, that was asked for first. */
  readonly fragment: Fragment;
  readonly call: FamilyMember;
  /** What the last calls had in its place, each once. */
  readonly asked: string[];
  calls: number;
  /** Of the last call. */
  window: TimeWindow;
  /** Segments of which the states of all projects, or prefixes, were made. */
  readonly done: WeakSet<SegmentContent>;
  /** Segments in a row of which no state was worth to be kept. */
  vainCount: number;
  /** Of the strings in which patterns are looked for. */
  readonly prefixes: KnownPrefixes;
  /** What sums of states have in common. */
  readonly prepared: PreparedPlan;
};

/** A project that is searched for in the rows of all. */
export type SoughtProject = { readonly family: Family; readonly call: ProjectMember };

/** A pattern that is looked for in the rows of all. */
export type SoughtPattern = { readonly family: Family; readonly call: PatternMember };

/**
 * The families in use, learned from calls: their states of all projects, or prefixes, are made ahead, so that the
 * first call for a project, or with a pattern, finds them. The ones called longest ago are forgotten.
 */
export class Families {
  /** In the order of their last calls. */
  readonly #families = new Map<string, Family>();
  readonly #calls = new WeakMap<Fragment, FamilyMember | 'none'>();

  /** Takes note of a call; nothing where neither a project nor a pattern was put in. */
  note(fragment: Fragment, window: TimeWindow): void {
    const call = this.#callOf(fragment);
    if (call === undefined) return;
    const family = this.#families.get(call.familyKey) ?? {
      ...{ fragment, call, asked: [], calls: 0, window, vainCount: 0 },
      done: new WeakSet<SegmentContent>(),
      prefixes: new KnownPrefixes(),
      prepared: new PreparedPlan(),
    };
    family.calls += 1;
    family.window = window;
    noteAsked(family.asked, call.kind === 'project' ? call.project : call.pattern);
    this.#families.delete(call.familyKey);
    this.#families.set(call.familyKey, family);
    if (this.#families.size <= FAMILIES_MAX) return;
    for (const oldest of this.#families.keys()) {
      this.#families.delete(oldest);
      break;
    }
  }

  /** Those that are worth the work, the one called last first. */
  inUse(): readonly Family[] {
    const isWorth = ({ calls, vainCount }: Family) =>
      calls >= FAMILY_CALLS_MIN && vainCount < PREPARED_VAIN_MAX;
    return [...this.#families.values()].filter(isWorth).reverse();
  }

  /** The family of a project that a call searches for in the rows of all, and the project. */
  ofSought(fragment: Fragment): SoughtProject | undefined {
    if (!isSearch(fragment)) return undefined;
    const call = this.#callOf(fragment);
    const family = call && this.#families.get(call.familyKey);
    return call?.kind === 'project' && call.isSought && family ? { family, call } : undefined;
  }

  /** The family of a pattern that a call looks for, and the pattern. */
  ofPattern(fragment: Fragment): SoughtPattern | undefined {
    if (fragment.texts === undefined || fragment.texts.patterns.size === 0) return undefined;
    const call = this.#callOf(fragment);
    const family = call && this.#families.get(call.familyKey);
    return call?.kind === 'pattern' && family !== undefined ? { family, call } : undefined;
  }

  #callOf(fragment: Fragment): FamilyMember | undefined {
    let call = this.#calls.get(fragment);
    if (call === undefined) {
      call = familyCallOf(fragment) ?? 'none';
      this.#calls.set(fragment, call);
    }
    return call === 'none' ? undefined : call;
  }
}

function noteAsked(asked: string[], one: string): void {
  if (asked[0] === one) return;
  const before = asked.indexOf(one);
  if (before >= 0) asked.splice(before, 1);
  asked.unshift(one);
  if (asked.length > FAMILY_ASKED_MAX) asked.pop();
}

/** Whether a call may search the rows of all for what it puts in; most have a project of which their scan is. */
export function isSearch({ texts, scan }: Fragment): boolean {
  return texts !== undefined && scan.projectKey === undefined;
}

/** In the place of the project; no project is called so. */
const ANY_PROJECT = '\0project';

function familyCallOf(fragment: Fragment): FamilyMember | undefined {
  const { texts } = fragment;
  const isOfPattern = texts?.values.size === 1 && texts.patterns.size === 1;
  return isOfPattern ? patternCallOf(fragment, texts) : projectCallOf(fragment);
}

/**
 * What is the project in a call: that of its scan, where a text or the reach of the call says it, else its only
 * text, which may be one that is searched for. `undefined`: none, or the plan itself says it.
 */
function projectCallOf({ breaker, scan, texts, planKey }: Fragment): ProjectMember | undefined {
  if (texts === undefined || scansOf(breaker)[0]?.projectKey !== undefined) return undefined;
  const [only, ...others] = texts.values.values();
  const project = scan.projectKey ?? (others.length === 0 ? only : undefined);
  if (project === undefined) return undefined;
  const { reach } = scan;
  const isOwn = reach?.length === 1 && reach[0] === project;
  if (reach !== undefined && !isOwn) return undefined;
  const ofAny = withProject(texts, { from: project, to: ANY_PROJECT });
  // A project that is a pattern, too, is not put in alone.
  if (!isOwn && ofAny.key === texts.key) return undefined;
  const familyKey = `${planKey} ${ofAny.key} ${isOwn}`;
  const isSought = !isOwn && scan.projectKey === undefined;
  return { kind: 'project', project, texts, isOwn, isSought, familyKey };
}

/**
 * The pattern of a call that looks for nothing else, in the string at one path, in all there is: each row that passes
 * has to match it, and nothing else depends on it. `undefined`, too, where a match may begin anywhere.
 */
function patternCallOf(
  { breaker, scan, planKey }: Fragment,
  { values }: LateTexts,
): PatternMember | undefined {
  if (scan.projectKey !== undefined || scan.reach !== undefined) return undefined;
  const place = patternPlaceOf(breaker);
  if (place === undefined) return undefined;
  const { parameter, path } = place;
  const pattern = must(values.get(parameter), 'a call has a value for what its plan leaves open');
  if (compileRegex(pattern).automaton()?.isAtStartOnly !== true) return undefined;
  return { kind: 'pattern', pattern, parameter, path, familyKey: `${planKey} pattern` };
}

type PatternPlace = Pick<PatternMember, 'parameter' | 'path'>;

/** Where the pattern is looked for that a call puts in, if each row that passes has to match it and nothing else reads it. */
const patternPlaceOf = findOnce((breaker: Breaker): PatternPlace | undefined => {
  if (countLateTexts(breaker) !== 1) return undefined;
  const texts = scansOf(breaker)[0]?.late?.texts ?? [];
  const [needed] = texts.filter((text) => 'parameter' in text);
  return needed?.isPattern === true ? needed : undefined;
});

function countLateTexts(breaker: Breaker): number {
  let count = 0;
  someExpression(breaker, (node) => {
    if (isLateText(node)) count += 1;
    return false;
  });
  return count;
}

/** Whether calls such as the last need so much of a segment that all of it is worth being looked at. */
export function isWanted(
  { window, calls, fragment }: Family,
  { timestampUsMin, timestampUsMax }: SegmentContent,
): boolean {
  const from = Math.max(timestampUsMin, window.startUs);
  const to = Math.min(timestampUsMax, window.endUs);
  if (to < from) return false;
  const duration = timestampUsMax - timestampUsMin;
  const overlap = duration === 0 ? 1 : (to - from) / duration;
  const isOfParts = fragment.timeKey !== undefined;
  const overlapMin = isOfParts ? PREPARED_OVERLAP_MIN : PREPARED_WHOLE_OVERLAP_MIN;
  return overlap >= overlapMin && calls * overlap >= PREPARED_LOOKS_MIN;
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
      if (content === undefined || this.#isKnown(content)) continue;
      const partial = this.ofAll([content]);
      if (partial !== undefined) yield [content, partial];
    }
  }

  #isKnown(content: SegmentContent): boolean {
    const remembered = this.#memo.peek(content, this.#fragment.key);
    // A state of several is of no use where the snapshot has not all of them.
    return typeof remembered === 'object'
      ? remembered.segments.length === 1
      : remembered === 'dear';
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
    return combinedOf(breaker, states, prepared);
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
