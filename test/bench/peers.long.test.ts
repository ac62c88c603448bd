import { equal, match } from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { benchOutput } from './bench-output.ts';

/** Of the small size: made-up events of fixed seeds, so the same on every machine. */
const RESULT_HASH = '58e8cd362c6f';

const ONLY = ['--only', 'weir-engine-scanned,weir-http-repeated'];

test('the comparison gets the expected answers, in the engine and over HTTP, and can be resumed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-test-'));
  try {
    const compare = (): Promise<string> =>
      benchOutput('bench/peers/run.ts', '--size', 'small', ...ONLY, '--folder', folder);
    const stdout = await compare();
    match(stdout, /4,000 lean, 4,000 invocations/);
    match(stdout, /\| invocation-stats 7day, hot \| 8 \| [\d.]+ \| [\d.]+ \| – \|/);
    equal(/result hash (\w+)/.exec(stdout)?.[1], RESULT_HASH);
    // What was measured is not measured again, so that not even a time is another.
    equal(await compare(), stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
