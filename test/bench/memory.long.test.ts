import assert from 'node:assert/strict';
import test from 'node:test';
import { benchOutput } from './bench-output.ts';

/** Of the small size: made-up events of seed 1, so the same on every machine. */
const RESULT_HASH = '66d6ce72dc96';

test('the benchmark of memory gets the same answers with little memory as with enough', async () => {
  const stdout = await benchOutput('bench/memory.ts', '--size', 'small');
  const [little, enough] = stdout.split('the same folder');
  const evicted = (text: string | undefined): number =>
    Number(/asking: .* so far (\d+) blocks evicted/.exec(text ?? '')?.[1]);
  assert(evicted(little) > 0, stdout);
  assert.equal(evicted(enough), 0, stdout);
  assert.equal(/all answers are the same, result hash (\w+)/.exec(stdout)?.[1], RESULT_HASH);
});
