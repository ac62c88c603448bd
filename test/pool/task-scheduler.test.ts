import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Job, Lane } from '../../engine/pool/task.ts';
import { TaskScheduler } from '../../engine/pool/task-scheduler.ts';

/** A scheduler, and the jobs it has started. */
class Stage {
  readonly started: string[] = [];
  readonly scheduler: TaskScheduler;
  readonly #ends = new Map<string, () => void>();

  constructor(threadCount: number) {
    this.scheduler = new TaskScheduler({ threadCount });
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

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    // The scheduler hears of it some microtasks later.
    await new Promise(setImmediate);
  }
}

test('jobs start in the order of their arrival, as many at a time as there are threads', async () => {
  const stage = new Stage(2);
  for (const name of ['a', 'b', 'c', 'd']) stage.add('turn', name);
  deepEqual(stage.started, ['a', 'b']);
  await stage.end('b');
  deepEqual(stage.started, ['a', 'b', 'c']);
  await stage.end('a');
  deepEqual(stage.started, ['a', 'b', 'c', 'd']);
});

test('tenants take turns by the time that their jobs take', async () => {
  let nowMs = 0;
  const started: string[] = [];
  let end = () => {};
  const time = { nowMs: () => nowMs, wakeIn: () => {} };
  const scheduler = new TaskScheduler({ threadCount: 1, time });
  const add = (tenant: string, name: string) => {
    const start = () => {
      started.push(name);
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    };
    scheduler.add('turn', { start, tenant });
  };
  for (const name of ['slow 1', 'slow 2', 'slow 3']) add('slow', name);
  for (const name of ['quick 1', 'quick 2', 'quick 3', 'quick 4']) add('quick', name);
  while (scheduler.runningCount > 0) {
    nowMs += started.at(-1)!.startsWith('slow') ? 30 : 10;
    end();
    await new Promise(setImmediate);
  }
  deepEqual(started, [
    ...['slow 1', 'quick 1', 'quick 2', 'quick 3'],
    ...['slow 2', 'quick 4', 'slow 3'],
  ]);
});

test('the last task of a query goes before queries that have not begun', async () => {
  const stage = new Stage(1);
  stage.add('turn', 'a');
  stage.add('turn', 'b');
  stage.add('ahead', 'of a');
  await stage.end('a');
  deepEqual(stage.started, ['a', 'of a']);
});

test('a job that was taken back does not start', async () => {
  const stage = new Stage(1);
  stage.add('turn', 'a');
  const taken = stage.add('turn', 'b');
  stage.add('turn', 'c');
  stage.scheduler.remove(taken);
  await stage.end('a');
  deepEqual(stage.started, ['a', 'c']);
});

test('it is idle when nothing runs and nothing waits', async () => {
  const stage = new Stage(1);
  await stage.scheduler.idle();
  stage.add('turn', 'a');
  const waiting = stage.add('turn', 'b');
  let isIdle = false;
  void stage.scheduler.idle().then(() => {
    isIdle = true;
  });
  stage.scheduler.remove(waiting);
  await stage.end('nothing');
  equal(isIdle, false);
  await stage.end('a');
  equal(isIdle, true);
});

test('whatever comes, every job starts once, on as many threads as there are', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.constantFrom<Lane>('turn', 'ahead'), { maxLength: 60 }),
      async (threadCount, lanes) => {
        const stage = new Stage(threadCount);
        for (const [index, lane] of lanes.entries()) stage.add(lane, String(index));
        for (let ended = 0; ended < lanes.length; ended++) {
          equal(stage.scheduler.runningCount, Math.min(threadCount, lanes.length - ended));
          await stage.end(stage.started[ended]!);
        }
        equal(new Set(stage.started).size, lanes.length);
        equal(stage.scheduler.waitingCount, 0);
      },
    ),
    { numRuns: 50 },
  );
});
