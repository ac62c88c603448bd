import assert from 'node:assert/strict';
import { test } from 'node:test';
import { yieldToEventLoop } from '../../ingest/event-loop.ts';

test('of all that wait a few go on at a turn, in order, with everything else between', async () => {
  const steps: string[] = [];
  const worker = async (name: string): Promise<void> => {
    for (let step = 1; step <= 2; step++) {
      await yieldToEventLoop();
      steps.push(`${name}${step}`);
    }
  };
  let isDone = false;
  const other = (): void => {
    steps.push('-');
    if (!isDone) setImmediate(other);
  };
  const workers = Promise.all(Array.from('abcde', worker));
  setImmediate(other);
  await workers;
  isDone = true;
  assert.equal(steps.join(' '), 'a1 b1 c1 d1 - e1 a2 b2 c2 - d2 e2');
});
