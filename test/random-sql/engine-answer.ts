import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import type { Segment } from '../../engine/column/segment.ts';
import { readSegment } from '../../engine/column/segment-reader.ts';
import { bindQuery } from '../../engine/plan/bind-query.ts';
import { executeFragment, executeQuery, finishQuery } from '../../engine/plan/execute.ts';
import type { BoundQuery, LogicalPlan } from '../../engine/plan/logical-plan.ts';
import { foldPlan } from '../../engine/plan/optimize/fold.ts';
import { optimize } from '../../engine/plan/optimize/optimize.ts';
import {
  breakerOf,
  type PhysicalPlan,
  type PhysicalScan,
  physicalPlanOf,
  scansOf,
} from '../../engine/plan/physical-plan.ts';
import { RowWriter } from '../../engine/plan/row-writer.ts';
import { QueryError } from '../../engine/query-error.ts';
import { parseQuery } from '../../engine/sql/parser.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';
import type { Answer } from './answer.ts';
import { OutOfRange } from './failure.ts';

const SOURCES = [{ name: 'logs', projectPath: ['project'] }];
const CALL = { parameters: new Map(), nowUs: Date.parse('2026-01-15T12:00:00Z') * 1000 };
const ROWS_MAX = 1e6;

/** Which segments a scan reads. */
export type SegmentsOf = (scan: PhysicalScan) => readonly Segment[];

/** `plain`: as it was bound, no pass of the optimiser but that parameters and clock are put in. */
export type PlanForm = 'optimized' | 'plain';

let segmentCount = 0;

/** The events in segments: those before `sealedCount` sealed, the others open. */
export function segmentsOfEvents(events: readonly TestEvent[], sealedCount: number): SegmentsOf {
  const sealed = openSegmentOf(0, events.slice(0, sealedCount));
  const open = openSegmentOf(sealedCount, events.slice(sealedCount));
  const readers = sealSegment(sealed.handle(), { partitionUs: PARTITION_US }).map((buffer) =>
    readSegment({ kind: 'sealed', id: ++segmentCount, buffer }),
  );
  return (scan) => [...readers, readSegment(open.handle(scan.projectKey))];
}

/** A day, so that the events lie in several segments. */
const PARTITION_US = 86_400_000_000;

function openSegmentOf(arrivalBase: number, events: readonly TestEvent[]): OpenSegment {
  const segment = new OpenSegment({ id: ++segmentCount, arrivalBase });
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  return segment;
}

/** The answer as the bytes a caller gets, as text; `error` when the query fails or is refused. */
export function engineJson(sql: string, segmentsOf: SegmentsOf, form: PlanForm): string {
  return orError(() => {
    const { bound, physical } = prepared(sql, form);
    const segments = scansOf(physical).map(segmentsOf);
    return jsonOf(bound, physical, (rows) => {
      executeQuery(physical, { segments, checkpoint: limitedCheckpoint() }, rows);
    });
  });
}

export function engineAnswer(sql: string, segmentsOf: SegmentsOf, form: PlanForm): Answer {
  const json = engineJson(sql, segmentsOf, form);
  if (json === 'error') return json;
  return (JSON.parse(json) as object[]).map((row) => Object.values(row));
}

/**
 * The same as `engineJson`, the grouping cut into one fragment for each segment, whose partial states
 * meet as they do between workers; nothing when the plan cannot be cut.
 */
export function fragmentedJson(sql: string, segmentsOf: SegmentsOf): string | undefined {
  const { bound, physical } = prepared(sql, 'optimized');
  if (breakerOf(physical) === undefined) return undefined;
  const checkpoint = limitedCheckpoint();
  return orError(() => {
    const [scan] = scansOf(physical);
    const partials = segmentsOf(scan!).map((segment) =>
      structuredClone(executeFragment(physical, { segments: [[segment]], checkpoint })),
    );
    return jsonOf(bound, physical, (rows) => {
      finishQuery(physical, { segments: [[]], checkpoint }, partials, rows);
    });
  });
}

/** Chunks of work after which a query takes longer than its answer is worth. */
const CHECKPOINTS_MAX = 60;

/** Throws an OutOfRange when a query goes on and on, as products of products do. */
function limitedCheckpoint(): () => void {
  let count = 0;
  return () => {
    count++;
    if (count > CHECKPOINTS_MAX) throw new OutOfRange(`more than ${CHECKPOINTS_MAX} chunks`);
  };
}

function orError(run: () => string): string {
  try {
    return run();
  } catch (error) {
    if (error instanceof QueryError) return 'error';
    throw error;
  }
}

function prepared(sql: string, form: PlanForm) {
  const bound = bindQuery(parseQuery(sql), { sources: SOURCES, parameters: [] });
  return { bound, physical: physicalPlanOf(planOf(bound, form)) };
}

function planOf(bound: BoundQuery, form: PlanForm): LogicalPlan {
  if (form === 'plain') return foldPlan(bound.plan, CALL);
  return optimize(bound, { ...CALL, sources: SOURCES, rowsMax: ROWS_MAX });
}

function jsonOf(
  bound: BoundQuery,
  plan: PhysicalPlan,
  pushRows: (rows: RowWriter) => void,
): string {
  const rows = new RowWriter(bound.output, plan, new JsonBuffer());
  pushRows(rows);
  return Buffer.from(rows.finish().json).toString();
}
