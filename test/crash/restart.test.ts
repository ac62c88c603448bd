import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { LogEntry } from '../../src/log.ts';
import { openBackend } from '../../src/log-backend.ts';
import { type Service, startService } from '../../src/service.ts';
import { parseSettings } from '../../src/settings.ts';
import { Random } from '../../src/traffic/random.ts';
import { load, randomDataSet } from '../fuzz/data-set.ts';
import { fuzzSeed, numberFrom } from '../fuzz/seed.ts';
import { ask, NOW_US, PRIVATE, post } from '../src/harness.ts';
import { jsonText } from '../support/json-text.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';

const RUNS = numberFrom('WEIR_RESTART_RUNS', 4);
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

test(`answers after a crash are, byte for byte, those before it, on ${RUNS} random data sets`, async (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  for (let run = 0; run < RUNS; run++) {
    await inFolder(async (folder) => {
      const dataSet = randomDataSet(new Random(seed + run), Math.floor(NOW_US / DAY_US) * DAY_US);
      const frozen = new Date(dataSet.nowUs / 1000).toISOString();
      const start = (name: string) =>
        ServiceUnderTest.start({ DATA_DIR: join(folder, name), FROZEN_NOW: frozen });
      const before = await start('before');
      await load(before, dataSet);
      // What a process that dies now would leave.
      await cp(join(folder, 'before', 'log'), join(folder, 'after', 'log'), { recursive: true });
      const after = await start('after');
      try {
        for (const { endpoint, parameters } of dataSet.calls) {
          const [wanted, got] = await Promise.all(
            [before, after].map((service) =>
              service.callText(endpoint, parameters, dataSet.nowUs).catch(String),
            ),
          );
          assert.equal(got, wanted, `seed ${seed + run}: ${jsonText(parameters)}`);
        }
      } finally {
        await Promise.all([before.stop(), after.stop()]);
      }
    });
  }
});

type Started = { readonly service: Service; readonly port: number; readonly entries: LogEntry[] };

async function started(folder: string, disk?: ModelDisk): Promise<Started> {
  const entries: LogEntry[] = [];
  const log = (entry: LogEntry): void => void entries.push(entry);
  const settings = parseSettings({
    ...{ PORT: '0', DATA_DIR: folder, PRIVATE_ACCESS_TOKEN: PRIVATE, WORKERS: '1' },
  });
  const clock = { nowUs: () => NOW_US, monotonicMs: () => 0 };
  const backend = openBackend({ settings, log, disk });
  const service = await startService({ settings, clock, log, backend });
  return { service, port: Number(new URL(service.url).port), entries };
}

test('a disk that fails gives 503 storage_failed with Retry-After; reads go on, and so do posts later', async () => {
  await inFolder(async (folder) => {
    const disk = new ModelDisk(new Random(1));
    const { service, entries, ...app } = await started(folder, disk);
    try {
      const event = { project: 'p', metadata: {} };
      assert.equal((await post(app, EDGE, event)).status, 200);
      disk.faults = { write: 0, sync: 100, other: 0 };
      for (let attempt = 0; attempt < 2; attempt++) {
        const refused = await post(app, EDGE, event);
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

test('a damaged record costs itself only: the others are served, and /health tells of it', async () => {
  await inFolder(async (folder) => {
    const first = await started(folder);
    for (const event_message of ['one', 'two', 'three']) {
      await post(first, EDGE, { project: 'p', event_message, metadata: {} });
    }
    await first.service.stop();
    const path = join(folder, 'log', '00000001.log');
    const bytes = await readFile(path);
    bytes[bytes.indexOf('two')] = 0x54;
    await writeFile(path, bytes);
    const { service, entries, ...app } = await started(folder);
    try {
      const { result } = (await ask(app, { path: ALL })).json;
      assert.deepEqual(
        result.map((row: { event_message: string }) => row.event_message),
        ['three', 'one'],
      );
      const health = await ask(app, { path: '/health' });
      assert.equal(health.status, 200);
      const { status, damage } = health.json;
      assert.deepEqual([status, damage.places, damage.posts_lost], ['ok', 1, 1]);
      const [copy] = await readdir(join(folder, 'quarantine'));
      assert.deepEqual(damage.quarantined, [join(folder, 'quarantine', copy!)]);
      assert((await readFile(damage.quarantined[0])).includes('Two'));
      assert.equal(entries[0]!.event, 'log_damaged');
    } finally {
      await service.stop();
    }
  });
});

test('a second service on the same folder does not start, and says who has it', async () => {
  await inFolder(async (folder) => {
    const { service } = await started(folder);
    await assert.rejects(started(folder), {
      name: 'StartError',
      message: new RegExp(
        `^DATA_DIR: the folder is in use by another weir: process ${process.pid} `,
      ),
    });
    await service.stop();
    await (await started(folder)).service.stop();
  });
});

test('posts of a source that is no longer configured stay in the log, and that is told', async () => {
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
