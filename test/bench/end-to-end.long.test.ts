import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';

/** Of the small size: made-up traffic of seed 1, so the same on every machine. */
const RESULT_HASH = '300189a4244f';

test('the end-to-end benchmark stores events and gets the expected answers', async () => {
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
