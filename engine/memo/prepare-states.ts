import { must } from '../assert.ts';
import type { Segment, SegmentContent } from '../column/segment.ts';
import { prefixesOf, type StringPrefixes } from '../column/string-values.ts';
import { encodeWtf8, LONE_SURROGATE } from '../column/wtf8.ts';
import { ACCEPTED, DEAD } from '../function/regex/byte-dfa.ts';
import { compileRegex } from '../function/text/regular-expression.ts';
import { REGEX_LENGTH_MAX } from '../limits.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import { newScanCounters } from '../operator/scan.ts';
import type { Checkpoint } from '../operator/sink.ts';
import { combineFragments, executeFragment } from '../plan/execute.ts';
import { boundsOf, type LateTexts, lateTexts } from '../plan/late-texts.ts';
import { ALL_TIME } from '../plan/logical-plan.ts';
import { type Breaker, scansOf } from '../plan/physical-plan.ts';
import { PreparedPlan } from '../plan/prepared-plan.ts';
import { EVERYTHING, type Reach } from '../plan/reach.ts';
import { QueryError, RunStoppedError } from '../query-error.ts';
import { callKey } from './fragment.ts';
import { type PackedStates, StatePacker } from './partial-memo.ts';
import { partialSize } from './run-pieces.ts';

/** A call as one of its family: of the calls of a plan that differ from it in one text. */
export type FamilyMember = ProjectMember | PatternMember;

/** The others are for other projects. */
export type ProjectMember = {
  readonly kind: 'project';
  readonly project: string;
  /** With the project among them, or by its side. */
  readonly texts: LateTexts;
  /** Whether its reach is the project alone; else it is everything. */
  readonly isOwn: boolean;
  /** Whether the project is a text that is searched for in the rows of all. */
  readonly isSought: boolean;
  /** Calls share it that differ in the project alone. */
  readonly familyKey: string;
};

/** Rows count where a pattern is found in a string; others look for other patterns. */
export type PatternMember = {
  readonly kind: 'pattern';
  readonly pattern: string;
  /** Its parameter, the only text of the call. */
  readonly parameter: string;
  /** Where the string is. */
  readonly path: readonly string[];
  readonly familyKey: string;
};

/**
 * What is to be made of a segment ahead: the states of a fragment for each project with rows enough, or for each
 * prefix of the strings that patterns are looked for in.
 */
export type StatesOrder = {
  readonly breaker: Breaker;
  readonly planKey: string;
  readonly call: FamilyMember;
  /**
   * What the last calls had in the place of the project or pattern: none a project of the segment, and it is something
   * else; none that prefixes decide on, and their states are of no use.
   */
  readonly asked: readonly string[];
  readonly rowsMin: number;
  readonly bytesPerRowMax: number;
  /** Rows of a segment from which small states are packed, too. */
  readonly packedRowsMin: number;
};

type PreparedState = {
  /** Of the fragment of a call. */
  readonly key: string;
  readonly rowCount: number;
  /** Absent: it is not worth to be kept, or there is none. */
  readonly partial?: AggregatePartial | undefined;
};

export type PreparedStates = {
  readonly states: readonly PreparedState[];
  /** Of projects, or prefixes, with fewer rows, where rows of all are looked through for them. */
  readonly packed?: PackedStates | undefined;
  /** All prefixes that the segment's strings have, those without a state among them. */
  readonly prefixes?: readonly string[];
};

const NONE: PreparedStates = { states: [] };

/** What a call puts in. */
type CallTexts = { readonly texts: LateTexts; readonly reach: Reach };

type StateOf = (of: CallTexts) => PreparedState;

export function prepareStates(
  segment: Segment,
  order: StatesOrder,
  checkpoint: Checkpoint,
): PreparedStates {
  const { call } = order;
  const prepared = new PreparedPlan();
  const stateOf = (of: CallTexts) => preparedState(segment, order, { of, prepared, checkpoint });
  return call.kind === 'project'
    ? statesOfProjects(segment, order, call, stateOf)
    : statesOfPrefixes(segment, order, call, stateOf);
}

function statesOfProjects(
  segment: Segment,
  order: StatesOrder,
  call: ProjectMember,
  stateOf: StateOf,
): PreparedStates {
  const { asked, rowsMin } = order;
  const present = segment.projectsWith(1);
  if (!asked.some((project) => present.includes(project))) return NONE;
  const textsOf = (project: string) => withProject(call.texts, { from: call.project, to: project });
  const isMany = new Set(segment.projectsWith(rowsMin));
  const [many, few] = partitioned(present, (project) => isMany.has(project));
  const states = many.map((project) => {
    const reach = call.isOwn ? { ...EVERYTHING, projects: [project] } : EVERYTHING;
    return stateOf({ texts: textsOf(project), reach });
  });
  if (!call.isSought) return { states };
  const packed = packedStates(segment, order, { names: few, textsOf, stateOf });
  return { states, packed };
}

/** The state of a prefix is that of a call with the pattern that it is the beginning. */
function statesOfPrefixes(
  segment: Segment,
  order: StatesOrder,
  { parameter, path }: PatternMember,
  stateOf: StateOf,
): PreparedStates {
  const { asked, rowsMin } = order;
  const counts = prefixesAt(segment, path);
  if (counts === undefined) return NONE;
  const prefixes = [...counts.keys()];
  const bytes = bytesOfPrefixes(prefixes);
  if (!asked.some((pattern) => decidedBy(pattern, bytes))) return NONE;
  const textsOf = (prefix: string) => textsOfPrefix(parameter, prefix);
  const [many, few] = partitioned(prefixes, (prefix) => counts.get(prefix)! >= rowsMin);
  const states = many.flatMap((prefix) => {
    const texts = textsOf(prefix);
    return texts === undefined ? [] : [stateOf({ texts, reach: EVERYTHING })];
  });
  const packed = packedStates(segment, order, { names: few, textsOf, stateOf });
  return { states, prefixes, packed };
}

/** The small states of some projects or prefixes, as many as may be; of a small segment none. */
function packedStates(
  segment: Segment,
  { packedRowsMin }: StatesOrder,
  {
    names,
    textsOf,
    stateOf,
  }: {
    readonly names: readonly string[];
    readonly textsOf: (name: string) => LateTexts | undefined;
    readonly stateOf: StateOf;
  },
): PackedStates | undefined {
  if (segment.rowCount < packedRowsMin) return undefined;
  const packer = new StatePacker();
  for (const name of names) {
    if (packer.isFull) break;
    const texts = textsOf(name);
    const state = texts && stateOf({ texts, reach: EVERYTHING });
    if (state?.partial !== undefined) packer.add(name, state.partial);
  }
  return packer.packed();
}

function partitioned<T>(
  items: readonly T[],
  isFirst: (item: T) => boolean,
): readonly [readonly T[], readonly T[]] {
  const [first, second]: [T[], T[]] = [[], []];
  for (const item of items) (isFirst(item) ? first : second).push(item);
  return [first, second];
}

/** What a call for all strings with a prefix puts in; `undefined`: no pattern says it. */
export function textsOfPrefix(parameter: string, prefix: string): LateTexts | undefined {
  const pattern = patternOfPrefix(prefix);
  if (pattern === undefined) return undefined;
  return lateTexts(new Map([[parameter, pattern]]), new Set([parameter]));
}

function preparedState(
  segment: Segment,
  { breaker, planKey, bytesPerRowMax }: StatesOrder,
  {
    of: { texts, reach },
    prepared,
    checkpoint,
  }: { readonly of: CallTexts; readonly prepared: PreparedPlan; readonly checkpoint: Checkpoint },
): PreparedState {
  const scan = must(scansOf(breaker)[0], 'a fragment has one scan');
  const counters = newScanCounters();
  const segments = [[segment]];
  const bounds = boundsOf(scan, { window: ALL_TIME, texts, reach });
  const context = { segments, bounds: [bounds], texts, prepared, checkpoint, counters };
  const partial = partialOf(() => executeFragment(breaker, context));
  const rowCount = counters.rowsScanned + counters.rowsSkipped;
  const isWorth = partial !== undefined && partialSize(partial) <= bytesPerRowMax * rowCount;
  const key = callKey(planKey, texts, bounds.reach);
  return { key, rowCount, partial: isWorth ? partial : undefined };
}

/** The texts of a call for another project; a pattern is the same for all, whatever it looks like. */
export function withProject(
  { values, patterns }: LateTexts,
  { from, to }: { readonly from: string; readonly to: string },
): LateTexts {
  return lateTexts(
    new Map(
      Array.from(values, ([name, text]) => [
        name,
        text === from && !patterns.has(name) ? to : text,
      ]),
    ),
    patterns,
  );
}

/** `undefined` where a row, or a limit, fails: so would a query that asks for it, and that shall tell. */
function partialOf(make: () => AggregatePartial): AggregatePartial | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof QueryError || error instanceof RunStoppedError) return undefined;
    throw error;
  }
}

/** The state of all rows of some states; `undefined` as `partialOf` says. */
export function combinedOf(
  breaker: Breaker,
  partials: readonly AggregatePartial[],
  prepared?: PreparedPlan,
): AggregatePartial | undefined {
  return partialOf(() => combineFragments(breaker, partials, prepared));
}

/**
 * Prefixes of strings of a segment, such as the hosts of URLs, from which states of each are not made: twice as many as
 * there are projects on a large host. Beyond them, they tell little from much.
 */
const PREFIXES_MAX = 4096;

/** Prefixes of all segments together that are known for a fragment: to try a pattern on each takes a millisecond. */
const PREFIXES_KNOWN_MAX = 16_384;

/**
 * Prefixes whose strings a pattern may match, at most, for it to be answered from their states: to combine these takes
 * some microseconds each, in each segment.
 */
const PREFIXES_TOLD_MAX = 64;

/**
 * The prefixes of the strings in which a family looks for patterns, of those segments whose states were made ahead.
 */
export class KnownPrefixes {
  /** Of all of these segments together. */
  readonly #all = new Set<string>();
  /** The same, put together when a pattern is first tried on them. */
  #bytes: PrefixBytes | undefined;
  #ofContents = new WeakMap<SegmentContent, ReadonlySet<string>>();
  #version = 0;

  /** Another one as soon as more is known. */
  get version(): number {
    return this.#version;
  }

  note(content: SegmentContent, prefixes: readonly string[]): void {
    // Those of segments that are no more are among them.
    if (this.#all.size + prefixes.length > PREFIXES_KNOWN_MAX) {
      this.#all.clear();
      this.#ofContents = new WeakMap();
    }
    this.#ofContents.set(content, new Set(prefixes));
    for (const prefix of prefixes) this.#all.add(prefix);
    this.#bytes = undefined;
    this.#version += 1;
  }

  of(content: SegmentContent): ReadonlySet<string> | undefined {
    return this.#ofContents.get(content);
  }

  verdictsOf(pattern: string): PrefixVerdicts | undefined {
    this.#bytes ??= bytesOfPrefixes([...this.#all]);
    return prefixVerdicts(pattern, this.#bytes);
  }
}

/**
 * What the prefixes of strings say of a pattern. A string with one of `taken` matches, whatever is behind; of one with
 * one of `open` they do not tell; no other string matches.
 */
export type PrefixVerdicts = {
  readonly taken: readonly string[];
  readonly open: readonly string[];
};

/**
 * The prefixes of the strings at a path, and how many strings have each; `undefined` where it is not known, or they are
 * too many.
 */
function prefixesAt(segment: Segment, path: readonly string[]): StringPrefixes | undefined {
  const counts = new Map<string, number>();
  for (const split of segment.splitsAt?.(path) ?? []) {
    const own = prefixesOf(split, PREFIXES_MAX);
    if (own === undefined) return undefined;
    for (const [prefix, count] of own) counts.set(prefix, (counts.get(prefix) ?? 0) + count);
  }
  return counts.size === 0 || counts.size > PREFIXES_MAX ? undefined : counts;
}

/** Prefixes, and their bytes end to end: `texts[i]` ends at `ends[i]`. */
type PrefixBytes = {
  readonly texts: readonly string[];
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
};

function bytesOfPrefixes(texts: readonly string[]): PrefixBytes {
  const all = texts.map(encodeWtf8);
  const bytes = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (const [index, text] of all.entries()) {
    bytes.set(text, end);
    end += text.length;
    ends[index] = end;
  }
  return { texts, bytes, ends };
}

/**
 * Tries the automaton of a right pattern on prefixes, some tens of nanoseconds each; `undefined` where it has none, or
 * where prefixes leave much open.
 */
function prefixVerdicts(
  pattern: string,
  { texts, bytes, ends }: PrefixBytes,
): PrefixVerdicts | undefined {
  const dfa = compileRegex(pattern).automaton();
  // What may match anywhere is never dead.
  if (dfa === undefined || !dfa.isAtStartOnly) return undefined;
  const taken: string[] = [];
  const open: string[] = [];
  let start = 0;
  for (let index = 0; index < texts.length; index++) {
    const end = ends[index]!;
    const state = dfa.step(dfa.start(), bytes, start, end);
    start = end;
    if (state === DEAD) continue;
    (state === ACCEPTED ? taken : open).push(texts[index]!);
    if (taken.length + open.length > PREFIXES_TOLD_MAX) return undefined;
  }
  return { taken, open };
}

/** Whether all strings with these prefixes match a right pattern, or do not, by their prefixes alone. */
function decidedBy(pattern: string, prefixes: PrefixBytes): boolean {
  const verdicts = prefixVerdicts(pattern, prefixes);
  return verdicts !== undefined && verdicts.taken.length > 0 && verdicts.open.length === 0;
}

/** The pattern that all strings with a prefix match, and no others; `undefined` where there is none. */
function patternOfPrefix(prefix: string): string | undefined {
  // Half of a pair matches nothing.
  if (LONE_SURROGATE.test(prefix)) return undefined;
  const pattern = `^${prefix.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&')}`;
  return Buffer.byteLength(pattern) > REGEX_LENGTH_MAX ? undefined : pattern;
}
