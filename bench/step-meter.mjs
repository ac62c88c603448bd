/**
 * Loaded before the service (`--import`), measures each step of its main thread: from the first line of a callback of the
 * event loop to the last of the promises that it resolved. A step that lost its processor to another process meanwhile
 * has not held the thread in that time: what the system says it waited (proc_pid_schedstat(5)) is left out. On a machine
 * that is a guest its host may take processors from it, and to no thread is told how long: of long steps it is told whether
 * the host had one (`steal` in proc_stat(5)) meanwhile, or up to STOLEN_LOOK_MS before.
 *
 * SIGUSR2 begins; the next one ends and writes to the file STEPS_TO how many steps there were, those that took longest
 * and what called them; and so on.
 */
import { createHook, executionAsyncResource } from 'node:async_hooks';
import { openSync, readSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** Steps that are told one by one. */
const LONGEST_MAX = 50;

/** Milliseconds from which on a step is told apart by what the host did. */
const LONG_MS = 5;

/** How often is looked what the host took, in hundredths of a second: to make the file takes some microseconds. */
const STOLEN_LOOK_MS = 20;
const STOLEN_FIELD = 8;

/** Where the loop turned between two promises, as after what another thread resolved: a turn takes longer. */
const CONTINUED_MS_MAX = 1;

/** What runs of these goes on with the step before: a promise, a tick, a microtask. */
const CONTINUING = new Set(['Promise', 'Object', 'AsyncResource']);

if (isMainThread) meter();

function meter() {
  const schedstat = openSync('/proc/thread-self/schedstat', 'r');
  const stat = openSync('/proc/stat', 'r');
  const digits = Buffer.alloc(128);
  let isMeasuring = false;
  let depth = 0;
  let count = 0;
  let longest = [];
  let step;

  const read = (file, field) => {
    const size = readSync(file, digits, 0, digits.length, 0);
    return Number(digits.toString('latin1', 0, size).split(/ +/)[field]);
  };
  const waitedMs = () => read(schedstat, 1) / 1e6;
  const stolen = () => read(stat, STOLEN_FIELD);
  let stolenBefore = stolen();
  setInterval(() => {
    stolenBefore = stolen();
  }, STOLEN_LOOK_MS).unref();
  const end = () => {
    if (step === undefined) return;
    count += 1;
    const { kind, isStolen, startMs, endMs, startWaitedMs, endWaitedMs } = step;
    const wallMs = endMs - startMs;
    longest.push({ kind, isStolen, wallMs, ms: wallMs - (endWaitedMs - startWaitedMs) });
    if (longest.length > 2 * LONGEST_MAX) keepLongest();
    step = undefined;
  };
  const keepLongest = () => {
    longest = longest.sort((left, right) => right.ms - left.ms).slice(0, LONGEST_MAX);
  };

  createHook({
    before() {
      if (depth++ > 0 || !isMeasuring) return;
      const startMs = performance.now();
      const kind = executionAsyncResource().constructor.name;
      // Ticks and promises run before the loop goes on.
      const isLater = CONTINUING.has(kind);
      if (isLater && step !== undefined && startMs - step.endMs < CONTINUED_MS_MAX) return;
      end();
      const startWaitedMs = waitedMs();
      const ended = { endMs: startMs, endWaitedMs: startWaitedMs };
      step = { kind, isStolen: false, startMs, startWaitedMs, ...ended };
    },
    after() {
      depth = Math.max(0, depth - 1);
      if (depth > 0 || step === undefined) return;
      step.endMs = performance.now();
      // Few steps are long: the system is asked where it matters.
      const wallMs = step.endMs - step.startMs;
      step.endWaitedMs = wallMs > 1 ? waitedMs() : step.startWaitedMs;
      if (wallMs > LONG_MS) step.isStolen = stolen() > stolenBefore;
    },
  }).enable();

  process.on('SIGUSR2', () => {
    if (isMeasuring) {
      end();
      keepLongest();
      writeFileSync(process.env.STEPS_TO, JSON.stringify({ count, longest }));
    }
    isMeasuring = !isMeasuring;
    step = undefined;
    count = 0;
    longest = [];
  });
}
