import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MIXED_PROJECTS } from '../../engine/column/batch.ts';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import type { Segment } from '../../engine/column/segment.ts';
import { readSegment } from '../../engine/column/segment-reader.ts';
import { executeQuery } from '../../engine/plan/execute.ts';
import type { LogicalPlan } from '../../engine/plan/logical-plan.ts';
import { foldPlan } from '../../engine/plan/optimize/fold.ts';
import { optimize } from '../../engine/plan/optimize/optimize.ts';
import { type PhysicalPlan, physicalPlanOf, scansOf } from '../../engine/plan/physical-plan.ts';
import { operatorsOf } from '../../engine/plan/physical-walk.ts';
import { prepareQuery } from '../../engine/plan/prepared-query.ts';
import { EVERYTHING } from '../../engine/plan/reach.ts';
import { RowWriter } from '../../engine/plan/row-writer.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';

/** Two sources of the same events: of one the project is a column, of the other a field. */
const SOURCES = [
  { name: 'by_column', projectPath: ['project'] },
  { name: 'by_field', projectPath: ['metadata', 'ref'] },
];

const CALL = { parameters: new Map(), nowUs: 0 };

/** Each with the project key that the rule of its source gives it. */
const EVENTS: Readonly<Record<string, readonly TestEvent[]>> = {
  by_column: [
    { id: 'a', timestampUs: 1, project: 'x', metadata: [{ ref: 'y' }] },
    { id: 'b', timestampUs: 2, project: 'y', metadata: [{ ref: 'x' }] },
    { id: 'c', timestampUs: 3, project: null, metadata: [{ ref: 'x' }, {}] },
    { id: 'd', timestampUs: 4, project: 'x' },
  ],
  by_field: [
    { id: 'a', timestampUs: 1, projectKey: 'x', metadata: [{ ref: 'x', n: 1 }] },
    {
      id: 'b',
      timestampUs: 2,
      projectKey: 'x',
      metadata: [
        { ref: 'x', n: 1 },
        { ref: 'x', n: 2 },
      ],
    },
    { id: 'c', timestampUs: 3, projectKey: MIXED_PROJECTS, metadata: [{ ref: 'x' }, { ref: 'y' }] },
    { id: 'd', timestampUs: 4, projectKey: MIXED_PROJECTS, metadata: [{ n: 1 }, { ref: 'x' }] },
    { id: 'e', timestampUs: 5, projectKey: null, metadata: [{ ref: ['x'] }] },
    { id: 'f', timestampUs: 6, projectKey: null },
    { id: 'g', timestampUs: 7, projectKey: 'y', metadata: [{ ref: 'y' }] },
  ],
};

/** All events of a source in an open segment, or all in sealed ones. */
function segmentsOf(source: string, projectKey: string | undefined, isSealed: boolean): Segment[] {
  const events = EVENTS[source]!;
  const segment = new OpenSegment({ id: 700, arrivalBase: 0 });
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  if (!isSealed) return [readSegment({ ...segment.handle(projectKey), id: nextId++ })];
  const buffers = sealSegment(segment.handle(), { partitionUs: 1e15 });
  return buffers.map((buffer) => readSegment({ kind: 'sealed', id: nextId++, buffer }));
}

let nextId = 70_000;

function idsOf(plan: LogicalPlan, sql: string, isSealed: boolean): string {
  const physical = physicalPlanOf(plan, EVERYTHING);
  const { output } = prepareQuery(sql, { sources: SOURCES, parameters: [] }).bound;
  const rows = new RowWriter(output, physical, new JsonBuffer());
  const segments = scansOf(physical).map((scan) =>
    segmentsOf(scan.source, scan.projectKey, isSealed),
  );
  executeQuery(physical, { segments, checkpoint: () => {} }, rows);
  const answer = JSON.parse(Buffer.from(rows.finish().json).toString()) as { id: string }[];
  return answer
    .map(({ id }) => id)
    .sort()
    .join(' ');
}

function optimized(sql: string): LogicalPlan {
  const { bound } = prepareQuery(sql, { sources: SOURCES, parameters: [] });
  return optimize(bound, { ...CALL, rowsMax: 1000, sources: SOURCES });
}

/** Whether a filter of the plan leaves a conjunct to the scan. */
function isLeftToScan(plan: PhysicalPlan): boolean {
  return operatorsOf(plan).some((node) => node.op === 'filter' && node.impliedByProject.length > 0);
}

const WITH_ELEMENTS = 'by_field AS t, UNNEST(t.metadata) AS m';

for (const { title, sql, ids, isLeft } of [
  {
    title: 'the declared column',
    sql: "SELECT id FROM by_column WHERE project = 'x'",
    ids: 'a d',
    isLeft: true,
  },
  {
    title: 'the declared column, below an UNNEST',
    sql: "SELECT t.id FROM by_column AS t, UNNEST(t.metadata) AS m WHERE 'x' = project",
    ids: 'a',
    isLeft: true,
  },
  {
    title: 'a field of another source',
    sql: "SELECT t.id FROM by_column AS t, UNNEST(t.metadata) AS m WHERE m.ref = 'x'",
    ids: 'b c',
    isLeft: false,
  },
  {
    title: 'a field of unnested metadata, beside other conditions',
    sql: `SELECT t.id FROM ${WITH_ELEMENTS} WHERE m.n = 1 AND m.ref = 'x'`,
    ids: 'a b',
    isLeft: true,
  },
  {
    title: 'a field of unnested metadata, of mixed events too',
    sql: `SELECT t.id FROM ${WITH_ELEMENTS} WHERE m.ref = 'x'`,
    ids: 'a b b c d',
    isLeft: true,
  },
  {
    title: 'a field of one element by its place',
    sql: "SELECT id FROM by_field AS t WHERE t.metadata[SAFE_OFFSET(0)].ref = 'x'",
    ids: 'a b c',
    isLeft: false,
  },
  {
    title: 'a field behind a LEFT JOIN UNNEST, which makes rows of NULLs',
    sql: `SELECT t.id FROM by_field AS t LEFT JOIN UNNEST(t.metadata) AS m ON m.n = 2
      WHERE m.ref = 'x'`,
    ids: 'b',
    isLeft: false,
  },
  {
    title: 'an element of the field itself',
    sql: `SELECT t.id FROM ${WITH_ELEMENTS}, UNNEST(m.ref) AS r WHERE r = 'x'`,
    ids: 'e',
    isLeft: false,
  },
  {
    title: 'the field on one side of a join',
    sql: `SELECT t.id FROM ${WITH_ELEMENTS} JOIN by_column AS o ON o.id = t.id
      WHERE m.ref = 'x' AND o.project = 'x'`,
    ids: 'a d',
    isLeft: true,
  },
]) {
  test(`${title}: the answer is that of the plan as bound`, () => {
    const plan = optimized(sql);
    const { bound } = prepareQuery(sql, { sources: SOURCES, parameters: [] });
    for (const isSealed of [false, true]) {
      assert.equal(idsOf(foldPlan(bound.plan, CALL), sql, isSealed), ids, 'as bound');
      assert.equal(idsOf(plan, sql, isSealed), ids, isSealed ? 'sealed' : 'open');
    }
    assert.equal(isLeftToScan(physicalPlanOf(plan, EVERYTHING)), isLeft);
  });
}

test('a scan filters by the project of one record at a fixed position', () => {
  const sql = "SELECT id FROM by_field AS t WHERE t.metadata[SAFE_OFFSET(0)].ref = 'x'";
  const element = sql.replace('.ref', '.ref[SAFE_OFFSET(0)]');
  const projects = [sql, element].map((text) =>
    scansOf(physicalPlanOf(optimized(text), EVERYTHING)).map(({ projectKey }) => projectKey),
  );
  // A list where the project stands names none.
  assert.deepEqual(projects, [['x'], [undefined]]);
});
