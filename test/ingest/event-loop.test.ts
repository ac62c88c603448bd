import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoopTurns } from '../../ingest/event-loop.ts';
import { LOOP_TURN_MS_MAX } from '../../ingest/limits.ts';

/** What ran in which order, `-` where the event loop turned: work in slices that take so long each. */
async function stepsOf(sliceMs: number): Promise<string> {
  let nowMs = 0;
  const turns = new LoopTurns(() => nowMs);
  const steps: string[] = [];
  const worker = async (name: string): Promise<void> => {
    for (let step = 1; step <= 2; step++) {
      await turns.yield();
      steps.push(`${name}${step}`);
      nowMs += sliceMs;
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
  return steps.join(' ');
}

test('a turn resumes as many waiting slices as it has time for, in order, with other work between turns', async () => {
  assert.equal(await stepsOf(0), 'a1 b1 c1 d1 e1 - a2 b2 c2 d2 e2');
  const half = await stepsOf(LOOP_TURN_MS_MAX / 2);
  assert.equal(half, 'a1 b1 - c1 d1 - e1 a2 - b2 c2 - d2 e2');
  const all = await stepsOf(LOOP_TURN_MS_MAX);
  assert.equal(all, 'a1 - b1 - c1 - d1 - e1 - a2 - b2 - c2 - d2 - e2');
});

test('a turn whose time is used up ends with the turn of the event loop', async () => {
  let nowMs = 0;
  const turns = new LoopTurns(() => nowMs);
  assert.equal(turns.isSpent(), false, 'nothing has run');
  nowMs += LOOP_TURN_MS_MAX;
  assert.equal(turns.isSpent(), true, 'its time has gone by');
  await new Promise(setImmediate);
  assert.equal(turns.isSpent(), false, 'it is another turn');
});
