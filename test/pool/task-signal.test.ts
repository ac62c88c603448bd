import { equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import {
  newTaskSignal,
  parkTask,
  resumeTask,
  stopTask,
  TaskClock,
} from '../../engine/pool/task.ts';

test('a task that is to run looks at its signal and not at the clock', () => {
  const clock = new TaskClock(newTaskSignal(), () => {
    throw new Error('the clock was read');
  });
  clock.follow();
});

test('time in which a task is parked is none of its time', () => {
  const signal = newTaskSignal();
  let threadMs = 0;
  // Each look at the clock of the thread takes 100 ms; the first of a parked task resumes it.
  const clock = new TaskClock(signal, () => {
    resumeTask(signal);
    threadMs += 100;
    return threadMs;
  });
  equal(clock.nowMs(), 100);
  parkTask(signal);
  clock.follow();
  equal(threadMs, 300);
  equal(clock.nowMs(), 400 - 100);
});

test('a task that may not be parked only looks whether it is to stop', () => {
  const signal = newTaskSignal();
  const clock = new TaskClock(signal, () => 0);
  clock.checkStopped();
  parkTask(signal);
  clock.checkStopped();
  stopTask(signal);
  throws(() => clock.checkStopped(), { code: 'query_cancelled' });
});

test('a task that is to stop does, parked or not, and neither goes on nor is parked again', () => {
  const signal = newTaskSignal();
  const clock = new TaskClock(signal, () => 0);
  parkTask(signal);
  stopTask(signal);
  throws(() => clock.follow(), { code: 'query_cancelled' });
  resumeTask(signal);
  parkTask(signal);
  throws(() => clock.follow(), { code: 'query_cancelled' });
});
