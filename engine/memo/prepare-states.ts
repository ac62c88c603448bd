import type { Segment } from '../column/segment.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import { newScanCounters } from '../operator/scan.ts';
import type { Checkpoint } from '../operator/sink.ts';
import { executeFragment } from '../plan/execute.ts';
import { ALL_TIME } from '../plan/logical-plan.ts';
import type { Breaker } from '../plan/physical-plan.ts';
import { QueryError } from '../query-error.ts';
import { withProject } from './canonical-plan.ts';
import { fragmentKey } from './fragment.ts';
import { partialSize } from './partial-size.ts';

/** What is to be made of a segment ahead: the states of a fragment for each project with rows enough. */
export type StatesOrder = {
  readonly breaker: Breaker;
  /** The project that the fragment has. */
  readonly projectKey: string;
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
  { breaker, projectKey, rowsMin, bytesPerRowMax }: StatesOrder,
  checkpoint: Checkpoint,
): readonly PreparedState[] {
  const states: PreparedState[] = [];
  for (const project of segment.projectsWith(rowsMin)) {
    const plan = withProject(breaker, { from: projectKey, to: project });
    const key = fragmentKey(plan);
    if (key === undefined) continue;
    const counters = newScanCounters();
    const context = { segments: [[segment]], windows: [ALL_TIME], checkpoint, counters };
    const partial = partialOf(() => executeFragment(plan, context) as AggregatePartial);
    const rowCount = counters.rowsScanned + counters.rowsSkipped;
    const isWorth = partial !== undefined && partialSize(partial) <= bytesPerRowMax * rowCount;
    states.push({ key, rowCount, partial: isWorth ? partial : undefined });
  }
  return states;
}

/** `undefined` where a row fails: so would a query that asks for it, and that shall tell. */
function partialOf(make: () => AggregatePartial): AggregatePartial | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}
