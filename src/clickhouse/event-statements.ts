import { DYNAMIC, INT64 } from '../../engine/columns.ts';
import {
  ALL_TIME,
  type Column,
  EVERYTHING,
  type LogicalPlan,
  type TimeWindow,
} from '../../engine/index.ts';
import type { ScannedEvents } from './render/plan-sql.ts';
import { type RenderedQuery, renderQuery } from './render/query-sql.ts';

/** Events that a statement of weir's own is about. */
export type EventScope = {
  readonly source: string;
  readonly window: TimeWindow;
  readonly scanned: ScannedEvents;
};

const ROOT: Column = { id: 0, name: 'root', type: DYNAMIC };
const COUNT: Column = { id: 1, name: 'count', type: INT64 };

/** A statement that gives some events, at most `count`: in each row the root record, as `{"root":[{…}]}`. */
export function sampleStatement(scope: EventScope, count: number): RenderedQuery {
  return renderQuery(limited(scanOf(scope, [ROOT]), count), [ROOT], scope.scanned);
}

/** A statement that gives the number of events, as `{"count":1}`. */
export function countStatement(scope: EventScope): RenderedQuery {
  const call = { name: 'count', arguments: [], constants: [], distinct: false };
  const aggregates = [{ column: COUNT, call }];
  const plan = { op: 'aggregate', input: scanOf(scope, []), keys: [], aggregates } as const;
  return renderQuery(plan, [COUNT], scope.scanned);
}

/** A statement that gives a row if there is any event of a source. */
export function anyEventStatement(source: string): RenderedQuery {
  const scope = { source, window: ALL_TIME, scanned: { reach: EVERYTHING } };
  return renderQuery(limited(scanOf(scope, []), 1), [], scope.scanned);
}

function scanOf({ source, window }: EventScope, columns: readonly Column[]): LogicalPlan {
  const scanned = columns.map((column) => ({ column, field: 'root' as const }));
  return { op: 'scan', source, columns: scanned, window };
}

function limited(input: LogicalPlan, count: number): LogicalPlan {
  return { op: 'limit', input, count: { op: 'literal', type: INT64, value: count } };
}
