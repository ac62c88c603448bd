import { match } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';

test('the benchmark of intake finds every acknowledged event', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--import', 'tsx', 'bench/peers/intake.ts'],
    ...['--size', 'small', '--only', 'weir', '--uncompiled'],
  ]);
  match(stdout, /^\| weir \| \d+ \| \d+ \| \d+ \|$/m);
});
