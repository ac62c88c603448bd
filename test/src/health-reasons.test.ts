import { deepEqual, equal, match } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DISK_FREE_BYTES_ENOUGH, DISK_FREE_BYTES_LOW } from '../../ingest/limits.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { ServiceError } from '../../src/errors.ts';
import { HealthReasons } from '../../src/health-reasons.ts';
import { WORKERS_LOST_LATELY_MS } from '../../src/limits.ts';
import type { Backend, HeldBackClock } from '../../src/store/backend.ts';
import { type StartedService, startedOn } from '../crash/started-service.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { ask, post } from './harness.ts';

const EVENT = { project: 'p', event_message: 'one', metadata: {} };

/** Calls `work` with a service on a disk in memory. */
async function onModelDisk(
  work: (disk: ModelDisk, started: StartedService) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-'));
  try {
    const disk = new ModelDisk(new Random(1));
    const started = await startedOn(folder, { disk });
    try {
      await work(disk, started);
    } finally {
      await started.service.stop();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Runs one tick of the service with all its effects on the disk in memory. */
async function tick({ backend, clock }: StartedService): Promise<void> {
  backend.tick(clock.us);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

type Told = {
  readonly status: number;
  readonly json: { readonly status: string; readonly reasons?: unknown; readonly reason?: string };
};

async function told(app: StartedService): Promise<{ readonly health: Told; readonly ready: Told }> {
  const health = await ask(app, { path: '/health', headers: {} });
  return { health, ready: await ask(app, { path: '/ready', headers: {} }) };
}

async function expectWell(app: StartedService): Promise<void> {
  const { health, ready } = await told(app);
  deepEqual([health.status, health.json], [200, { status: 'ok' }]);
  deepEqual([ready.status, ready.json], [200, { status: 'ready' }]);
}

async function expectRefusing(app: StartedService, code: string, message: string): Promise<void> {
  const { health, ready } = await told(app);
  const reasons = [{ code, message }];
  deepEqual([health.status, health.json], [200, { status: 'degraded', reasons }]);
  const notReady = { status: 'not_ready', reason: message, reasons };
  deepEqual([ready.status, ready.json], [503, notReady]);
}

test('while posts are refused, health is degraded and ready is 503, until one tick after the cause ends', async () => {
  await onModelDisk(async (disk, started) => {
    const path = '/api/logs?source_name=cloudflare.logs.prod';
    equal((await post(started, path, EVENT)).status, 200);
    await expectWell(started);
    disk.faults = { write: 0, sync: 100, other: 0 };
    const refused = await post(started, path, EVENT);
    deepEqual([refused.status, refused.json.error.code], [503, 'storage_failed']);
    const message =
      'posts are refused: logs cannot be written to disk at present: the disk reports an error';
    for (let second = 0; second < 10; second++) {
      await tick(started);
      await expectRefusing(started, 'posts_refused', message);
    }
    disk.faults = { write: 0, sync: 0, other: 0 };
    await tick(started);
    await expectWell(started);
    equal((await post(started, path, EVENT)).status, 200);
  });
});

test('a nearly full disk is a reason of its own', async () => {
  await onModelDisk(async (disk, started) => {
    disk.free = DISK_FREE_BYTES_LOW - 1;
    await tick(started);
    const message = `posts are refused: the disk is nearly full: less than ${DISK_FREE_BYTES_LOW} bytes are free`;
    await expectRefusing(started, 'disk_nearly_full', message);
    disk.free = DISK_FREE_BYTES_ENOUGH;
    await tick(started);
    await expectWell(started);
  });
});

test('a held-back clock is a reason, with advice for the operator', () => {
  const hourUs = 3_600_000_000;
  let heldBackClock: HeldBackClock | undefined;
  const reasons = new HealthReasons({
    definitions: { problems: () => [] },
    backend: {
      intake: { check: () => {} } as unknown as Backend['intake'],
      stats: () => ({ engine: { workersLost: 0 }, heldBackClock }) as ReturnType<Backend['stats']>,
    },
    readiness: { details: {} },
    nowMs: () => 1_000,
  });
  const message =
    'the clock is 2400 h ahead of the last trusted time, so logs are not deleted by age until the service has run for 4 h more; if the clock is wrong, set it; if it is right, wait, or stop the service and run weir clock DATA_DIR --trust';
  deepEqual(reasons.find(), []);
  heldBackClock = { aheadUs: 2400 * hourUs, remainingUs: 3.5 * hourUs };
  deepEqual(reasons.find(), [{ code: 'clock_ahead', message }]);
});

test('the statistics are read once for all reasons', () => {
  let takenCount = 0;
  const full = new ServiceError('storage_failed', 'the disk is nearly full');
  const reasons = new HealthReasons({
    definitions: { problems: () => [] },
    backend: {
      intake: {
        check: () => {
          throw full;
        },
      } as unknown as Backend['intake'],
      stats: () => {
        takenCount++;
        const heldBackClock = { aheadUs: 1, remainingUs: 1 };
        const log = { isDiskLow: true };
        return { engine: { workersLost: 1 }, log, heldBackClock } as ReturnType<Backend['stats']>;
      },
    },
    readiness: { details: {} },
    nowMs: () => 1_000,
  });
  deepEqual(
    reasons.find().map(({ code }) => code),
    ['disk_nearly_full', 'workers_lost', 'clock_ahead'],
  );
  equal(takenCount, 1);
});

test('a clock that leaps ahead degrades health, and posts are still accepted', async () => {
  await onModelDisk(async (_disk, started) => {
    await expectWell(started);
    started.clock.us += 100 * 86_400_000_000;
    await tick(started);
    const { health, ready } = await told(started);
    deepEqual([health.status, health.json.status], [200, 'degraded']);
    deepEqual(ready.status, 200);
    equal((await post(started, '/api/logs?source_name=cloudflare.logs.prod', EVENT)).status, 200);
    started.clock.us -= 100 * 86_400_000_000;
    await tick(started);
    await expectWell(started);
  });
});

test('lost workers are a reason for five minutes', () => {
  let [workersLost, nowMs] = [0, 1_000];
  const reasons = new HealthReasons({
    definitions: { problems: () => [] },
    backend: {
      intake: { check: () => {} } as unknown as Backend['intake'],
      stats: () => ({ engine: { workersLost } }) as ReturnType<Backend['stats']>,
    },
    readiness: { details: {} },
    nowMs: () => nowMs,
  });
  deepEqual(reasons.find(), []);
  workersLost = 2;
  const [lost, ...rest] = reasons.find();
  deepEqual([lost?.code, rest], ['workers_lost', []]);
  match(lost!.message, /^worker threads were lost recently, 2 since the start;/);
  nowMs += WORKERS_LOST_LATELY_MS - 1;
  equal(reasons.find().length, 1);
  nowMs++;
  deepEqual(reasons.find(), []);
  workersLost = 3;
  equal(reasons.find().length, 1);
});
