import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';

/** Of the small size: made-up traffic of seed 1, so the same on every machine. */
const RESULT_HASH = '300189a4244f';

test('the benchmark takes events in and gets the answers it always got', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--import',
    'tsx',
    'bench/end-to-end.ts',
    '--size',
    'small',
    '--uncompiled',
  ]);
  assert.match(stdout, /events\/s taken in/);
  assert.equal(/result hash (\w+)/.exec(stdout)?.[1], RESULT_HASH);
});
