import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TURN_DEBT_MS_MAX } from '../../engine/limits.ts';
import { type Job, type Lane, TaskScheduler } from '../../engine/pool/task-scheduler.ts';

/** A scheduler on a clock that only the end of a job moves, and the jobs it has started. */
class Stage {
  readonly started: string[] = [];
  readonly scheduler: TaskScheduler;
  readonly #ends = new Map<string, () => void>();
  #nowMs = 0;

  constructor(threadCount: number) {
    this.scheduler = new TaskScheduler(threadCount, () => this.#nowMs);
  }

  add(lane: Lane, name: string): Job {
    const start = () => {
      this.started.push(name);
      return new Promise<void>((resolve) => this.#ends.set(name, resolve));
    };
    const job = { start };
    this.scheduler.add(lane, job);
    return job;
  }

  /** Ends a job that has taken this long. */
  async end(name: string, ms: number): Promise<void> {
    this.#nowMs += ms;
    this.#ends.get(name)?.();
    // The scheduler hears of it some microtasks later.
    await new Promise(setImmediate);
  }
}

test('jobs start in the order of their arrival, as many at a time as there are threads', async () => {
  const stage = new Stage(2);
  for (const name of ['a', 'b', 'c', 'd']) stage.add('query', name);
  deepEqual(stage.started, ['a', 'b']);
  await stage.end('b', 1);
  deepEqual(stage.started, ['a', 'b', 'c']);
  await stage.end('a', 1);
  deepEqual(stage.started, ['a', 'b', 'c', 'd']);
});

test('the last task of a query goes before queries that have not begun', async () => {
  const stage = new Stage(1);
  stage.add('query', 'a');
  stage.add('query', 'b');
  stage.add('finish', 'of a');
  await stage.end('a', 1);
  deepEqual(stage.started, ['a', 'of a']);
});

test('a job that was taken back does not start', async () => {
  const stage = new Stage(1);
  stage.add('query', 'a');
  const taken = stage.add('query', 'b');
  stage.add('query', 'c');
  stage.scheduler.remove('query', taken);
  await stage.end('a', 1);
  deepEqual(stage.started, ['a', 'c']);
});

for (const [threadCount, sealsMax] of [
  [1, 1],
  [2, 1],
  [3, 2],
] as const) {
  test(`of ${threadCount} threads at most ${sealsMax} seal at a time`, () => {
    const stage = new Stage(threadCount);
    for (const name of ['a', 'b', 'c', 'd']) stage.add('seal', name);
    equal(stage.started.length, sealsMax);
  });
}

test('while both wait, queries have as much time as the sealing before them took', async () => {
  const stage = new Stage(1);
  stage.add('seal', 's0');
  for (const name of ['s1', 's2']) stage.add('seal', name);
  for (const name of ['q1', 'q2', 'q3', 'q4']) stage.add('query', name);
  await stage.end('s0', 100);
  await stage.end('q1', 40);
  await stage.end('q2', 40);
  await stage.end('q3', 40);
  await stage.end('s1', 100);
  deepEqual(stage.started, ['s0', 'q1', 'q2', 'q3', 's1', 'q4']);
});

test('one very long query lets sealings go first for a while only', async () => {
  const stage = new Stage(1);
  stage.add('query', 'long');
  stage.add('query', 'next');
  for (const name of ['s1', 's2', 's3']) stage.add('seal', name);
  await stage.end('long', 30_000);
  await stage.end('s1', TURN_DEBT_MS_MAX - 1);
  await stage.end('s2', 2);
  deepEqual(stage.started, ['long', 's1', 's2', 'next']);
});

test('it is idle when nothing runs and nothing waits', async () => {
  const stage = new Stage(1);
  await stage.scheduler.idle();
  stage.add('query', 'a');
  const waiting = stage.add('query', 'b');
  let isIdle = false;
  void stage.scheduler.idle().then(() => {
    isIdle = true;
  });
  stage.scheduler.remove('query', waiting);
  await stage.end('nothing', 1);
  equal(isIdle, false);
  await stage.end('a', 1);
  equal(isIdle, true);
});

test('whatever comes, every job starts once and no side waits for ever', async () => {
  const job = fc.record({
    lane: fc.constantFrom<Lane>('query', 'seal', 'finish'),
    ms: fc.integer({ min: 1, max: 2_000 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(job, { maxLength: 60 }),
      async (threadCount, jobs) => {
        const stage = new Stage(threadCount);
        for (const [index, { lane }] of jobs.entries()) stage.add(lane, String(index));
        for (let ended = 0; ended < jobs.length; ended++) {
          const { queries, seals } = stage.scheduler.running;
          ok(queries + seals <= threadCount && queries + seals > 0);
          const name = stage.started[ended]!;
          await stage.end(name, jobs[Number(name)]!.ms);
        }
        equal(new Set(stage.started).size, jobs.length);
        deepEqual(stage.scheduler.waiting, { queries: 0, seals: 0 });
      },
    ),
    { numRuns: 50 },
  );
});
