import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';

test('the benchmark of durability finds every event again after a kill', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--import', 'tsx', 'bench/durability.ts'],
    ...['--size', 'small', '--uncompiled'],
  ]);
  assert.match(stdout, /acknowledged in p50 [\d.]+ ms/);
  // 200 posts to warm up and 100 of 20 events each, and 40 of 500.
  assert.match(stdout, /26000 events back, \d+ events\/s replayed/);
});
