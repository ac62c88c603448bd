import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import type { SealedSegmentHandle, SegmentHandle } from '../../engine/column/segment.ts';
import { Engine } from '../../engine/engine.ts';
import type { Reach } from '../../engine/plan/reach.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';
import { sealedHandle } from './sealed-handle.ts';

const DAY_US = 86_400_000_000;
const START_US = Date.parse('2026-01-10T00:00:00Z') * 1000;
const NOW_US = START_US + 2.5 * DAY_US;

/** Rows of three projects over two days and a half; of the third there are few. */
function events(): readonly TestEvent[] {
  return Array.from({ length: 900 }, (_, n) => ({
    id: `${n}`,
    timestampUs: START_US + Math.floor((n * 2.5 * DAY_US) / 900),
    project: n % 90 === 0 ? 'few' : n % 3 === 0 ? 'p' : 'q',
    metadata: { n: n % 7, s: n % 90 === 0 ? 'few' : n % 2 === 0 ? 'p' : 'q' },
  }));
}

let handles: readonly SegmentHandle[] = [];
let remembering: Engine;
let forgetful: Engine;

before(() => {
  const open = new OpenSegment({ id: 1, arrivalBase: 0 });
  const rows = events();
  open.append(batchOf(rows), 0, rows.length);
  open.publish();
  const sealed = sealSegment(open.handle(), { partitionUs: DAY_US });
  handles = sealed.map((buffer, index) => sealedHandle(buffer, 10 + index));
  const options = {
    sources: [{ name: 'logs', projectPath: ['project'] }],
    catalog: { segments: () => handles, dropped: () => ({ count: 0, ids: [] }) },
    workerCount: 1,
    // What is run on the main thread is not covered.
    inlineLimits: { rowsMax: 0 },
  };
  const memoLimits = { rowsMin: 20, bytesPerRowMax: 1_000 };
  remembering = new Engine({ ...options, memoLimits });
  forgetful = new Engine({ ...options, memoLimits: { bytesMax: 0 } });
});
after(() => Promise.all([remembering?.close(), forgetful?.close()]));

const SQL = `SELECT TIMESTAMP_TRUNC(t.timestamp, HOUR) AS b, COUNT(*) AS n, MIN(m.n) AS least,
    COUNTIF(m.s = @project) AS chance
  FROM logs AS t CROSS JOIN UNNEST(t.metadata) AS m
  WHERE t.project = @project AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 36 HOUR)
  GROUP BY b ORDER BY b`;

const PARAMETERS = [{ name: 'project', type: { kind: 'STRING' } }] as const;

/** A text that both engines know, as they know a saved one. */
function saved(sql: string) {
  return [remembering, forgetful].map((engine) => ({
    engine,
    query: engine.prepare(sql, PARAMETERS),
  }));
}

async function call(
  project: string,
  { sql = SQL, nowUs = NOW_US, reach }: { sql?: string; nowUs?: number; reach?: Reach } = {},
) {
  const both = known.get(sql) ?? saved(sql);
  known.set(sql, both);
  const [got, wanted] = await Promise.all(
    both.map(async ({ engine, query }) => {
      const parameters = new Map([['project', project]]);
      const answer = await engine.run(query, { parameters, nowUs, rowsMax: 1000, reach });
      return { json: Buffer.from(answer.json).toString(), stats: answer.stats };
    }),
  );
  assert.equal(got!.json, wanted!.json, project);
  assert.equal(wanted!.stats.rowsFromMemo, 0);
  return got!;
}

const known = new Map<string, ReturnType<typeof saved>>();

test('what was made ahead of one project by calls for others answers its first call, the same', async () => {
  // By its second call a plan is known that calls share.
  for (let times = 0; times < 2; times++) await call('p');
  await remembering.prepareStates();
  assert.equal((await call('p')).stats.rowsFromMemo > 0, true, 'of segments wholly inside');
  // Two calls, and it is in use.
  await remembering.prepareStates();
  const first = await call('q');
  const scanned = first.stats.rowsScanned;
  assert.ok(
    first.json.length > 500 && first.stats.rowsFromMemo > 300,
    `${first.stats.rowsFromMemo}`,
  );
  assert.equal(scanned, 0, 'the window begins with a bucket');
  const cut = await call('q', { nowUs: NOW_US + 1_000_000 });
  assert.ok(cut.stats.rowsScanned < 30 && cut.stats.rowsScanned > 0, `${cut.stats.rowsScanned}`);
  const few = await call('few');
  assert.equal(few.stats.rowsFromMemo, 0, 'few rows are looked at');
  assert.ok(few.json.length > 2);
  assert.equal((await call('absent')).json, '[]');
});

const SEARCHED = `SELECT TIMESTAMP_TRUNC(t.timestamp, DAY) AS b, COUNT(*) AS n
  FROM logs AS t CROSS JOIN UNNEST(t.metadata) AS m
  WHERE REGEXP_CONTAINS(m.s, @project) GROUP BY b ORDER BY b`;

test('so are those of a project that is searched for, and of nothing else that is', async () => {
  for (const text of ['a', 'b', 'c', 'a']) await call(text, { sql: SEARCHED });
  const { entries } = remembering.stats().memo;
  await remembering.prepareStates();
  assert.equal(remembering.stats().memo.entries, entries, 'none is a project');
  const other = SEARCHED.replace('COUNT(*)', 'COUNTIF(m.n > 2)');
  for (const text of ['a', 'few', 'b']) await call(text, { sql: other });
  await remembering.prepareStates();
  const first = await call('q', { sql: other });
  assert.ok(first.stats.rowsFromMemo > 300, `${first.stats.rowsFromMemo}`);
  assert.equal((await call('p.*', { sql: other })).stats.rowsFromMemo, 0, 'of another plan');
});

test('so are those of a project that its caller alone may read', async () => {
  const sql = SQL.replace(' WHERE t.project = @project AND', ' WHERE').replace('chance', 'other');
  const reachOf = (project: string): Reach => ({ projects: [project], sources: 'all' });
  const mine = (project: string) => call(project, { sql, reach: reachOf(project) });
  for (let times = 0; times < 3; times++) await mine('p');
  await remembering.prepareStates();
  const first = await mine('q');
  assert.ok(first.stats.rowsFromMemo > 300, `${first.stats.rowsFromMemo}`);
  assert.equal((await call('q', { sql, reach: reachOf('p') })).stats.rowsFromMemo, 0);
  assert.equal((await call('q', { sql })).stats.rowsFromMemo, 0, 'all projects are more');
});

/** Of an hour, which is about a twelfth of the last segment's time, and begins with a bucket. */
const OF_AN_HOUR = SQL.replace('36 HOUR', '1 HOUR').replace('MIN(m.n)', 'MAX(m.n)');

test('of a part of a segment they are made once calls have asked for as much as a quarter of it', async () => {
  await call('p', { sql: OF_AN_HOUR });
  const { entries } = remembering.stats().memo;
  await remembering.prepareStates();
  assert.equal(remembering.stats().memo.entries, entries, 'after one call: none');
  for (let times = 0; times < 4; times++) await call('p', { sql: OF_AN_HOUR });
  await remembering.prepareStates();
  const first = await call('q', { sql: OF_AN_HOUR });
  assert.ok(first.json.length > 2 && first.stats.rowsFromMemo > 0, `${first.stats.rowsFromMemo}`);
  assert.equal(first.stats.rowsScanned, 0);
  assert.equal(remembering.stats().memo.entries, entries + 2, 'of p and q, in one segment');
});

test('… and of one that asks for less, or could take no part of them, never', async () => {
  const aMinute = OF_AN_HOUR.replace('1 HOUR', '6 MINUTE');
  const withoutTime = OF_AN_HOUR.replace('TIMESTAMP_TRUNC(t.timestamp, HOUR) AS b', 'm.s AS b');
  const { entries } = remembering.stats().memo;
  for (const sql of [aMinute, withoutTime]) {
    for (let times = 0; times < 9; times++) await call('p', { sql });
    await remembering.prepareStates();
    assert.equal(remembering.stats().memo.entries, entries, sql);
  }
});

test('of a segment that is no more nothing is remembered', async () => {
  await call('q');
  const { entries } = remembering.stats().memo;
  for (const { content } of handles as readonly SealedSegmentHandle[]) remembering.forget(content!);
  assert.ok(entries > 0 && remembering.stats().memo.entries === 0);
  assert.equal(remembering.stats().memo.bytes, 0);
  assert.equal((await call('q')).stats.rowsFromMemo, 0);
  assert.equal(remembering.stats().memo.entries, 0);
});
