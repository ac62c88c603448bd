import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import type { Segment } from '../../engine/column/segment.ts';
import { readSegment } from '../../engine/column/segment-reader.ts';
import { bindQuery } from '../../engine/plan/bind-query.ts';
import { executeQuery } from '../../engine/plan/execute.ts';
import type { BoundQuery, LogicalPlan } from '../../engine/plan/logical-plan.ts';
import { foldPlan } from '../../engine/plan/optimize/fold.ts';
import { optimize } from '../../engine/plan/optimize/optimize.ts';
import { type PhysicalScan, physicalPlanOf, scansOf } from '../../engine/plan/physical-plan.ts';
import { RowWriter } from '../../engine/plan/row-writer.ts';
import { QueryError } from '../../engine/query-error.ts';
import { parseQuery } from '../../engine/sql/parser.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';
import { fuzzSeed, numberFrom } from '../fuzz/seed.ts';
import { Random, randomQuery } from './random-query.ts';

const SOURCES = [{ name: 'logs', projectPath: ['project'] }];
const NOW_US = Date.parse('2026-01-15T12:00:00Z') * 1000;
const QUERY_COUNT = numberFrom('WEIR_OPTIMIZER_QUERIES', 600);

function at(clock: string): number {
  return Date.parse(`2026-01-15T${clock}Z`) * 1000;
}

const EVENTS: readonly TestEvent[] = [
  { id: 'a', timestampUs: at('00:00:00'), project: 'x', metadata: [{ n: 1, s: 'x', v: [1, 2] }] },
  {
    id: 'b',
    timestampUs: at('00:59:59.999'),
    project: 'y',
    metadata: [{ n: 2 }, { n: 3, s: 'y' }],
  },
  { id: 'c', timestampUs: at('01:00:00'), project: 'x', metadata: [{ n: 'one', s: null, v: [] }] },
  { id: 'd', timestampUs: at('01:30:00'), project: null, metadata: [] },
  { id: 'e', timestampUs: at('01:00:00'), project: 'xy' },
  {
    id: 'f',
    timestampUs: at('02:10:00'),
    project: 'x',
    metadata: [{ n: 2, s: 'xy', v: [null, 3] }],
  },
];

/** The first half of the events sealed, the others in an open segment. */
const sealed = segmentOf(0, EVENTS.slice(0, 3));
const open = segmentOf(3, EVENTS.slice(3));
const BUFFERS = sealSegment(sealed.handle(), { partitionUs: 1e15 });

function segmentOf(arrivalBase: number, events: readonly TestEvent[]): OpenSegment {
  const segment = new OpenSegment({ id: 100 + arrivalBase, arrivalBase });
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  return segment;
}

function segmentsOf(scan: PhysicalScan): readonly Segment[] {
  const old = BUFFERS.map((buffer, id) => readSegment({ kind: 'sealed', id, buffer }));
  return [...old, readSegment(open.handle(scan.projectKey))];
}

/** The rows of a plan, each as JSON; or the code of what it throws. */
function answerOf(plan: LogicalPlan, bound: BoundQuery): readonly string[] | string {
  const physical = physicalPlanOf(plan);
  const rows = new RowWriter(bound.output, physical, new JsonBuffer());
  const segments = scansOf(physical).map(segmentsOf);
  try {
    executeQuery(physical, { segments, checkpoint: () => {} }, rows);
  } catch (error) {
    if (error instanceof QueryError) return error.code;
    throw error;
  }
  const json = JSON.parse(Buffer.from(rows.finish().json).toString()) as readonly unknown[];
  return json.map((row) => JSON.stringify(row));
}

type Answers = { readonly plain: Answer; readonly optimized: Answer };

function answersOf(sql: string, seed: number): Answers {
  try {
    return bothAnswers(sql);
  } catch (cause) {
    throw new Error(`seed ${seed}: ${sql}`, { cause });
  }
}

function bothAnswers(sql: string): Answers {
  const bound = bindQuery(parseQuery(sql), { sources: SOURCES, parameters: [] });
  const call = { parameters: new Map(), nowUs: NOW_US };
  const plain = answerOf(foldPlan(bound.plan, call), bound);
  const context = { ...call, sources: SOURCES, rowsMax: 1e6 };
  return { plain, optimized: answerOf(optimize(bound, context), bound) };
}

type Answer = readonly string[] | string;

function inAnyOrder(answer: Answer): Answer {
  return typeof answer === 'string' ? answer : [...answer].sort();
}

test('an optimised plan answers what the plain one does', (context) => {
  const seed = fuzzSeed();
  let rowCount = 0;
  for (let index = 0; index < QUERY_COUNT; index++) {
    const own = (seed + index) >>> 0;
    const { sql, isOrdered } = randomQuery(new Random(own));
    const { plain, optimized } = answersOf(sql, own);
    // An optimised plan need not compute what fails.
    if (typeof plain === 'string') continue;
    rowCount += plain.length;
    const [got, wanted] = isOrdered
      ? [optimized, plain]
      : [inAnyOrder(optimized), inAnyOrder(plain)];
    assert.deepEqual(got, wanted, `seed ${own}: ${sql}`);
  }
  context.diagnostic(`seed ${seed}: ${QUERY_COUNT} queries, ${rowCount} rows`);
});

test('the offset of a left unnest is kept for its condition, though nothing selects it', () => {
  const list = "UNNEST(['p', 'q']) AS e WITH OFFSET AS o";
  const { plain, optimized } = bothAnswers(
    `SELECT id, e FROM logs LEFT JOIN ${list} ON o = 1 WHERE id < 'c' ORDER BY id`,
  );
  assert.deepEqual(optimized, ['{"id":"a","e":"q"}', '{"id":"b","e":"q"}']);
  assert.deepEqual(plain, optimized);
});
