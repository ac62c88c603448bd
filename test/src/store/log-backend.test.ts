import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { must } from '../../../engine/assert.ts';
import { EVERYTHING } from '../../../engine/plan/reach.ts';
import { findStorePath } from '../../../ingest/data-folder.ts';
import { type Disk, DiskError, type DiskFile } from '../../../ingest/disk/disk.ts';
import { ForwardingDisk } from '../../../ingest/disk/forwarding-disk.ts';
import { NodeDisk } from '../../../ingest/disk/node-disk.ts';
import { CLOCK_HELD_US_MIN, SEAL_AGE_US } from '../../../ingest/limits.ts';
import type { LogEntry } from '../../../src/log.ts';
import { parseSettings } from '../../../src/settings.ts';
import type { Backend } from '../../../src/store/backend.ts';
import { openBackend } from '../../../src/store/log-backend.ts';
import { runWeir } from '../../support/command-under-test.ts';

const DAY_US = 86_400_000_000;
const NOW_US = Date.parse('2026-01-15T12:00:00Z') * 1000;
const SOURCE = 'postgres.logs';

type Opened = { readonly backend: Backend; readonly entries: readonly LogEntry[] };

/**
 * A data folder and the machine's two clocks, for backends that are opened on it one after another.
 */
class Machine {
  readonly dataDir: string;
  nowUs = NOW_US;
  #monotonicMs = 0;

  constructor(dataDir: string) {
    this.dataDir = dataDir;
  }

  /** Calls `work` with a recovered backend and closes it. */
  async open(
    work: (opened: Opened) => Promise<void>,
    {
      isApart = false,
      disk,
      memoryLimit,
    }: { readonly isApart?: boolean; readonly disk?: Disk; readonly memoryLimit?: string } = {},
  ): Promise<void> {
    const entries: LogEntry[] = [];
    const DATA_DIR = await findStorePath(this.dataDir);
    const limit = memoryLimit && { MEMORY_LIMIT: memoryLimit };
    const environment = { DATA_DIR, WORKERS: '1', RETENTION_DAYS: '7', ...limit };
    const log = (entry: LogEntry): void => void entries.push(entry);
    const settings = parseSettings(environment);
    const nowMs = (): number => this.#monotonicMs;
    const apart = isApart && { apartBytesMin: APART };
    const backend = openBackend({ settings, log, nowMs, disk, ...apart });
    try {
      await backend.recover(this.nowUs, { progress: () => {}, damage: () => {} });
      await work({ backend, entries });
    } finally {
      await backend.close(this.nowUs);
    }
  }

  /** Runs the service for this time with ticks. */
  run(backend: Backend, us: number): void {
    this.nowUs += us;
    this.#monotonicMs += us / 1000;
    backend.tick(this.nowUs);
  }
}

/** Makes every body large enough to be decoded in a separate thread. */
const APART = 0;

async function onMachine(work: (machine: Machine) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-backend-'));
  try {
    await work(new Machine(dataDir));
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function post(backend: Backend, nowUs: number, source = SOURCE): Promise<void> {
  const pieces = [Buffer.from('[{"message":"hello"}]')];
  const decoded = await backend.intake.decode({ pieces, format: 'json' });
  await decoded.store(backend.intake.findSource(source)!, { nowUs });
  decoded.end();
}

const countOf = (backend: Backend) => backend.intake.sizes().get(SOURCE)!.events;

/** Seals open segments and advances the machine's time as far as necessary. */
async function seal(machine: Machine, backend: Backend): Promise<void> {
  machine.run(backend, 0);
  machine.run(backend, SEAL_AGE_US);
  const isSealed = () =>
    backend.stats().sources.some(({ source, sealedCount }) => source === SOURCE && sealedCount > 0);
  while (!isSealed()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const eventsOf = (entries: readonly LogEntry[]) =>
  entries.map(({ event }) => event).filter((event) => event.startsWith('clock_'));

test('a clock that leaps ahead deletes nothing until the service has run for a day', async () => {
  await onMachine(async (machine) => {
    await machine.open(async ({ backend, entries }) => {
      await post(backend, machine.nowUs);
      await seal(machine, backend);
      machine.nowUs += 100 * DAY_US;
      machine.run(backend, 0);
      machine.run(backend, CLOCK_HELD_US_MIN - 1000);
      assert.equal(countOf(backend), 1);
      assert.ok(backend.stats().heldBackClock !== undefined);
      machine.run(backend, 1000);
      assert.equal(countOf(backend), 0);
      assert.equal(backend.stats().heldBackClock, undefined);
      assert.deepEqual(eventsOf(entries), ['clock_ahead', 'clock_trusted']);
    });
  });
});

test('a clock that is years ahead at each start deletes nothing until it is set, also in a new folder', async () => {
  await onMachine(async (machine) => {
    machine.nowUs += 1000 * DAY_US;
    await machine.open(async ({ backend }) => {
      machine.nowUs -= 1000 * DAY_US;
      machine.run(backend, 1000);
      // One event is in a segment file, one in the log only.
      await post(backend, machine.nowUs);
      await seal(machine, backend);
      await post(backend, machine.nowUs);
    });
    machine.nowUs += 1000 * DAY_US;
    await machine.open(async ({ backend, entries }) => {
      machine.run(backend, 1000);
      assert.equal(countOf(backend), 2);
      assert.deepEqual(eventsOf(entries), ['clock_ahead']);
    });
  });
});

test('an event with a wrong clock’s time does not make a restart delete the others', async () => {
  await onMachine(async (machine) => {
    await machine.open(async ({ backend }) => {
      // One event is in a segment file, one in the log only.
      await post(backend, machine.nowUs);
      await seal(machine, backend);
      await post(backend, machine.nowUs);
      machine.nowUs += 100 * DAY_US;
      await post(backend, machine.nowUs);
      machine.run(backend, 1000);
    });
    for (let restart = 0; restart < 3; restart++) {
      await machine.open(async ({ backend, entries }) => {
        assert.equal(countOf(backend), 3);
        machine.run(backend, CLOCK_HELD_US_MIN / 4);
        assert.equal(countOf(backend), 3);
        assert.deepEqual(eventsOf(entries), ['clock_ahead']);
      });
    }
    await machine.open(async ({ backend, entries }) => {
      machine.run(backend, CLOCK_HELD_US_MIN / 4);
      assert.deepEqual(eventsOf(entries), ['clock_ahead', 'clock_trusted']);
    });
    // The event that was only in the log is past the retention now, too.
    await machine.open(async ({ backend }) => assert.equal(countOf(backend), 1));
  });
});

test('a leap while the service was stopped deletes nothing at the next start', async () => {
  await onMachine(async (machine) => {
    await machine.open(async ({ backend }) => {
      await post(backend, machine.nowUs);
      await seal(machine, backend);
    });
    machine.nowUs += 100 * DAY_US;
    await machine.open(async ({ backend }) => {
      assert.equal(countOf(backend), 1);
      machine.run(backend, 1000);
      assert.equal(countOf(backend), 1);
    });
  });
});

test('a clock that the operator trusts deletes at the next start', async () => {
  await onMachine(async (machine) => {
    await machine.open(async ({ backend }) => {
      await post(backend, machine.nowUs);
      await seal(machine, backend);
    });
    machine.nowUs += 100 * DAY_US;
    await machine.open(async ({ backend }) => assert.equal(countOf(backend), 1));
    const words = ['clock', machine.dataDir, '--trust'];
    assert.equal((await runWeir(words, { nowUs: machine.nowUs })).status, 0);
    await machine.open(async ({ backend, entries }) => {
      assert.equal(countOf(backend), 0);
      assert.deepEqual(eventsOf(entries), []);
    });
  });
});

test('a clock that advances day by day deletes what is past the retention', async () => {
  await onMachine(async (machine) => {
    await machine.open(async ({ backend }) => {
      await post(backend, machine.nowUs);
      await seal(machine, backend);
      for (let day = 1; day <= 7; day++) machine.run(backend, DAY_US);
      assert.equal(countOf(backend), 1);
      for (let day = 8; day <= 9; day++) machine.run(backend, DAY_US);
      assert.equal(countOf(backend), 0);
    });
  });
});

test('posts decoded in a separate thread are stored, counted, refused and recovered as others', async () => {
  await onMachine(async (machine) => {
    const told = async ({ backend }: Opened): Promise<unknown> => {
      const pieces = [Buffer.from('[{"message":"a"},5,{"message":"b","timestamp":"never"}]')];
      const decoded = await backend.intake.decode({ pieces, format: 'json' });
      const source = must(backend.intake.findSource(SOURCE));
      const stored = await decoded.store(source, { nowUs: NOW_US });
      decoded.end();
      const malformed = { pieces: [Buffer.from('[')], format: 'json' } as const;
      await assert.rejects(backend.intake.decode(malformed), { code: 'invalid_body' });
      const { ingest } = backend.stats();
      // Each post gets other ids.
      const lastEvent = { ...stored.lastEvent, id: stored.lastEvent?.id.length };
      return { stored: { ...stored, lastEvent }, counts: ingest.get(SOURCE) };
    };
    let here: unknown;
    await machine.open(async (opened) => {
      here = await told(opened);
    });
    await machine.open(
      async (opened) => {
        assert.deepEqual(await told(opened), here);
        assert.equal(countOf(opened.backend), 4);
      },
      { isApart: true },
    );
    await machine.open(async ({ backend }) => assert.equal(countOf(backend), 4));
  });
});

/** A disk on which no segment file can be made. */
class DiskWithoutSegments extends ForwardingDisk {
  override async create(path: string): Promise<DiskFile> {
    if (!path.includes('/segments/')) return this.below.create(path);
    throw new DiskError('made', path, Object.assign(new Error('full'), { code: 'ENOSPC' }));
  }
}

test('an error of many sources is logged for each, with its stack once', async () => {
  await onMachine(async (machine) => {
    await machine.open(
      async ({ backend, entries }) => {
        for (const source of [SOURCE, 'cloudflare.logs.prod']) {
          await post(backend, machine.nowUs, source);
        }
        machine.run(backend, 0);
        machine.run(backend, SEAL_AGE_US);
        const failures = () => entries.filter(({ event }) => event === 'segment_store_failed');
        while (failures().length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
        const texts = failures().map(({ error }) => String(error));
        assert.match(texts[0]!, /the disk is full\n +at /);
        assert.match(texts[1]!, /^[^\n]*the disk is full$/);
      },
      { disk: new DiskWithoutSegments(new NodeDisk()) },
    );
  });
});

test('distinct values beyond the least memory are counted on disk; a start removes what a crash left there', async () => {
  await onMachine(async (machine) => {
    const spill = join(machine.dataDir, 'spill');
    await mkdir(spill);
    await writeFile(join(spill, 'left'), 'values');
    const count = async ({ backend }: Opened): Promise<void> => {
      assert.deepEqual(await readdir(spill), []);
      await rm(spill, { recursive: true });
      const text = `SELECT COUNT(DISTINCT 1050 * a + b) AS n
        FROM UNNEST(GENERATE_ARRAY(1, 1200)) AS a, UNNEST(GENERATE_ARRAY(0, 1049)) AS b`;
      const run = { parameters: new Map(), nowUs: machine.nowUs, rowsMax: 1, reach: EVERYTHING };
      const { json } = await backend.engine.run(backend.engine.prepare(text, []), run);
      assert.equal(Buffer.from(json).toString(), '[{"n":1260000}]');
      assert.deepEqual(await readdir(spill), []);
    };
    await machine.open(count, { memoryLimit: '256MiB' });
  });
});
