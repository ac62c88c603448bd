import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Chunk, LazyChunk } from '../../engine/column/chunk.ts';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import type { Segment } from '../../engine/column/segment.ts';
import { readSegment } from '../../engine/column/segment-reader.ts';
import { constantVector } from '../../engine/column/vector.ts';
import type { Sink } from '../../engine/operator/sink.ts';
import {
  type ExecutionContext,
  executeFragment,
  executeQuery,
  finishQuery,
} from '../../engine/plan/execute.ts';
import { optimize } from '../../engine/plan/optimize/optimize.ts';
import { type PhysicalPlan, physicalPlanOf } from '../../engine/plan/physical-plan.ts';
import { operatorsOf } from '../../engine/plan/physical-walk.ts';
import {
  combineProfiles,
  type PlanProfile,
  PlanProfiler,
  ProfiledSink,
  Profiler,
} from '../../engine/plan/plan-profile.ts';
import { prepareQuery } from '../../engine/plan/prepared-query.ts';
import { EVERYTHING } from '../../engine/plan/reach.ts';
import { RowWriter } from '../../engine/plan/row-writer.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';

const SOURCES = [{ name: 'logs', projectPath: ['project'] }];
const [SCAN, FILTER, BASE] = [0, 1, 2];

/** A clock that moves only when it is told to. */
class StepClock {
  nowMs = 0;
  readonly read = (): number => this.nowMs;

  pass(ms: number): void {
    this.nowMs += ms;
  }
}

test('each moment belongs to the operator at work, whoever called it', () => {
  const clock = new StepClock();
  const profiler = new Profiler({ operatorCount: 3, base: BASE, nowMs: clock.read });
  const slowColumn = (count: number): Chunk => {
    const column = () => {
      clock.pass(100);
      return constantVector(1, count);
    };
    const source = { column, select: () => source };
    return new LazyChunk(source, count);
  };
  const filter: Sink = {
    push(chunk) {
      clock.pass(7);
      // Read twice and of a selection too: what is at hand costs no more.
      chunk.column(0);
      chunk.column(0);
      chunk.select(Int32Array.of(0), 1).column(0);
      return true;
    },
  };
  clock.pass(1000);
  profiler.within(SCAN, () => {
    clock.pass(20);
    const sink = new ProfiledSink(profiler, { from: SCAN, to: FILTER }, filter);
    assert.equal(sink.push(slowColumn(3)), true);
    clock.pass(3);
  });
  assert.deepEqual(profiler.profiles(), [
    { rowCount: 3, chunkCount: 1, selfMs: 123 },
    { rowCount: 0, chunkCount: 0, selfMs: 7 },
    { rowCount: 0, chunkCount: 0, selfMs: 1000 },
  ]);
});

test('an operator that throws has left', () => {
  const clock = new StepClock();
  const profiler = new Profiler({ operatorCount: 3, base: BASE, nowMs: clock.read });
  assert.throws(() =>
    profiler.within(SCAN, () => {
      clock.pass(5);
      throw new Error('the row has no answer');
    }),
  );
  assert.equal(profiler.current, BASE);
  clock.pass(2);
  assert.deepEqual(
    profiler.profiles().map(({ selfMs }) => selfMs),
    [5, 0, 2],
  );
});

const EVENTS: readonly TestEvent[] = [
  { id: 'a', timestampUs: 1_000, project: 'x', metadata: [{ n: 1 }] },
  { id: 'b', timestampUs: 2_000, project: 'y', metadata: [{ n: 2 }, { n: 3 }] },
  { id: 'c', timestampUs: 3_000, project: 'x', metadata: [{ n: 3 }] },
  { id: 'd', timestampUs: 4_000, project: 'x', metadata: [{ n: 3 }, { n: 4 }] },
  { id: 'e', timestampUs: 5_000, project: 'x' },
];

function segmentOf(events: readonly TestEvent[], arrivalBase: number): OpenSegment {
  const segment = new OpenSegment({ id: 900 + arrivalBase, arrivalBase });
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  return segment;
}

/** The first two events sealed, the other three open. */
function segmentsOf(): readonly [Segment, Segment] {
  const [buffer] = sealSegment(segmentOf(EVENTS.slice(0, 2), 0).handle(), { partitionUs: 1e15 });
  const sealed = readSegment({ kind: 'sealed', id: 990, buffer: buffer! });
  return [sealed, readSegment(segmentOf(EVENTS.slice(2), 2).handle('x'))];
}

type Run = { readonly json: string; readonly profile: PlanProfile | undefined };

function planOf(sql: string): { plan: PhysicalPlan; newWriter: () => RowWriter } {
  const { bound } = prepareQuery(sql, { sources: SOURCES, parameters: [] });
  const context = { parameters: new Map(), nowUs: 0, rowsMax: 1000, sources: SOURCES };
  const plan = physicalPlanOf(optimize(bound, context), EVERYTHING);
  return { plan, newWriter: () => new RowWriter(bound.output, plan, new JsonBuffer()) };
}

/** The same segments for each scan. */
function contextOf(segments: readonly Segment[], profiler?: PlanProfiler): ExecutionContext {
  return { segments: [segments, segments], checkpoint: () => {}, profiler };
}

function run(sql: string, isProfiled: boolean): Run {
  const { plan, newWriter } = planOf(sql);
  const profiler = isProfiled ? new PlanProfiler(plan, () => 0) : undefined;
  const rows = newWriter();
  executeQuery(plan, contextOf(segmentsOf(), profiler), rows);
  return { json: Buffer.from(rows.finish().json).toString(), profile: profiler?.profile() };
}

/** Each operator of a plan and the rows it gave, from the top down. */
function rowCounts(sql: string): readonly string[] {
  const { plan } = planOf(sql);
  const { profile } = run(sql, true);
  return operatorsOf(plan).map(({ op }, number) => `${op} ${profile!.operators[number]!.rowCount}`);
}

const GROUPED = `SELECT m.n, COUNT(*) AS count FROM logs, UNNEST(metadata) AS m
  WHERE project = 'x' AND m.n > 1 GROUP BY m.n ORDER BY m.n`;
const NEWEST = `SELECT id FROM logs WHERE project = 'x' ORDER BY timestamp DESC LIMIT 2`;

test('every operator counts the rows it gave', () => {
  // Of x are a, c, d and e; y is in the sealed segment, but not in the project's run.
  assert.deepEqual(rowCounts(GROUPED), [
    ...['project 2', 'top 2', 'aggregate 2', 'filter 3', 'unnest 4', 'filter 4', 'scan 4'],
  ]);
});

test('a join counts the rows of both its sides', () => {
  const sql = `SELECT l.id FROM logs AS l JOIN UNNEST(['x', 'x', 'z']) AS p ON l.project = p`;
  const counts = rowCounts(sql).map((line) => line.split(' '));
  const countOf = (op: string) => counts.find(([name]) => name === op)?.[1];
  // The open segment is that of x, whose chain has three; each of the four of x finds two partners.
  assert.deepEqual([countOf('join'), countOf('rows'), countOf('scan')], ['8', '3', '5']);
});

test('the operators of a subquery count their rows, and stand behind those that it has its rows from', () => {
  const sql = `SELECT id FROM logs AS t WHERE project = 'x' AND EXISTS(
    SELECT 1 FROM logs AS u, UNNEST(u.metadata) AS m WHERE m.n = 3 AND u.id = t.id)`;
  assert.deepEqual(rowCounts(sql), [
    ...['project 2', 'top 2', 'filter 2', 'scan 4'],
    ...['project 2', 'join 2', 'outer 4', 'aggregate 3', 'filter 3', 'unnest 6', 'scan 5'],
  ]);
});

test('a scan tells what it read, and from where on rows were wanted in the end', () => {
  const [scan] = run(NEWEST, true).profile!.scans;
  assert.deepEqual(scan, {
    rowsScanned: 3,
    rowsFromMemo: 0,
    rememberedCount: 0,
    rowsSkipped: 0,
    segmentsScanned: 1,
    // Its newest event is older than the second newest of the open segment.
    segmentsSkipped: 1,
    openCount: 1,
    sealedCount: 0,
    segmentRowCount: 3,
    floorUs: 4_000,
  });
  const [all] = run(GROUPED, true).profile!.scans;
  assert.deepEqual([all!.openCount, all!.sealedCount, all!.segmentRowCount], [1, 1, 5]);
  assert.equal(all!.floorUs, undefined);
});

test('a scan tells of how many rows it knew without a look that they lack a text', () => {
  const events = Array.from({ length: 2400 }, (_, n) => ({
    timestampUs: n,
    metadata: { url: `https://example.com/${n === 9 ? 'needle' : 'hay'}/`.padEnd(90, `${n}/`) },
  }));
  const [buffer] = sealSegment(segmentOf(events, 0).handle(), { partitionUs: 1e15 });
  const sealed = readSegment({ kind: 'sealed', id: 991, buffer: buffer! });
  const { plan, newWriter } = planOf(
    "SELECT id FROM logs AS t, UNNEST(t.metadata) AS m WHERE m.url LIKE '%needle%'",
  );
  const profiler = new PlanProfiler(plan, () => 0);
  const rows = newWriter();
  executeQuery(plan, contextOf([sealed], profiler), rows);
  assert.equal(rows.finish().rowCount, 1);
  const [scan] = profiler.profile().scans;
  // The row with the word: text of another one of its block, which is in no table, was read for it.
  assert.deepEqual([scan!.rowsScanned, scan!.rowsSkipped], [1, 2399]);
});

test('a measured run answers what any other does', () => {
  for (const sql of [
    GROUPED,
    NEWEST,
    'SELECT id, metadata FROM logs WHERE id > "a"',
    'SELECT 1 AS one',
    'SELECT id, (SELECT COUNT(*) FROM UNNEST(t.metadata)) AS n FROM logs AS t',
    'SELECT id FROM logs WHERE id IN (SELECT id FROM logs WHERE project = "x")',
  ]) {
    assert.equal(run(sql, true).json, run(sql, false).json);
  }
});

test('all times together are the time that passed, for a plan in one piece and in fragments', () => {
  const { plan, newWriter } = planOf(GROUPED);
  const clock = { nowMs: 0 };
  // Each look at the clock takes a millisecond, so that time passes wherever there is work.
  const tick = (): number => clock.nowMs++;
  const [sealed, open] = segmentsOf();
  const whole = new PlanProfiler(plan, tick);
  const rows = newWriter();
  executeQuery(plan, contextOf([sealed, open], whole), rows);
  const profile = whole.profile();
  assert.equal(totalMs(profile), clock.nowMs - 1);
  assert.ok(profile.operators.every(({ selfMs }) => selfMs > 0));

  const parts = [sealed, open].map((segment) => {
    const profiler = new PlanProfiler(plan, tick);
    const partial = executeFragment(plan, contextOf([segment], profiler));
    return { partial, profile: profiler.profile() };
  });
  const finish = new PlanProfiler(plan, tick);
  const combined = newWriter();
  const partials = parts.map(({ partial }) => partial);
  finishQuery(plan, contextOf([], finish), partials, combined);
  const finished = finish.profile();
  const profiles = parts.map((part) => part.profile);
  const all = combineProfiles(profiles, finished);
  assert.equal(all.fragmentCount, 2);
  const sumMs = [...profiles, finished].reduce((sum, each) => sum + totalMs(each), 0);
  assert.equal(totalMs(all), sumMs);
  const countsOf = ({ operators }: PlanProfile) => operators.map(({ rowCount }) => rowCount);
  assert.deepEqual(countsOf(all), countsOf(profile));
  assert.deepEqual(all.scans, profile.scans);
  assert.deepEqual(combined.finish().json, rows.finish().json);
});

function totalMs({ operators, answerMs, otherMs }: PlanProfile): number {
  return operators.reduce((sum, { selfMs }) => sum + selfMs, answerMs + otherMs);
}
