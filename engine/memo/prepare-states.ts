import { must } from '../assert.ts';
import type { Segment } from '../column/segment.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import { newScanCounters } from '../operator/scan.ts';
import type { Checkpoint } from '../operator/sink.ts';
import { executeFragment } from '../plan/execute.ts';
import { boundsOf, type LateTexts, lateTexts } from '../plan/late-texts.ts';
import { ALL_TIME } from '../plan/logical-plan.ts';
import { type Breaker, scansOf } from '../plan/physical-plan.ts';
import { PreparedPlan } from '../plan/prepared-plan.ts';
import { EVERYTHING, type Reach } from '../plan/reach.ts';
import { QueryError, RunStoppedError } from '../query-error.ts';
import { callKey } from './fragment.ts';
import { type PackedStates, StatePacker } from './partial-memo.ts';
import { partialSize } from './run-pieces.ts';
import { bytesOfPrefixes, decidedBy, patternOfPrefix, prefixesAt } from './text-prefixes.ts';

/** A call of a plan that calls with other texts share. */
export type FamilyCall = ProjectCall | PatternCall;

/** Others are for other projects. */
export type ProjectCall = {
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
export type PatternCall = {
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
  readonly call: FamilyCall;
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
  call: ProjectCall,
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
  { parameter, path }: PatternCall,
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
export function partialOf(make: () => AggregatePartial): AggregatePartial | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof QueryError || error instanceof RunStoppedError) return undefined;
    throw error;
  }
}
