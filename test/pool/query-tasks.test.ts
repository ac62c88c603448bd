import { equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { must } from '../../engine/assert.ts';
import { QueryTasks } from '../../engine/pool/query-tasks.ts';
import { type Job, newTaskSignal, type QueryTask } from '../../engine/pool/task.ts';
import { noMsByKind } from '../../engine/pool/work-shares.ts';
import type { ThreadTask } from '../../engine/pool/worker-threads.ts';
import { QueryError } from '../../engine/query-error.ts';

const LIMITS = { queryMsMax: 1_000, stopMsMax: 200 };

/** One task on a thread that only ends when it is ended. */
function startTask(): { readonly job: Job; readonly done: Promise<unknown>; tasks: QueryTasks } {
  let job: Job | undefined;
  const run = (): ThreadTask => {
    let end = (_error: Error): void => {};
    const answer = new Promise<never>((_, reject) => {
      end = reject;
    });
    return { answer, end: (error) => end(error) };
  };
  const tasks = new QueryTasks({
    scheduler: {
      add: (_, added) => {
        job = added;
      },
      remove: () => {},
      becomeCall: () => {},
    },
    threads: { run },
    limits: LIMITS,
    onBegin: () => {},
    endedForOthers: () => new QueryError('overloaded', 'others wait'),
  });
  const task: QueryTask = {
    kind: 'query',
    signal: newTaskSignal(),
    work: { plan: { op: 'one-row' }, output: [], rowsMax: 1 },
    segments: [],
    dropped: { count: 0, ids: [] },
    timeMsMax: LIMITS.queryMsMax,
  };
  const done = tasks.run('turn', task);
  const added = must(job);
  void added.start({ ms: 0, besideMs: noMsByKind() });
  return { job: added, done, tasks };
}

test('a thread is ended once its task has run for too long, and time in which it is parked does not count', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { job, done, tasks } = startTask();
  const parking = must(job.parking);
  t.mock.timers.tick(700);
  parking.park();
  t.mock.timers.tick(100_000);
  parking.resume(700);
  t.mock.timers.tick(499);
  equal(tasks.wasEnded, false);
  t.mock.timers.tick(1);
  equal(tasks.wasEnded, true);
  await rejects(done, { code: 'query_timeout', message: /did not stop by itself/ });
});

test('a parked task that does not stop loses its thread as one that runs', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { job, done, tasks } = startTask();
  must(job.parking).park();
  must(job.parking).end?.();
  t.mock.timers.tick(LIMITS.stopMsMax);
  equal(tasks.wasEnded, true);
  await rejects(done, { code: 'overloaded' });
});
