import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Engine, type QueryAnswer, type RunOptions } from '../../../engine/engine.ts';
import { EVERYTHING } from '../../../engine/plan/reach.ts';
import { QueryError } from '../../../engine/query-error.ts';
import { NodeDisk } from '../../../ingest/disk/node-disk.ts';
import { PARTITION_US } from '../../../ingest/partition.ts';
import { summarizeSegment } from '../../../ingest/segment-summary.ts';
import { StackThrottle } from '../../../src/log-throttle.ts';
import { parseSettings } from '../../../src/settings.ts';
import type { Backend } from '../../../src/store/backend.ts';
import { DurableStore } from '../../../src/store/durable-store.ts';
import { openBackend } from '../../../src/store/log-backend.ts';
import { batchOf } from '../../column/batch-of.ts';
import { startedOn } from '../../crash/started-service.ts';
import { segmentEngineOn } from '../../support/merging.ts';
import { storeAll } from '../../support/store-all.ts';
import { ask, NOW_US, PRIVATE, post } from '../harness.ts';

const SOURCE = 'postgres.logs';
const COUNT = `SELECT COUNT(*) AS n, COUNT(DISTINCT t.id) AS ids FROM \`${SOURCE}\` AS t`;
/** Rows of each of two files. A query over their fourth power never finishes. */
const ROWS = 400;
const ENDLESS = `SELECT COUNT(*) AS n FROM \`${SOURCE}\` AS a
  JOIN \`${SOURCE}\` AS b ON a.event_message = b.event_message
  JOIN \`${SOURCE}\` AS c ON a.event_message = c.event_message
  JOIN \`${SOURCE}\` AS d ON a.event_message = d.event_message
  WHERE CONCAT(a.id, b.id, c.id, d.id) != 'none'`;
/**
 * When the day of all rows is over and gets no more rows. Not later, because a clock that leaps
 * further is not trusted.
 */
const MERGE_US = NOW_US + PARTITION_US;
const RUN = {
  parameters: new Map(),
  nowUs: NOW_US,
  rowsMax: 10,
  reach: EVERYTHING,
} satisfies RunOptions;

async function withFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-reading-'));
  try {
    await work(dataDir);
  } finally {
    await rm(dataDir, { recursive: true });
  }
}

function filesIn(dataDir: string): Promise<string[]> {
  return readdir(join(dataDir, 'segments', SOURCE));
}

function rowsOf({ json }: QueryAnswer): unknown {
  return JSON.parse(Buffer.from(json).toString());
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(2);
}

function isCancelled(error: unknown): boolean {
  return error instanceof QueryError && error.code === 'query_cancelled';
}

function backendOn(dataDir: string): Backend {
  const settings = parseSettings({
    ...{ PORT: '0', DATA_DIR: dataDir, PRIVATE_ACCESS_TOKEN: PRIVATE, WORKERS: '2' },
  });
  return openBackend({
    settings,
    log: ({ level, event }) => assert.notEqual(level, 'error', event),
  });
}

/** A folder with two files of one day, written by an earlier backend. */
async function fillTwo(dataDir: string): Promise<void> {
  const backend = backendOn(dataDir);
  await backend.recover(NOW_US, { progress: () => {}, damage: () => {} });
  for (let file = 0; file < 2; file++) {
    const events = Array.from({ length: ROWS }, () => ({ message: 'hello' }));
    const pieces = [Buffer.from(JSON.stringify(events))];
    const decoded = await backend.intake.decode({ pieces, format: 'json' });
    await decoded.store(backend.intake.findSource(SOURCE)!, { nowUs: NOW_US });
    decoded.end();
    await storeAll(backend, NOW_US);
  }
  await backend.close(NOW_US);
}

test('files that a query reads during a merge stay until it has ended', async () => {
  await withFolder(async (dataDir) => {
    await fillTwo(dataDir);
    const old = await filesIn(dataDir);
    assert.equal(old.length, 2);
    const backend = backendOn(dataDir);
    try {
      await backend.recover(NOW_US, { progress: () => {}, damage: () => {} });
      const { engine } = backend;
      const abort = new AbortController();
      const endless = engine.run(engine.prepare(ENDLESS, []), { ...RUN, signal: abort.signal });
      const ended = assert.rejects(endless, isCancelled);
      const merged = () => backend.stats().sources.some(({ mergeCount }) => mergeCount === 1);
      await until(() => {
        backend.tick(MERGE_US);
        return merged();
      });
      const all = await filesIn(dataDir);
      assert.equal(all.length, 3);
      assert(old.every((name) => all.includes(name)));
      // A query that begins now reads the merged file.
      const answer = await engine.run(engine.prepare(COUNT, []), RUN);
      assert.deepEqual(rowsOf(answer), [{ n: 2 * ROWS, ids: 2 * ROWS }]);
      assert.equal((await filesIn(dataDir)).length, 3);
      abort.abort();
      await ended;
      await until(async () => (await filesIn(dataDir)).length === 1);
      assert(!old.includes((await filesIn(dataDir))[0]!));
    } finally {
      await backend.close(MERGE_US);
    }
  });
});

test('a query that waits while its segments are merged is answered at the first attempt', async () => {
  await withFolder(async (dataDir) => {
    const disk = new NodeDisk();
    const open = async (readersDone: () => Promise<void> | undefined): Promise<DurableStore> => {
      const engine = segmentEngineOn(disk, { readersDone });
      const durable = new DurableStore({
        ...{ disk, dataDir, sources: [SOURCE], retentionUs: 90 * PARTITION_US },
        summarize: summarizeSegment,
        engine: () => engine,
        log: ({ level, event }) => assert.notEqual(level, 'error', event),
        stacks: new StackThrottle(() => 0),
      });
      await durable.recover(NOW_US, { progress: () => {}, damage: () => {} });
      return durable;
    };
    const first = await open(() => undefined);
    for (let file = 0; file < 2; file++) {
      const events = Array.from({ length: ROWS }, (_, row) => ({
        ...{ id: `${file}.${row}`, timestampUs: NOW_US, event_message: 'hello' },
      }));
      await first.store.append(SOURCE, batchOf(events), NOW_US);
      await first.store.flush();
      await first.store.settled();
    }
    await first.close();
    const durable = await open(() => engine.readersDone());
    const { store } = durable;
    let snapshots = 0;
    const engine: Engine = new Engine({
      sources: [{ name: SOURCE, projectPath: ['project'] }],
      catalog: {
        segments: (source, scope) => {
          snapshots++;
          return store.segments(source, scope);
        },
        dropped: () => store.dropped(),
        repair: (id) => store.repair(id),
      },
      workerCount: 1,
    });
    try {
      assert.equal(engine.readersDone(), undefined);
      const abort = new AbortController();
      const endless = engine.run(engine.prepare(ENDLESS, []), { ...RUN, signal: abort.signal });
      const ended = assert.rejects(endless, isCancelled);
      await until(() => engine.stats().work.call.running === 1);
      const scans = snapshots;
      const waiting = engine.run(engine.prepare(COUNT, []), RUN);
      assert.equal(engine.stats().queriesWaiting, 1);
      await until(() => {
        durable.tick(MERGE_US);
        return store.stats()[0]!.mergeCount === 1;
      });
      abort.abort();
      await ended;
      assert.equal((await filesIn(dataDir)).length, 3);
      assert.deepEqual(rowsOf(await waiting), [{ n: 2 * ROWS, ids: 2 * ROWS }]);
      assert.equal(snapshots - scans, 1);
      await until(async () => (await filesIn(dataDir)).length === 1);
      assert.equal(engine.readersDone(), undefined);
    } finally {
      await durable.close();
      await engine.close();
    }
  });
});

test('a file that someone removed is a 503 with Retry-After, not an internal error', async () => {
  await withFolder(async (dataDir) => {
    const first = await startedOn(dataDir);
    const body = { project: 'p', event_message: 'hello', metadata: {} };
    assert.equal((await post(first, `/api/logs?source_name=${SOURCE}`, body)).status, 200);
    const edge = '/api/logs?source_name=cloudflare.logs.prod';
    assert.equal((await post(first, edge, body)).status, 200);
    await storeAll(first.backend, first.clock.us);
    await first.service.stop();
    const { service, storePath, ...app } = await startedOn(dataDir);
    try {
      await rm(join(storePath, 'segments', 'cloudflare.logs.prod'), { recursive: true });
      const path = '/api/endpoints/logs.all?project=p&project_tier=PRO';
      const answer = await ask(app, { path });
      assert.equal(answer.status, 503);
      assert(Number(answer.headers['retry-after']) > 0);
      assert.equal(answer.json.error.code, 'overloaded');
      assert.match(answer.json.error.message, /removed or stored anew .* 17 times/);
      const { text } = await ask(app, { path: '/metrics' });
      assert.match(text, /^weir_queries_total\{code="overloaded"\} 1$/m);
    } finally {
      await service.stop();
    }
  });
});
