import { equal, match } from 'node:assert/strict';
import test from 'node:test';
import { benchOutput } from './bench-output.ts';

/** Of the small size: made-up events of fixed seeds, so the same on every machine. */
const RESULT_HASH = 'b3315da4ba9f';

test('the benchmark of lists of fields gets the expected answers, also while events come in', async () => {
  const stdout = await benchOutput('bench/fields.ts', '--size', 'small');
  equal(/result hash (\w+)/.exec(stdout)?.[1], RESULT_HASH);
  for (const stage of ['just filled', 'at rest', 'with 1000 events/s']) {
    for (const list of ['whole source', 'last hour', 'busiest project', 'project 100']) {
      match(
        stdout,
        new RegExp(`^${stage}, ${list}: first \\d+ ms, then p50 \\d+, p99 \\d+ ms`, 'm'),
      );
    }
  }
  match(stdout, /^[1-9]\d* events\/s were taken$/m);
});
