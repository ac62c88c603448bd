import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import type { OpenSegmentHandle, SegmentHandle } from '../../engine/column/segment.ts';
import { BACKGROUND_NICE, QUERY_NICE } from '../../engine/limits.ts';
import { type SentPartial, unpacked } from '../../engine/memo/run-pieces.ts';
import { newScanCounters } from '../../engine/operator/scan.ts';
import { ALL_TIME } from '../../engine/plan/logical-plan.ts';
import type { PoolLimits } from '../../engine/pool/pool-limits.ts';
import { QueryPool, type QueryPoolOptions, type QueryRun } from '../../engine/pool/query-pool.ts';
import { taskStatsOf } from '../../engine/pool/task.ts';
import { OversizedStatesError } from '../../engine/pool/worker-threads.ts';
import { QueryError } from '../../engine/query-error.ts';
import { budgetOf } from '../support/budget.ts';
import { NO_NICE_VALUES, niceValues } from '../support/nice-values.ts';
import { moduleUrl } from '../support/program-words.ts';
import type { Script } from './script-worker.ts';
import { stopTimes } from './stop-times.ts';

const MEGABYTE = 1024 * 1024;

/** More than a task takes that has little of a processor. */
const LONG_MS = 600_000;

/** Short enough for a test, in which nothing is parked; a forced end comes `stopMsMax` after the friendly one. */
const LIMITS = {
  heapBytesMax: 48 * MEGABYTE,
  queryMsMax: LONG_MS,
  stopMsMax: 150,
  turnMsMin: 60_000,
} satisfies Partial<PoolLimits>;

let pool: QueryPool;
/** See `Script`. */
let shared: Int32Array;

afterEach(async () => {
  openGate();
  await pool.close();
});

function start(
  workerCount: number,
  limits: Partial<PoolLimits> = {},
  more: Pick<QueryPoolOptions, 'finishHere'> = {},
): void {
  shared = new Int32Array(new SharedArrayBuffer(8));
  pool = new QueryPool({
    workerCount,
    limits: { ...LIMITS, ...limits },
    workerUrl: moduleUrl('./script-worker.ts', import.meta.url),
    ...more,
  });
}

function query(
  does: Script['does'],
  more: Partial<QueryRun & Pick<Script, 'fragments'>> = {},
): QueryRun {
  const script: Script = { does, shared, fragments: more.fragments };
  const run: QueryRun = {
    plan: { op: 'one-row' },
    output: [],
    rowsMax: 1,
    segments: [],
    dropped: { count: 0, ids: [] },
    ...more,
  };
  return { ...run, script } as QueryRun;
}

/** A grouping over as many segments, each large enough to be a fragment of its own. */
function fragments(...does: readonly Script['does'][]): QueryRun {
  const handle = (id: number): SegmentHandle => ({
    kind: 'sealed',
    id,
    buffer: new SharedArrayBuffer(8 * MEGABYTE),
  });
  return query('answer', {
    fragments: does,
    plan: { op: 'aggregate', input: SCAN, keys: [], aggregates: [] } as QueryRun['plan'],
    segments: [does.map((_, index) => handle(index + 1))],
  });
}

const SCAN = {
  ...{ op: 'scan', index: 0, fields: [], window: ALL_TIME },
} as unknown as QueryRun['plan'];

function seal(does: Script['does']): Promise<readonly SharedArrayBuffer[]> {
  const script: Script = { does, shared };
  return pool.makeSegments({
    kind: 'seal',
    handle: { script } as unknown as OpenSegmentHandle,
    partitionUs: 1,
  });
}

function begun(): number {
  return Atomics.load(shared, 0);
}

async function untilBegun(count: number): Promise<void> {
  while (begun() < count) await turn();
}

function openGate(): void {
  Atomics.store(shared, 1, 1);
  Atomics.notify(shared, 1);
}

function hasCode(code: string, message = /./): (error: unknown) => boolean {
  return (error) => {
    ok(error instanceof QueryError, String(error));
    equal(error.code, code, error.message);
    match(error.message, message);
    return true;
  };
}

for (const [does, message] of [
  ['fill the heap', /may fill 48 MiB of heap/],
  ['exit', /ended before the answer/],
  ['throw outside of the task', /ended before the answer/],
] as const) {
  test(`a query whose thread dies fails alone, and another thread comes: ${does}`, async () => {
    start(2);
    const beside = pool.run(query('wait for the gate'));
    await untilBegun(1);
    const lost = pool.run(query(does));
    const behind = Array.from({ length: 5 }, () => pool.run(query('answer')));
    await rejects(lost, hasCode('worker_lost', message));
    await Promise.all(behind);
    openGate();
    await beside;
    // Both threads are there: two that wait for each other's gate have begun at once.
    Atomics.store(shared, 1, 0);
    const both = [pool.run(query('wait for the gate')), pool.run(query('wait for the gate'))];
    await untilBegun(9);
    openGate();
    await Promise.all(both);
    const { workersLost, workersEnded, queriesSucceeded, queriesFailed } = pool.stats();
    deepEqual(
      { workersLost, workersEnded, queriesSucceeded, queriesFailed },
      {
        workersLost: 1,
        workersEnded: 0,
        queriesSucceeded: 8,
        queriesFailed: new Map([['worker_lost', 1]]),
      },
    );
  });
}

const DEATHS = budgetOf('WEIR_POOL_DEATHS', { fast: 4, all: 10 });

test('a pool of one thread answers after each of several deaths', async () => {
  start(1);
  for (let death = 1; death <= DEATHS; death++) {
    await rejects(pool.run(query('exit')), hasCode('worker_lost'));
    await pool.run(query('answer'));
    equal(pool.stats().workersLost, death);
  }
});

test('a query in fragments that loses one fails as a whole, and its others stop', async () => {
  start(2);
  // One thread is taken, so that one fragment waits behind the other.
  const other = pool.run(query('wait for the gate'));
  await untilBegun(1);
  await rejects(pool.run(fragments('exit', 'exit')), hasCode('worker_lost'));
  equal(begun(), 2, 'the second fragment was not begun');
  openGate();
  await other;
  await pool.run(query('answer'));
  equal(pool.stats().workersLost, 1);
});

test('what is left of a query in fragments is done by the calling thread, where it will', async () => {
  const json = new TextEncoder().encode('[1]');
  let isLittle = true;
  let seen: readonly SentPartial[] = [];
  const finishHere: QueryPoolOptions['finishHere'] = (_, partials) => {
    seen = partials;
    const stats = taskStatsOf(newScanCounters(), 1);
    const answer = { json, rowCount: 1, isTruncated: false, stats, release: () => {} };
    return isLittle ? answer : undefined;
  };
  start(2, {}, { finishHere });
  const answer = await pool.run(fragments('answer', 'answer'));
  deepEqual([answer.json, answer.rowCount], [json, 1]);
  deepEqual(
    seen.map((partial) => unpacked(partial).states),
    [[1], [1]],
    'the state of each fragment',
  );
  equal(answer.stats.rowsScanned, 2 * 3);
  equal(answer.stats.runMs, 5 + 1, 'the longest fragment, and what was left');
  equal(begun(), 2, 'no thread was asked for more');
  isLittle = false;
  equal((await pool.run(fragments('answer', 'answer'))).rowCount, 0);
  equal(begun(), 2 + 3);
});

test('a thread loads its module by import: to be ended while it requires one aborts the process', async () => {
  start(1);
  const call = pool.run(query('fail with whether it may require modules'));
  await rejects(call, hasCode('query_failed', /^false$/));
});

for (const [does, code] of [
  ['exit', 'worker_lost'],
  ['fail', 'query_failed'],
] as const) {
  test(`the fragment that ends first with ${code} stops those that run`, async () => {
    start(3, { stopMsMax: LONG_MS });
    const run = fragments('run until stopped', does, 'run until stopped');
    await rejects(pool.run(run), hasCode(code));
    while (pool.stats().work.call.running > 0) await turn();
    const { workersEnded, queriesFailed } = pool.stats();
    deepEqual(
      { workersEnded, queriesFailed },
      { workersEnded: 0, queriesFailed: new Map([[code, 1]]) },
    );
  });
}

test('a query in fragments stops on all its threads, and says why', async () => {
  start(3, { stopMsMax: LONG_MS });
  const caller = new AbortController();
  const run = fragments('run until stopped', 'run until stopped', 'run until stopped');
  const stopped = pool.run(run, caller.signal);
  await untilBegun(3);
  caller.abort(new QueryError('query_timeout', 'longer than its caller waits'));
  await rejects(stopped, hasCode('query_timeout', /its caller waits/));
  // All three threads take up work again, and none was ended for it.
  const all = [1, 2, 3].map(() => pool.run(query('wait for the gate')));
  await untilBegun(6);
  openGate();
  await Promise.all(all);
  equal(pool.stats().workersEnded, 0);
});

test('a query over its time stops by itself, and is counted', async () => {
  start(1, { queryMsMax: 20, stopMsMax: LONG_MS });
  await rejects(pool.run(query('run until stopped')), hasCode('query_timeout', /out of time/));
  const { queriesFailed, queriesEnded, workersEnded } = pool.stats();
  deepEqual(
    { queriesFailed, queriesEnded, workersEnded },
    { queriesFailed: new Map([['query_timeout', 1]]), queriesEnded: new Map(), workersEnded: 0 },
  );
});

test('a query over its time that does not stop loses its thread, and the next is answered', async ({
  mock,
}) => {
  start(1);
  mock.timers.enable({ apis: ['setTimeout'] });
  const endless = pool.run(query('run for ever'));
  const next = pool.run(query('answer'));
  await untilBegun(1);
  mock.timers.tick(LONG_MS + LIMITS.stopMsMax);
  mock.timers.reset();
  await rejects(endless, hasCode('query_timeout', /did not stop by itself/));
  await next;
  const { queriesEnded, workersEnded, workersLost } = pool.stats();
  deepEqual(
    { queriesEnded, workersEnded, workersLost },
    { queriesEnded: new Map([['query_timeout', 1]]), workersEnded: 1, workersLost: 0 },
  );
});

test('what a caller who hung up was waiting for never runs', async () => {
  start(1);
  const running = pool.run(query('wait for the gate'));
  await untilBegun(1);
  const caller = new AbortController();
  const waiting = [query('answer'), fragments('answer', 'answer')].map((each) =>
    rejects(pool.run(each, caller.signal), hasCode('query_cancelled')),
  );
  equal(pool.stats().queriesWaiting, 2);
  caller.abort();
  await Promise.all(waiting);
  equal(pool.stats().queriesWaiting, 0);
  await rejects(pool.run(query('answer'), caller.signal), hasCode('query_cancelled'));
  openGate();
  await running;
  await pool.run(query('answer'));
  equal(begun(), 2);
});

test('a query whose caller hangs up stops within 100 ms', async () => {
  start(1, { stopMsMax: LONG_MS });
  const times = await stopTimes(async (call) => {
    const caller = new AbortController();
    const running = pool.run(query('run until stopped'), caller.signal);
    await untilBegun(call);
    return { caller, running };
  });
  ok(Math.min(...times) < 100, `${times} ms`);
  equal(pool.stats().workersEnded, 0);
});

test('one that does not notice that its caller hung up loses its thread', async () => {
  start(1);
  const caller = new AbortController();
  const running = pool.run(query('run for ever'), caller.signal);
  await untilBegun(1);
  caller.abort();
  await rejects(running, hasCode('query_cancelled'));
  await pool.run(query('answer'));
  const { queriesEnded, workersEnded } = pool.stats();
  deepEqual(
    { queriesEnded, workersEnded },
    { queriesEnded: new Map([['query_cancelled', 1]]), workersEnded: 1 },
  );
});

test('one query more than may wait is refused at once; one in fragments is one', async () => {
  start(2, { queriesWaitingMax: 3 });
  const running = [1, 2].map(() => pool.run(query('wait for the gate')));
  await untilBegun(2);
  const sealing = seal('answer');
  const waiting = [pool.run(fragments('answer', 'answer')), pool.run(query('answer'))];
  waiting.push(pool.run(query('answer')));
  await rejects(pool.run(query('answer')), hasCode('overloaded', /at most 3 queries may wait/));
  openGate();
  await Promise.all([...running, ...waiting, sealing]);
  await pool.run(query('answer'));
  const { queriesWaiting, queriesWaitingMax, queriesFailed } = pool.stats();
  deepEqual(
    { queriesWaiting, queriesWaitingMax, queriesFailed },
    { queriesWaiting: 0, queriesWaitingMax: 3, queriesFailed: new Map([['overloaded', 1]]) },
  );
});

test('where all places are taken, the last of whoever has most is refused for one of another tenant', async () => {
  start(1, { queriesWaitingMax: 3 });
  const of = (tenant: string) => pool.run(query('answer', { tenant }));
  const running = pool.run(query('wait for the gate', { tenant: 'many' }));
  await untilBegun(1);
  const first = of('many');
  const second = of('many');
  const last = rejects(of('many'), hasCode('overloaded', /at most 3 queries may wait/));
  await rejects(of('many'), hasCode('overloaded'));
  const few = of('few');
  await last;
  // Nobody has two more than a tenant with one would have.
  await rejects(of('few'), hasCode('overloaded'));
  equal(pool.stats().queriesWaiting, 3);
  openGate();
  await Promise.all([running, first, second, few]);
});

test('a query of one tenant does not wait for all of another that came before', async () => {
  start(1);
  const order: string[] = [];
  const run = (tenant: string, name: string) =>
    pool.run(query('answer', { tenant })).then(() => order.push(name));
  const running = pool.run(query('wait for the gate', { tenant: 'many' }));
  await untilBegun(1);
  const all = [...['1', '2', '3'].map((name) => run('many', name)), run('few', 'few')];
  openGate();
  await Promise.all([running, ...all]);
  deepEqual(order, ['few', '1', '2', '3']);
});

test('a refused query is told when there may be room', async () => {
  start(1, { queriesWaitingMax: 1 });
  const running = pool.run(query('wait for the gate'));
  await untilBegun(1);
  const waiting = pool.run(query('answer'));
  await rejects(pool.run(query('answer')), (error: QueryError) => {
    ok(error.retryAfterS !== undefined && error.retryAfterS >= 1, String(error.retryAfterS));
    return true;
  });
  openGate();
  await Promise.all([running, waiting]);
});

test('sealing leaves a thread to queries', async () => {
  start(2);
  const sealings = [1, 2, 3].map(() => seal('wait for the gate'));
  await untilBegun(1);
  for (let call = 0; call < 20; call++) await pool.run(query('answer'));
  const { running, waiting } = pool.stats().work.seal;
  deepEqual({ running, waiting }, { running: 1, waiting: 2 });
  openGate();
  await Promise.all(sealings);
  equal(pool.stats().sealsSucceeded, 3);
});

test('threads end that have nothing to do, all but one, and start again when they are needed', async () => {
  start(2, { threadIdleMsMax: 100 });
  for (const round of [1, 2]) {
    const running = pool.run(query('wait for the gate'));
    const sealing = seal('wait for the gate');
    await untilBegun(2);
    equal(pool.stats().workersAlive, 2, `round ${round}`);
    openGate();
    await Promise.all([running, sealing]);
    while (pool.stats().workersAlive > 1) await wait(20);
    shared.fill(0);
  }
  const { workers, workersLost, workersEnded } = pool.stats();
  deepEqual(
    { workers, workersLost, workersEnded },
    { workers: 2, workersLost: 0, workersEnded: 0 },
  );
});

test('a sealing that loses its thread rejects, and can be tried again', async () => {
  start(1);
  await rejects(seal('exit'), hasCode('worker_lost'));
  equal((await seal('answer')).length, 1);
  const { sealsFailed, sealsSucceeded } = pool.stats();
  deepEqual({ sealsFailed, sealsSucceeded }, { sealsFailed: 1, sealsSucceeded: 1 });
});

test('a sealing that does not end is ended', async ({ mock }) => {
  start(1, { sealMsMax: LONG_MS });
  mock.timers.enable({ apis: ['setTimeout'] });
  const endless = seal('run for ever');
  await untilBegun(1);
  mock.timers.tick(LONG_MS);
  mock.timers.reset();
  await rejects(endless, /work on a segment may take 600000 ms/);
  await seal('answer');
});

test('closing finishes what runs and what waits, and takes no more', async () => {
  start(1);
  const running = [pool.run(query('wait for the gate')), pool.run(query('answer')), seal('answer')];
  await untilBegun(1);
  const closed = pool.close();
  await rejects(pool.run(query('answer')), hasCode('overloaded'));
  openGate();
  await Promise.all(running);
  await closed;
});

test('the counts say what the scans did', async () => {
  start(2);
  await pool.run(query('answer'));
  await pool.run(fragments('answer', 'answer'));
  await rejects(pool.run(query('fail')), hasCode('query_failed'));
  const { scans, runMs, queriesSucceeded, work, workers } = pool.stats();
  deepEqual(
    { scans, runMs, queriesSucceeded, running: work.call.running, workers },
    {
      // The second: two fragments and the task that combines them.
      scans: {
        rowsScanned: 12,
        rowsFromMemo: 0,
        rowsSkipped: 20,
        segmentsScanned: 8,
        segmentsSkipped: 4,
      },
      runMs: 15,
      queriesSucceeded: 2,
      running: 0,
      workers: 2,
    },
  );
});

test('a query whose partial states are too large to be handed over is to run as a whole', async () => {
  start(2);
  const cut = fragments('be oversized', 'answer');
  await rejects(pool.run(cut), OversizedStatesError);
  // Its caller runs it again, so it has not failed.
  equal(pool.stats().queriesFailed.size, 0);
  const begunCount = shared[0]!;
  await pool.run({ ...cut, isWhole: true });
  equal(shared[0]! - begunCount, 1);
});

test('threads of queries let the main thread go first, and threads that seal let both', {
  skip: NO_NICE_VALUES,
}, async () => {
  start(1);
  await pool.run(query('answer'));
  await seal('answer');
  const found = niceValues();
  deepEqual(
    [0, QUERY_NICE, BACKGROUND_NICE].map((nice) => found.includes(nice)),
    [true, true, true],
  );
});
