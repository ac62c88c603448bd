/**
 * The service as `weir start` runs it, for `kill.test.ts`: with a clock so fast that segments are
 * sealed, stored and merged, the log is shortened and days are dropped all the time; and with so little
 * memory that segments leave it and come back.
 */
import { MemoryBudget } from '../../ingest/memory-budget.ts';
import { createLog } from '../../src/log.ts';
import { startService } from '../../src/service.ts';
import { parseSettings } from '../../src/settings.ts';
import { openBackend } from '../../src/store/log-backend.ts';
import { fastNowUs } from './fast-clock.ts';

/** A few dozen posts to a file of the log. */
const LOG_FILE_BYTES_MAX = 100_000;

/** Each is 50 s of the clock: an open segment lives for six. */
const TICK_MS = 5;

/** Less than may be set: sealed segments have an eighth of it, which is what a life of a moment posts. */
const MEMORY_BYTES_MAX = 1024 * 1024;
// What cannot leave memory has no limit here: in so little next to nothing would be taken in.
for (const name of ['backlogBytesMax', 'openBytesMax'] satisfies (keyof MemoryBudget)[]) {
  Object.defineProperty(MemoryBudget.prototype, name, { value: Number.POSITIVE_INFINITY });
}

const sinceMs = Number(process.env['FAST_CLOCK_SINCE_MS']);
const settings = parseSettings(process.env);
const clock = {
  nowUs: () => fastNowUs(sinceMs),
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
};
const log = createLog(
  (line) => {
    if (!line.includes('"level":"info"')) process.stderr.write(line);
  },
  () => new Date().toISOString(),
);
const service = await startService({
  ...{ settings, clock, log },
  openBackend: (stored) => {
    const backend = openBackend({
      settings: stored,
      log,
      // As fast as the other one, so that retention comes to the end of its wait after a slow start.
      nowMs: () => clock.nowUs() / 1000,
      logFileBytesMax: LOG_FILE_BYTES_MAX,
      storeBytesMax: MEMORY_BYTES_MAX,
    });
    setInterval(() => backend.tick(clock.nowUs()), TICK_MS);
    return backend;
  },
});
process.stdout.write(`${JSON.stringify({ url: service.url })}\n`);
