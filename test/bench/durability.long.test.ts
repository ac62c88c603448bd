import assert from 'node:assert/strict';
import test from 'node:test';
import { benchOutput } from './bench-output.ts';

test('the benchmark of durability finds every event again, after a kill and in a log', async () => {
  const stdout = await benchOutput('bench/durability.ts', '--size', 'small');
  assert.match(stdout, /acknowledged in p50 [\d.]+ ms \(bar <= 3 ms: /);
  // 200 posts to warm up and 100 of 20 events each, and at least 10 of 500.
  const acknowledged = /all of (\d+) acknowledged events are back/.exec(stdout)?.[1];
  assert(Number(acknowledged) >= 6_000 + 10 * 500, stdout);
  const [, files, json] = /(\d+) B\/event in 1 segment files, of (\d+) B\/event/.exec(stdout) ?? [];
  assert(Number(files) > 0 && Number(files) < Number(json), stdout);
  assert.match(stdout, /ready in [\d.]+ s, 2500 events replayed, /);
});
