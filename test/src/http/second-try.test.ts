import { deepEqual, equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError } from '../../../src/errors.ts';
import { SecondTry } from '../../../src/http/second-try.ts';

/** Fails this many times, and counts the attempts. */
function failing(times: number, error: Error): { readonly attempt: () => void; count: number } {
  const state = {
    count: 0,
    attempt: () => {
      state.count += 1;
      if (state.count <= times) throw error;
    },
  };
  return state;
}

const FOR_NOW = new ServiceError('ingest_overloaded', 'there is no room');

test('a temporary refusal is retried once before it is sent', async () => {
  for (const [failures, attempts] of [
    [0, 1],
    [1, 2],
    [2, 2],
  ] as const) {
    const state = failing(failures, FOR_NOW);
    const run = new SecondTry(1).run(state.attempt);
    if (failures < 2) await run;
    else await rejects(run, FOR_NOW);
    equal(state.count, attempts);
  }
});

test('a permanent refusal is sent at once', async () => {
  for (const error of [new ServiceError('body_too_large', 'it is'), new Error('a mistake')]) {
    const state = failing(1, error);
    await rejects(new SecondTry(1).run(state.attempt), error);
    equal(state.count, 1);
  }
});

test('the number of waiting requests is limited, and each frees its place', async () => {
  const secondTry = new SecondTry(20, 2);
  const states = [1, 1, 1, 0].map((failures) => failing(failures, FOR_NOW));
  const outcomes = await Promise.allSettled(states.map(({ attempt }) => secondTry.run(attempt)));
  deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  );
  await secondTry.run(failing(1, FOR_NOW).attempt);
});
