import assert from 'node:assert/strict';
import test from 'node:test';
import { benchOutput } from './bench-output.ts';

/** Of the small size: made-up traffic of seed 1, so the same on every machine. */
const RESULT_HASH = '300189a4244f';

test('the end-to-end benchmark stores events and gets the expected answers', async () => {
  const stdout = await benchOutput('bench/end-to-end.ts', '--size', 'small');
  assert.match(stdout, /events\/s taken in/);
  assert.equal(/result hash (\w+)/.exec(stdout)?.[1], RESULT_HASH);
});
