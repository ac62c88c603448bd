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
import { EVERYTHING } from '../plan/reach.ts';
import { QueryError } from '../query-error.ts';
import { callKey } from './fragment.ts';
import { partialSize } from './partial-size.ts';

/** A call of a plan that calls for other projects share. */
export type FamilyCall = {
  readonly project: string;
  /** With the project among them, or by its side. */
  readonly texts: LateTexts;
  /** Whether its reach is the project alone; else it is everything. */
  readonly isOwn: boolean;
  /** Calls share it that differ in the project alone. */
  readonly familyKey: string;
};

/** What is to be made of a segment ahead: the states of a fragment for each project with rows enough. */
export type StatesOrder = {
  readonly breaker: Breaker;
  readonly planKey: string;
  readonly call: FamilyCall;
  /** What calls had in the place of the project: none a project of the segment, and it is something else. */
  readonly projects: readonly string[];
  readonly rowsMin: number;
  readonly bytesPerRowMax: number;
};

export type PreparedState = {
  /** Of the project's fragment. */
  readonly key: string;
  readonly rowCount: number;
  /** Absent: it is not worth to be kept, or there is none. */
  readonly partial?: AggregatePartial | undefined;
};

export function prepareStates(
  segment: Segment,
  { breaker, planKey, call, projects, rowsMin, bytesPerRowMax }: StatesOrder,
  checkpoint: Checkpoint,
): readonly PreparedState[] {
  const scan = must(scansOf(breaker)[0], 'a fragment has one scan');
  const present = new Set(segment.projectsWith(1));
  if (!projects.some((project) => present.has(project))) return [];
  const states: PreparedState[] = [];
  const prepared = new PreparedPlan();
  for (const project of segment.projectsWith(rowsMin)) {
    const texts = withProject(call.texts, { from: call.project, to: project });
    const reach = call.isOwn ? { ...EVERYTHING, projects: [project] } : EVERYTHING;
    const bounds = boundsOf(scan, { window: ALL_TIME, texts, reach });
    const counters = newScanCounters();
    const segments = [[segment]];
    const context = { segments, bounds: [bounds], texts, prepared, checkpoint, counters };
    const partial = partialOf(() => executeFragment(breaker, context) as AggregatePartial);
    const rowCount = counters.rowsScanned + counters.rowsSkipped;
    const isWorth = partial !== undefined && partialSize(partial) <= bytesPerRowMax * rowCount;
    const key = callKey(planKey, texts, bounds.reach);
    states.push({ key, rowCount, partial: isWorth ? partial : undefined });
  }
  return states;
}

/** The texts of a call for another project. */
export function withProject(
  { values, patterns }: LateTexts,
  { from, to }: { readonly from: string; readonly to: string },
): LateTexts {
  return lateTexts(
    new Map(Array.from(values, ([name, text]) => [name, text === from ? to : text])),
    patterns,
  );
}

/** `undefined` where a row, or a limit, fails: so would a query that asks for it, and that shall tell. */
export function partialOf(make: () => AggregatePartial): AggregatePartial | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}
