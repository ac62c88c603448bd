import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeChecked } from '../../../ingest/checked-file.ts';
import { ClockFile } from '../../../ingest/clock-file.ts';
import { CLOCK_WRITE_MS } from '../../../ingest/limits.ts';
import { provisionalState, trustedState } from '../../../ingest/retention-clock.ts';
import type { LogEntry } from '../../../src/log.ts';
import { DurableClock } from '../../../src/store/durable-clock.ts';
import { diskError, MemoryDisk } from '../../ingest/memory-disk.ts';

const NOW_US = 1_768_478_400_000_000;
const HOUR_US = 3_600_000_000;
const LEAPT_US = NOW_US + 2400 * HOUR_US;
const NOTHING = Number.NEGATIVE_INFINITY;
const PATH = '/data/clock';

/** A disk with the state of a trusted clock. */
async function trustedDisk(): Promise<MemoryDisk> {
  const disk = new MemoryDisk();
  await new ClockFile(disk, '/data').write(trustedState(NOW_US));
  return disk;
}

/** The clock of one process on a disk. `run` advances the monotonic clock. */
class Process {
  readonly entries: LogEntry[] = [];
  readonly clock: DurableClock;
  #monotonicMs = 0;

  constructor(disk: MemoryDisk) {
    this.clock = new DurableClock({
      ...{ disk, dataDir: '/data', log: (entry) => this.entries.push(entry) },
      monotonicMs: () => this.#monotonicMs,
    });
  }

  get events(): readonly string[] {
    return this.entries.map(({ event }) => event);
  }

  /** Starts; returns the retention time for the recovery and the one after it. */
  async start(nowUs: number, newestStoredUs?: number): Promise<readonly [number, number]> {
    const recoveryUs = await this.clock.recover(nowUs);
    this.clock.begin(nowUs, newestStoredUs);
    return [recoveryUs, this.clock.tick(nowUs)];
  }

  /** Runs the service for `us`, and returns the retention time at `nowUs`. */
  run(us: number, nowUs: number): number {
    this.#monotonicMs += us / 1000;
    return this.clock.tick(nowUs);
  }
}

test('the wait is on disk: it begins once, continues over restarts and ends once', async () => {
  const disk = await trustedDisk();
  const first = new Process(disk);
  assert.deepEqual(await first.start(NOW_US), [NOW_US, NOW_US]);
  await first.clock.close();
  const second = new Process(disk);
  // The newest event has the wrong clock's time, so it does not count.
  assert.deepEqual(await second.start(LEAPT_US, LEAPT_US), [NOTHING, NOTHING]);
  assert.equal(second.run(20 * HOUR_US, LEAPT_US + 20 * HOUR_US), NOTHING);
  assert.deepEqual(second.entries, [
    { level: 'error', event: 'clock_ahead', by_s: 2400 * 3600, remaining_s: 24 * 3600 },
  ]);
  const left = { aheadUs: 2400 * HOUR_US, remainingUs: 4 * HOUR_US };
  assert.deepEqual(second.clock.heldBack, left);
  await second.clock.close();
  const third = new Process(disk);
  const againUs = LEAPT_US + 21 * HOUR_US;
  assert.deepEqual(await third.start(againUs, LEAPT_US), [NOTHING, NOTHING]);
  assert.equal(third.run(4 * HOUR_US, againUs + 4 * HOUR_US), againUs + 4 * HOUR_US);
  assert.equal(third.clock.heldBack, undefined);
  assert.deepEqual(third.events, ['clock_ahead', 'clock_trusted']);
  await third.clock.close();
  assert.deepEqual(await new ClockFile(disk, '/data').read(), trustedState(againUs + 4 * HOUR_US));
});

test('a state is written once a minute, when the clock is held back or trusted, and at the end', async () => {
  const disk = new MemoryDisk();
  const writes = (): number => disk.steps.filter((step) => step === 'rename clock.tmp').length;
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const process = new Process(disk);
  await process.start(NOW_US);
  await settle();
  const counts = [writes()];
  for (const [us, nowUs] of [
    [CLOCK_WRITE_MS * 1000 - 1000, NOW_US],
    [1000, NOW_US],
    [1000, LEAPT_US],
    [1000, NOW_US],
  ] as const) {
    process.run(us, nowUs);
    await settle();
    counts.push(writes());
  }
  await process.clock.close();
  assert.deepEqual([...counts, writes()], [1, 1, 2, 3, 4, 5]);
});

test('a start that does not finish changes nothing on disk', async () => {
  const disk = new MemoryDisk();
  const { clock } = new Process(disk);
  await clock.recover(NOW_US);
  assert.equal(clock.tick(NOW_US), NOTHING);
  await clock.close();
  assert.deepEqual(disk.steps, []);
});

test('without a state, nothing is deleted for a day, and the newest stored event shows whether the clock is ahead', async () => {
  for (const [newestStoredUs, events] of [
    [undefined, []],
    [NOW_US - 24 * HOUR_US, []],
    [NOW_US - 25 * HOUR_US, ['clock_ahead']],
    [LEAPT_US, []],
  ] as const) {
    const process = new Process(new MemoryDisk());
    assert.deepEqual(await process.start(NOW_US, newestStoredUs), [NOTHING, NOTHING]);
    assert.deepEqual(process.events, events);
    assert.equal(process.run(24 * HOUR_US - 1000, NOW_US + 24 * HOUR_US - 1000), NOTHING);
    assert.equal(process.run(1000, NOW_US + 24 * HOUR_US), NOW_US + 24 * HOUR_US);
  }
  // An event from the future does not make a leap to its time trusted.
  const early = new Process(new MemoryDisk());
  await early.start(NOW_US, LEAPT_US);
  assert.equal(early.run(1000, LEAPT_US), NOTHING);
  assert.deepEqual(early.events, ['clock_ahead']);
});

test('a clock that goes back in a new folder is written at once', async () => {
  const disk = new MemoryDisk();
  const process = new Process(disk);
  await process.start(LEAPT_US);
  await new Promise((resolve) => setImmediate(resolve));
  process.run(1000, NOW_US);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(await new ClockFile(disk, '/data').read(), provisionalState(NOW_US));
});

test('the trusted time of an older version’s file is not provisional', async () => {
  const disk = new MemoryDisk();
  const { isProvisional: _, ...state } = trustedState(NOW_US);
  await writeChecked(disk, PATH, JSON.stringify(state));
  assert.deepEqual(await new ClockFile(disk, '/data').read(), trustedState(NOW_US));
});

test('a damaged state is logged and counts as missing, whichever byte is wrong', async () => {
  const disk = new MemoryDisk();
  const first = new Process(disk);
  await first.start(NOW_US);
  await first.clock.close();
  const whole = disk.bytesOf(PATH);
  const damaged = Array.from(whole, (byte, index) => {
    const bytes = Buffer.from(whole);
    bytes[index] = byte ^ 1;
    return bytes;
  });
  for (const bytes of [...damaged, Buffer.alloc(0), whole.subarray(0, -1), Buffer.from('null\n')]) {
    disk.put(PATH, bytes);
    const process = new Process(disk);
    assert.deepEqual(await process.start(LEAPT_US, NOW_US), [NOTHING, NOTHING]);
    assert.deepEqual(process.events, ['clock_damaged', 'clock_ahead']);
    await process.clock.close();
  }
});

test('a failed write is logged once, and a half-written file does no harm', async () => {
  const disk = await trustedDisk();
  disk.put(`${PATH}.tmp`, Buffer.from('{'));
  const process = new Process(disk);
  disk.before = (step) => {
    if (step.startsWith('sync')) throw diskError('EIO');
  };
  await process.start(NOW_US);
  const minuteUs = CLOCK_WRITE_MS * 1000;
  for (let minute = 1; minute < 4; minute++) {
    await new Promise((resolve) => setImmediate(resolve));
    process.run(minuteUs, NOW_US + minute * minuteUs);
  }
  assert.deepEqual(process.events, ['clock_write_failed']);
  disk.before = () => {};
  await process.clock.close();
  assert.deepEqual(await new ClockFile(disk, '/data').read(), trustedState(NOW_US + 3 * minuteUs));
});
