import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { findStorePath } from '../../ingest/data-folder.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { type DataSet, load, randomDataSet } from '../fuzz/data-set.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { ask, NOW_US, post } from '../src/harness.ts';
import type { Store } from '../support/answerer.ts';
import { budgetOf } from '../support/budget.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';
import { storeAll } from '../support/store-all.ts';
import { startedOn } from './started-service.ts';

/** `WEIR_RESTART_RUNS=10` is the long form. */
const RUNS = budgetOf('WEIR_RESTART_RUNS', { fast: 1, all: 1 });
/** One in so many bytes of a segment file is damaged; `WEIR_DAMAGE_STEP=50` is the long form. */
const BYTE_STEP = budgetOf('WEIR_DAMAGE_STEP', { fast: 5_000, all: 500 });
const DAY_US = 86_400_000_000;
const EDGE = '/api/logs?source_name=cloudflare.logs.prod';
const ALL = '/api/endpoints/logs.all?project=p&project_tier=PRO';

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-restart-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The answers of a service to the calls of a data set. */
async function answersOf(service: ServiceUnderTest, dataSet: DataSet): Promise<string[]> {
  const answers: string[] = [];
  for (const { endpoint, parameters } of dataSet.calls) {
    answers.push(await service.callText(endpoint, parameters, dataSet.nowUs).catch(String));
  }
  return answers;
}

test(`answers after a crash, and of stored, merged and reloaded segments, are byte for byte the same, on ${RUNS} random data sets`, async (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  for (let run = 0; run < RUNS; run++) {
    await inFolder(async (folder) => {
      const dataSet = randomDataSet(new Random(seed + run), Math.floor(NOW_US / DAY_US) * DAY_US);
      const FROZEN_NOW = new Date(dataSet.nowUs / 1000).toISOString();
      let wanted: readonly string[] | undefined;
      // Starts on what the start before left, has something done, and looks at the answers.
      const inService = async (
        name: string,
        work: (service: ServiceUnderTest) => Promise<void>,
      ): Promise<void> => {
        // No day ends by `mergeDays`, which looks two days ahead.
        const service = await ServiceUnderTest.start({
          ...{ DATA_DIR: join(folder, name), FROZEN_NOW, RETENTION_DAYS: '100' },
        });
        try {
          await work(service);
          const got = await answersOf(service, dataSet);
          wanted ??= got;
          assert.deepEqual(got, wanted, `seed ${seed + run}: ${name}, ${work.name}`);
        } finally {
          await service.stop();
        }
      };
      await inService('log', async function open(service) {
        await load(service, dataSet);
        // What a process that dies now would leave.
        const log = join(await findStorePath(join(folder, 'log')), 'log');
        await cp(log, join(folder, 'copy', 'log'), { recursive: true });
      });
      await inService('copy', async function replayed() {});
      await inService('files', async function halfStored(service) {
        await load(storing(service), dataSet);
      });
      await inService('files', async function reloadedAndReplayed() {});
      await inService('files', async function storedAndMerged(service) {
        await service.storeAll();
        service.mergeDays();
      });
      await inService('files', async function reloaded() {});
    });
  }
});

/** The service, its events stored in files at each sealing of a data set. */
function storing(service: ServiceUnderTest): Store {
  return {
    post: (source, events, nowUs) => service.post(source, events, nowUs),
    call: (endpoint, parameters, nowUs) => service.call(endpoint, parameters, nowUs),
    seal: () => service.storeAll(),
  };
}

/** What of an answer is not as it was: nothing, values that are NULL now, or more. */
function lossOf(was: unknown, is: unknown): 'none' | 'nulls' | 'wrong' {
  if (is === null) return was === null ? 'none' : 'nulls';
  if (typeof was !== 'object' || was === null) return was === is ? 'none' : 'wrong';
  if (typeof is !== 'object' || Array.isArray(was) !== Array.isArray(is)) return 'wrong';
  const keys = Object.keys(was);
  if (!isDeepStrictEqual(keys, Object.keys(is))) return 'wrong';
  const losses = keys.map((key) =>
    lossOf((was as Record<string, unknown>)[key], (is as Record<string, unknown>)[key]),
  );
  return losses.includes('wrong') ? 'wrong' : losses.includes('nulls') ? 'nulls' : 'none';
}

test('with any damaged byte in a segment file, the service starts, gives no wrong row, and reports the loss', async () => {
  await inFolder(async (folder) => {
    const dataDir = join(folder, 'data');
    const first = await startedOn(dataDir);
    for (const n of [1, 2, 3]) {
      const metadata = { request: { path: `/rest/v1/${n}`, status: 200 + n }, tags: ['a', n] };
      await post(first, EDGE, { project: 'p', event_message: `message ${n}`, metadata });
    }
    const wanted = (await ask(first, { path: ALL })).json.result as { readonly id: string }[];
    await storeAll(first.backend, first.clock.us);
    await first.service.stop();
    // What the log still has would be replayed.
    const storePath = await findStorePath(dataDir);
    await rm(join(storePath, 'log'), { recursive: true });
    const segments = join(basename(storePath), 'segments', 'cloudflare.logs.prod');
    const [name] = await readdir(join(dataDir, segments));
    const bytes = await readFile(join(dataDir, segments, name!));
    for (let at = BYTE_STEP >> 1; at < bytes.length; at += BYTE_STEP) {
      const copy = join(folder, `byte-${at}`);
      await cp(dataDir, copy, { recursive: true });
      await writeFile(
        join(copy, segments, name!),
        bytes.map((byte, index) => (index === at ? byte ^ 0x55 : byte)),
      );
      const { service, entries, ...app } = await startedOn(copy);
      try {
        const { result } = (await ask(app, { path: ALL })).json;
        const { damage } = (await ask(app, { path: '/health' })).json;
        assert(damage.places > 0, `byte ${at}: /health tells it`);
        assert(
          entries.some(({ event, level }) => event === 'segment_damaged' && level === 'error'),
        );
        const loss = result.length === 0 ? 'rows' : lossOf(wanted, result);
        const { segments_lost, columns_lost } = damage;
        const told = segments_lost > 0 ? 'rows' : columns_lost > 0 ? 'nulls' : 'none';
        // A column may be lost that no value of these rows shows: keys of the answer stay the same.
        if (loss !== 'none') assert.equal(loss, told, `byte ${at}`);
        if (told === 'none') assert.equal(loss, 'none', `byte ${at}`);
      } finally {
        await service.stop();
      }
      await rm(copy, { recursive: true });
    }
  });
});

test('a failing disk gives 503 storage_failed with Retry-After, while reads continue, and posts do later', async () => {
  await inFolder(async (folder) => {
    const disk = new ModelDisk(new Random(1));
    const { service, entries, ...app } = await startedOn(folder, { disk });
    try {
      const event = { project: 'p', metadata: {} };
      assert.equal((await post(app, EDGE, event)).status, 200);
      disk.faults = { write: 0, sync: 100, other: 0 };
      const attempts = [post(app, EDGE, event), post(app, EDGE, event)];
      for (const refused of await Promise.all(attempts)) {
        assert.deepEqual([refused.status, refused.json.error.code], [503, 'storage_failed']);
        assert(Number(refused.headers['retry-after']) > 0);
      }
      assert.equal((await ask(app, { path: ALL })).json.result.length, 1);
      assert.equal((await ask(app, { path: '/health' })).status, 200);
      disk.faults = { write: 0, sync: 0, other: 0 };
      while ((await post(app, EDGE, event)).status !== 200);
      assert.equal((await ask(app, { path: ALL })).json.result.length, 2);
      const told = entries.map(({ event: name }) => name).filter((name) => name.startsWith('log_'));
      assert.deepEqual(told, ['log_write_failed', 'log_write_resumed']);
    } finally {
      await service.stop();
    }
  });
});

test('a damaged record loses only itself, the others are served, and /health reports it', async () => {
  await inFolder(async (folder) => {
    const first = await startedOn(folder);
    for (const event_message of ['one', 'two', 'three']) {
      await post(first, EDGE, { project: 'p', event_message, metadata: {} });
    }
    await first.service.stop();
    const path = join(await findStorePath(folder), 'log', '00000001.log');
    const bytes = await readFile(path);
    bytes[bytes.indexOf('two')] = 0x54;
    await writeFile(path, bytes);
    const { service, entries, ...app } = await startedOn(folder);
    try {
      const { result } = (await ask(app, { path: ALL })).json;
      assert.deepEqual(
        result.map((row: { event_message: string }) => row.event_message),
        ['three', 'one'],
      );
      const health = await ask(app, { path: '/health' });
      assert.equal(health.status, 200);
      const { status, damage } = health.json;
      assert.deepEqual([status, damage.places, damage.posts_lost], ['degraded', 1, 1]);
      const quarantine = join(await findStorePath(folder), 'quarantine');
      const [copy] = await readdir(quarantine);
      assert.equal(damage.quarantined, 1);
      assert((await readFile(join(quarantine, copy!))).includes('Two'));
      assert.equal(entries[0]!.event, 'log_damaged');
    } finally {
      await service.stop();
    }
  });
});

test('a second service on the same folder fails and names the owner', async () => {
  await inFolder(async (folder) => {
    const { service } = await startedOn(folder);
    await assert.rejects(startedOn(folder), {
      name: 'StartError',
      message: new RegExp(
        `^DATA_DIR: the folder is in use by another weir: process ${process.pid} `,
      ),
    });
    await service.stop();
    await (await startedOn(folder)).service.stop();
  });
});

test('posts of a source that was removed from the settings stay in the log, and this is reported', async () => {
  await inFolder(async (folder) => {
    const start = (SOURCES: string) => ServiceUnderTest.start({ DATA_DIR: folder, SOURCES });
    const first = await start('mine');
    await first.postText('mine', '[{"project":"p"},{"project":"p"}]');
    await first.stop();
    const without = await start('');
    assert.deepEqual(
      without.entries.filter(({ event }) => event === 'log_source_unknown'),
      [{ level: 'error', event: 'log_source_unknown', source: 'mine', events: 2 }],
    );
    await without.stop();
    const again = await start('mine');
    const sources = JSON.parse((await again.ask('GET', '/api/sources')).text).result;
    assert.equal(sources.find((source: { name: string }) => source.name === 'mine').events, 2);
    await again.stop();
  });
});
