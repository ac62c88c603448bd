import assert from 'node:assert/strict';
import test from 'node:test';
import { benchOutput } from './bench-output.ts';

test('the benchmark of an idle service measures its memory in each profile', async () => {
  const stdout = await benchOutput('bench/idle.ts', '--size', 'small');
  for (const profile of ['default', 'supabase']) {
    assert.match(stdout, new RegExp(`^${profile}, idle for .*: \\d+ MB resident`, 'm'));
    assert.match(stdout, new RegExp(`^${profile}, after 90 events and 2 calls: \\d+ MB`, 'm'));
  }
});
