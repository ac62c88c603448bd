import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import type { Segment, SegmentHandle } from '../../engine/column/segment.ts';
import { readSegment } from '../../engine/column/segment-reader.ts';
import { type Coverage, ordersOf } from '../../engine/memo/coverage.ts';
import type { MemoRuns } from '../../engine/memo/memo-runs.ts';
import { runPieces } from '../../engine/memo/run-pieces.ts';
import { newScanCounters } from '../../engine/operator/scan.ts';
import {
  type ExecutionContext,
  executeBeside,
  executeFragment,
  executeQuery,
  finishQuery,
} from '../../engine/plan/execute.ts';
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
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { EVERYTHING } from '../../engine/plan/reach.ts';
import { RowWriter } from '../../engine/plan/row-writer.ts';
import { takePieces } from '../../engine/pool/fragment-shares.ts';
import { QueryError } from '../../engine/query-error.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
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

/** Readers are kept by the segment's id, so none may come twice in a process: other tests have lower ones, or much higher. */
let segmentCount = 100_000_000;

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

/**
 * The answer as the bytes a caller gets, as text; `error` when the query fails or is refused. Throws an
 * OutOfRange after `checkpointsMax` pieces of work.
 */
export function engineJson(
  sql: string,
  segmentsOf: SegmentsOf,
  form: PlanForm,
  checkpointsMax = CHECKPOINTS_MAX,
): string {
  return orError(() => {
    const { bound, physical } = prepared(sql, form);
    const segments = scansOf(physical).map(segmentsOf);
    return jsonOf(bound, physical, (rows) => {
      executeQuery(physical, { segments, checkpoint: limitedCheckpoint(checkpointsMax) }, rows);
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
export function fragmentedJson(
  sql: string,
  segmentsOf: SegmentsOf,
  by: 'segments' | 'rows' = 'segments',
  checkpointsMax = CHECKPOINTS_MAX,
): string | undefined {
  const { bound, physical } = prepared(sql, 'optimized');
  if (breakerOf(physical) === undefined) return undefined;
  const checkpoint = limitedCheckpoint(checkpointsMax);
  return orError(() => {
    const segments = segmentsOf(scansOf(physical)[0]!);
    const fragments: readonly Pick<ExecutionContext, 'segments' | 'slice'>[] =
      by === 'segments'
        ? segments.map((segment) => ({ segments: [[segment]] }))
        : [0, 1, 2].map((index) => ({ segments: [segments], slice: { index, count: 3 } }));
    const partials = fragments.map((fragment) =>
      structuredClone(executeFragment(physical, { ...fragment, checkpoint })),
    );
    return jsonOf(bound, physical, (rows) => {
      finishQuery(physical, { segments: [[]], checkpoint }, partials, rows);
    });
  });
}

/** A scan's segments, as the main thread knows them. */
export type HandlesOf = (scan: PhysicalScan) => readonly SegmentHandle[];

/**
 * The same as `engineJson`, with what is remembered of segments, and what comes of it is remembered; nothing
 * when there is nothing to remember.
 */
export function rememberingJson(
  sql: string,
  handlesOf: HandlesOf,
  memo: MemoRuns,
  size: 'small' | 'any' = 'any',
): { readonly json: string; readonly coverage: Coverage } | undefined {
  const { bound, physical } = prepared(sql, 'optimized');
  const scans = scansOf(physical);
  const handles = scans.map(handlesOf);
  const snapshot = { plan: physical, scans, segments: handles };
  const coverage = size === 'small' ? memo.coverSmall(snapshot) : memo.cover(snapshot);
  if (coverage === undefined || coverage === 'not few') return undefined;
  const { pieces } = coverage;
  const checkpoint = limitedCheckpoint();
  const json = orError(() => {
    const context = {
      segments: [pieces.map(({ handle }) => readSegment(handle))],
      checkpoint,
      counters: newScanCounters(),
    };
    if (size === 'small' && coverage.partials.length > 0) {
      return jsonOf(bound, physical, (rows) => {
        executeBeside(physical, context, coverage.partials, rows);
      });
    }
    const result = structuredClone(runPieces(physical, context, ordersOf(pieces, coverage)));
    const partials = takePieces(pieces, result, { coverage, memo });
    return jsonOf(bound, physical, (rows) => {
      const all = [...coverage.partials, ...partials];
      finishQuery(physical, { segments: [[]], checkpoint }, all, rows);
    });
  });
  return { json, coverage };
}

/** Pieces of work (chunks of rows, groups finished) after which a query takes longer than its answer is worth. */
const CHECKPOINTS_MAX = 60;

/** Throws an OutOfRange when a query goes on and on, as products of products do. */
function limitedCheckpoint(checkpointsMax = CHECKPOINTS_MAX): () => void {
  let count = 0;
  return () => {
    count++;
    if (count > checkpointsMax) throw new OutOfRange(`more than ${checkpointsMax} checkpoints`);
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
  return { bound, physical: physicalPlanOf(planOf(bound, form), EVERYTHING) };
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
