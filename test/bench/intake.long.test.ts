import { match } from 'node:assert/strict';
import test from 'node:test';
import { benchOutput } from './bench-output.ts';

test('the benchmark of intake finds every acknowledged event', async () => {
  const stdout = await benchOutput('bench/peers/intake.ts', '--size', 'small', '--only', 'weir');
  match(stdout, /^\| weir \| \d+ \| \d+ \| \d+ \|$/m);
});
