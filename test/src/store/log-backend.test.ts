import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { CLOCK_HELD_US_MIN, CLOCK_STEP_US_MAX, SEAL_AGE_US } from '../../../ingest/limits.ts';
import type { LogEntry } from '../../../src/log.ts';
import { parseSettings } from '../../../src/settings.ts';
import type { Backend } from '../../../src/store/backend.ts';
import { openBackend } from '../../../src/store/log-backend.ts';

const DAY_US = 86_400_000_000;
const NOW_US = Date.parse('2026-01-15T12:00:00Z') * 1000;
const SOURCE = 'postgres.logs';

/** Works over a backend in a folder of its own; what it logs is in `entries`. */
async function withBackend(
  work: (backend: Backend, entries: readonly LogEntry[]) => Promise<void>,
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-backend-'));
  const entries: LogEntry[] = [];
  const settings = parseSettings({ DATA_DIR: dataDir, WORKERS: '1', RETENTION_DAYS: '7' });
  const backend = openBackend({ settings, log: (entry) => entries.push(entry) });
  try {
    await backend.recover(NOW_US, { progress: () => {}, damage: () => {} });
    await work(backend, entries);
  } finally {
    await backend.close(NOW_US);
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function post(backend: Backend, nowUs: number): Promise<void> {
  const decoded = await backend.intake.decode([Buffer.from('[{"message":"hello"}]')], 'json');
  await decoded.store(backend.intake.findSource(SOURCE)!, { nowUs });
}

const countOf = (backend: Backend) => backend.intake.sizes().get(SOURCE)!.events;

async function seal(backend: Backend): Promise<void> {
  backend.tick(NOW_US);
  backend.tick(NOW_US + SEAL_AGE_US);
  const isSealed = () =>
    backend.stats().sources.some(({ source, sealedCount }) => source === SOURCE && sealedCount > 0);
  while (!isSealed()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('a clock that leaps ahead deletes nothing, until it has run on for a day', async () => {
  await withBackend(async (backend, entries) => {
    await post(backend, NOW_US);
    await seal(backend);
    const leaptUs = NOW_US + 100 * DAY_US;
    backend.tick(leaptUs);
    backend.tick(leaptUs + CLOCK_STEP_US_MAX);
    assert.equal(countOf(backend), 1);
    assert.equal(entries.filter(({ event }) => event === 'clock_ahead').length, 1);
    for (let us = 0; us <= CLOCK_HELD_US_MIN; us += CLOCK_STEP_US_MAX) backend.tick(leaptUs + us);
    backend.tick(leaptUs + CLOCK_HELD_US_MIN);
    backend.tick(leaptUs + CLOCK_HELD_US_MIN + CLOCK_STEP_US_MAX);
    assert.equal(countOf(backend), 0);
  });
});

test('a clock that goes on day by day deletes what is past the retention', async () => {
  await withBackend(async (backend) => {
    await post(backend, NOW_US);
    await seal(backend);
    for (let day = 1; day <= 7; day++) backend.tick(NOW_US + day * DAY_US);
    assert.equal(countOf(backend), 1);
    for (let day = 8; day <= 9; day++) backend.tick(NOW_US + day * DAY_US);
    assert.equal(countOf(backend), 0);
  });
});
