import { equal, ok, rejects } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { OpenSegmentHandle } from '../../engine/column/segment.ts';
import { Engine, type QueryAnswer, type RunOptions } from '../../engine/engine.ts';
import { QueryPool } from '../../engine/pool/query-pool.ts';
import { admitEvents } from '../../ingest/admission.ts';
import { LogStore } from '../../ingest/log-store.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { decodeBody } from '../../ingest/post-body.ts';
import { randomUuids } from '../../ingest/random-id.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import { SourceDirectory } from '../../ingest/source.ts';
import { moduleUrl } from '../support/program-words.ts';
import { stopTimes } from './stop-times.ts';

const NOW_US = Date.UTC(2026, 0, 15) * 1000;
const SOURCE = 'cloudflare.logs.prod';
const directory = new SourceDirectory([]);

/** How often a sealing loses its thread before one is left alone. */
let lossesLeft = 0;

/** The real engine, with a small heap for each worker. */
let engine: Engine;
let store: LogStore;
/** Its threads do nothing but end. */
let losingPool: QueryPool;

before(() => {
  losingPool = new QueryPool({
    workerCount: 1,
    workerUrl: moduleUrl('./script-worker.ts', import.meta.url),
  });
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const lose = () =>
    losingPool.makeSegments({
      kind: 'seal',
      handle: { script: { does: 'exit', shared } } as unknown as OpenSegmentHandle,
      partitionUs: 1,
    });
  store = new LogStore({
    sources: directory.sources.map(({ name }) => name),
    retentionUs: 1000 * PARTITION_US,
    summarize: summarizeSegment,
    seal: (handle) => (lossesLeft-- > 0 ? lose() : engine.seal(handle, PARTITION_US)),
  });
  engine = new Engine({
    sources: directory.sources,
    catalog: store,
    workerCount: 1,
    poolLimits: { heapBytesMax: 48 * 1024 * 1024 },
  });
});

after(async () => {
  await store.close();
  await engine.close();
  await losingPool.close();
});

async function run(text: string, more: Partial<RunOptions> = {}): Promise<string> {
  const options = { parameters: new Map(), nowUs: NOW_US, rowsMax: 1000, ...more };
  const answer: QueryAnswer = await engine.run(engine.prepare(text, []), options);
  return Buffer.from(answer.json).toString();
}

async function post(count: number): Promise<void> {
  const events = new Array(count).fill({ event_message: 'a', metadata: {} });
  const { batch } = await admitEvents(
    await decodeBody([Buffer.from(JSON.stringify(events))], 'json'),
    {
      source: directory.findByName(SOURCE)!,
      nowUs: NOW_US,
      retentionUs: 1000 * PARTITION_US,
      randomId: randomUuids(),
    },
  );
  await store.append(SOURCE, batch);
}

/** An array of `count` seconds: more than planning computes, so a worker makes it. */
function seconds(count: number): string {
  return `UNNEST(GENERATE_TIMESTAMP_ARRAY(TIMESTAMP '2026-01-01', TIMESTAMP_ADD(TIMESTAMP '2026-01-01', INTERVAL ${count - 1} SECOND), INTERVAL 1 SECOND))`;
}

test('a query that comes near to filling the heap of its worker is refused, and the worker goes on', async () => {
  const columns = Array.from(
    { length: 30 },
    (_, index) => `COUNT(DISTINCT CONCAT(CAST(a AS STRING), '${index}')) AS c${index}`,
  );
  const greedy = run(`SELECT ${columns.join(', ')} FROM ${seconds(1_000_000)} AS a`);
  const next = run('SELECT 1 AS one');
  await rejects(greedy, { code: 'query_limit', message: /a query may hold about \d+ MiB/ });
  equal(await next, '[{"one":1}]');
  equal(engine.stats().workersLost, 0);
});

test('a sealing that loses its thread twice is tried again, and no row is lost or seen twice', async () => {
  const countRows = () => run(`SELECT COUNT(*) AS n FROM \`${SOURCE}\``);
  const stats = () => store.stats().find(({ source }) => source === SOURCE)!;
  await post(500);
  lossesLeft = 2;
  for (const failureCount of [1, 2]) {
    await rejects(store.flush(), /could not be sealed/);
    equal(stats().sealFailureCount, failureCount);
    equal(await countRows(), '[{"n":500}]');
    store.tick(NOW_US);
  }
  await store.flush();
  equal(stats().sealedCount, 1);
  equal(stats().frozenCount, 0);
  equal(await countRows(), '[{"n":500}]');
});

test('threads that cannot start fail what waits for them, and a pool of them closes', async () => {
  const pool = new QueryPool({
    workerCount: 1,
    workerUrl: moduleUrl('./no-such-worker.ts', import.meta.url),
  });
  const seal = () =>
    pool.makeSegments({
      kind: 'seal',
      handle: {} as unknown as OpenSegmentHandle,
      partitionUs: 1,
    });
  await Promise.all([
    rejects(seal(), { code: 'worker_lost' }),
    rejects(seal(), { code: 'worker_lost' }),
  ]);
  await rejects(seal(), { code: 'worker_lost' });
  ok(pool.stats().workersLost >= 1);
  await pool.close();
});

test('a run whose caller hangs up stops within 100 ms', async () => {
  const endless = `SELECT COUNT(*) AS n FROM ${seconds(100_000)} AS a, ${seconds(1_000_000)} AS b`;
  const times = await stopTimes(async () => {
    await run('SELECT 1 AS one');
    const caller = new AbortController();
    const running = run(endless, { signal: caller.signal });
    while (engine.stats().work.call.running === 0) await new Promise(setImmediate);
    return { caller, running };
  });
  ok(Math.min(...times) < 100, `${times} ms`);
  equal(engine.stats().workersEnded, 0);
});
