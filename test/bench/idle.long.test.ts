import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';

test('the benchmark of an idle service measures its memory in each profile', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--import', 'tsx', 'bench/idle.ts'],
    ...['--size', 'small', '--uncompiled'],
  ]);
  for (const profile of ['default', 'supabase']) {
    assert.match(stdout, new RegExp(`^${profile}, idle for .*: \\d+ MB resident`, 'm'));
    assert.match(stdout, new RegExp(`^${profile}, after 90 events and 2 calls: \\d+ MB`, 'm'));
  }
});
