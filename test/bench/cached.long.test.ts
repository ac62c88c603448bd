import assert from 'node:assert/strict';
import test from 'node:test';
import { benchOutput } from './bench-output.ts';

/** Of rows that depend on nothing but the parameters. */
const RESULT_HASH = '6dbb6c9d8eb0';

test('the benchmark of kept answers gets the expected bytes at both body sizes', async () => {
  const stdout = await benchOutput('bench/cached.ts', '--size', 'small');
  assert.match(
    stdout,
    /912 bytes[\s\S]*cached {3}.*requests\/s[\s\S]*99012 bytes[\s\S]*cached \/ constant/,
  );
  assert.equal(/result hash (\w+)/.exec(stdout)?.[1], RESULT_HASH);
});
