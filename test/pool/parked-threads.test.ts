import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { must } from '../../engine/assert.ts';
import type { OpenSegmentHandle } from '../../engine/column/segment.ts';
import type { PoolLimits } from '../../engine/pool/pool-limits.ts';
import { QueryPool, type QueryRun } from '../../engine/pool/query-pool.ts';
import type { QueryError } from '../../engine/query-error.ts';
import { moduleUrl } from '../support/program-words.ts';
import type { Script } from './script-worker.ts';

/** Real threads, whose tasks come to checkpoints and wait for a gate. Without parking most of these tests hang. */
const TIME = { timeout: 600_000 };

let pool: QueryPool;
/** See `Script`. */
let shared: Int32Array;

afterEach(async () => {
  openGate();
  await pool.close();
});

function start(workerCount: number, limits: Partial<PoolLimits> = {}): void {
  shared = new Int32Array(new SharedArrayBuffer(8));
  pool = new QueryPool({
    workerCount,
    limits: { turnMsMin: 1, ...limits },
    workerUrl: moduleUrl('./script-worker.ts', import.meta.url),
  });
}

function run(does: Script['does'], tenant: string, signal?: AbortSignal): Promise<number> {
  const query: QueryRun & { readonly script: Script } = {
    plan: { op: 'one-row' },
    output: [],
    rowsMax: 1,
    segments: [],
    dropped: { count: 0, ids: [] },
    tenant,
    script: { does, shared },
  };
  return pool.run(query, signal).then(({ rowCount }) => rowCount);
}

function openGate(): void {
  Atomics.store(shared, 1, 1);
  Atomics.notify(shared, 1);
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turn();
}

test('long queries of one tenant hold up no other, and are answered afterwards', TIME, async () => {
  start(2);
  const long = Array.from({ length: 6 }, () => run('work until the gate opens', 'many'));
  await until(() => pool.stats().work.call.running === 2);
  for (let call = 0; call < 5; call++) equal(await run('answer', 'few'), 0);
  ok(pool.stats().workersAlive > 2, 'a thread was parked with its task');
  openGate();
  deepEqual(await Promise.all(long), [0, 0, 0, 0, 0, 0]);
  const { workersLost, workersEnded, queriesSucceeded, work } = pool.stats();
  deepEqual(
    { workersLost, workersEnded, queriesSucceeded, parked: work.call.parked },
    { workersLost: 0, workersEnded: 0, queriesSucceeded: 11, parked: 0 },
  );
});

test(
  'while calls have every thread, the next one has started before another tenant needs it',
  TIME,
  async () => {
    start(2, { parkedMax: 1 });
    const long = Array.from({ length: 2 }, () => run('work until the gate opens', 'many'));
    await until(() => pool.stats().work.call.running === 2);
    // Two that run, one of the background and the one ahead.
    await until(() => pool.stats().workersAlive === 4);
    equal(pool.stats().work.call.parked, 0);
    equal(await run('answer', 'few'), 0);
    equal(pool.stats().workersAlive, 4);
    openGate();
    deepEqual(await Promise.all(long), [0, 0]);
  },
);

test('a long query beside callers who never stop is answered', TIME, async () => {
  start(1);
  let isAnswered = false;
  const long = run('work for 200 checkpoints', 'long').finally(() => {
    isAnswered = true;
  });
  while (!isAnswered) await run('answer', 'caller');
  equal(await long, 0);
});

test('a call runs while a sealing that is under way pauses for it', TIME, async () => {
  start(1);
  const script: Script = { does: 'work until the gate opens', shared };
  const sealing = pool.makeSegments({
    kind: 'seal',
    handle: { script } as unknown as OpenSegmentHandle,
    partitionUs: 1,
  });
  await until(() => Atomics.load(shared, 0) === 1);
  const call = run('work for 200 checkpoints', 'caller');
  deepEqual([pool.stats().work.seal.parked, pool.stats().work.call.running], [1, 1]);
  equal(await call, 0);
  openGate();
  equal((await sealing).length, 1);
  const { seal, call: calls } = pool.stats().work;
  ok(seal.waitMs > 0 && seal.runMs > 0 && calls.runMs > 0);
});

test('a parked query whose caller hangs up ends at once', TIME, async () => {
  start(1);
  const caller = new AbortController();
  const parked = run('work until the gate opens', 'many', caller.signal);
  await until(() => pool.stats().work.call.running === 1);
  // It never comes to a checkpoint, so that the other is not resumed.
  const other = run('wait for the gate', 'few');
  await until(() => pool.stats().work.call.parked === 1);
  caller.abort();
  await rejects(parked, { code: 'query_cancelled' });
  await until(() => pool.stats().work.call.parked === 0);
  equal(pool.stats().workersEnded, 0);
  openGate();
  equal(await other, 0);
});

test(
  'a query that goes on after it was parked is still ended when its time is over',
  TIME,
  async () => {
    start(1, { queryMsMax: 200, stopMsMax: 60_000 });
    const both = [run('run until stopped', 'a'), run('run until stopped', 'b')];
    await Promise.all(both.map((each) => rejects(each, { code: 'query_timeout' })));
  },
);

test(
  'where no more may be parked, one of the queries that run gives way to a newcomer',
  TIME,
  async () => {
    start(1, { parkedMax: 1 });
    const long = [run('work until the gate opens', 'a'), run('work until the gate opens', 'b')];
    const settled = Promise.allSettled(long);
    equal(await run('answer', 'c'), 0);
    openGate();
    // Both have had as much time: which has run longest is a matter of milliseconds.
    const results = await settled;
    equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    const [refused] = results.filter((result) => result.status === 'rejected');
    const { code, message } = must(refused, 'one is refused').reason as QueryError;
    equal(code, 'overloaded');
    match(message, /at most 1 tasks of queries may run and 1 be parked .* had run longest/);
  },
);

test('a pool with parked queries closes once they are answered', TIME, async () => {
  start(1);
  const both = [run('work until the gate opens', 'a'), run('work until the gate opens', 'b')];
  await until(() => pool.stats().work.call.parked === 1);
  const closed = pool.close();
  openGate();
  await Promise.all(both);
  await closed;
});
