import { equal, match } from 'node:assert/strict';
import test from 'node:test';
import { benchOutput } from './bench-output.ts';

/** Of the small size: made-up events of fixed seeds, so the same on every machine. */
const RESULT_HASH = '2b6b311ae97f';

test('the benchmark of live projects counts first calls, and gets the expected answers', async () => {
  const stdout = await benchOutput('bench/live.ts', '--size', 'small');
  equal(/result hash (\w+)/.exec(stdout)?.[1], RESULT_HASH);
  match(
    stdout,
    /^weir: [1-9]\d* calls answered, 0 not 200; \d+ events\/s taken, \d+ posts refused$/m,
  );
  match(stdout, /^\| [\w.-]+, first \| .*\d+: [\d.]+ \/ [\d.]+ \/ [\d.]+/m);
});
