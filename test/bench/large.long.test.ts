import { equal, match, ok } from 'node:assert/strict';
import test from 'node:test';
import { benchOutput, sourceOutput } from './bench-output.ts';

/** Of the small size: made-up events of fixed seeds, so the same on every machine. */
const RESULT_HASH = '4e8fbdb25869';

test('the benchmark of a large store gets the expected answers, and those of other engines', async () => {
  const stdout = await benchOutput('bench/large.ts', '--size', 'small');
  equal(/result hash (\w+)/.exec(stdout)?.[1], RESULT_HASH);
  match(stdout, /^\| logs\.all, three rows \| 3 to 3 \| [\d.]+ \/ [\d.]+ \/ [\d.]+ \|/m);
  match(stdout, /^\| invocation-stats 7day \| 6 to 6 \|/m);
  match(stdout, /^start: \d+ ms \(bar/m);
  match(
    stdout,
    /^idle for [\d.]+ s: [\d.]+ % of a processor, [\d.]+ renewals\/s, threads run .* s \(bar/m,
  );
  for (const name of ['sqlite', 'duckdb', 'clickhouse']) {
    match(stdout, new RegExp(`^${name} (?:is left out: .+|gives the same answers)$`, 'im'));
  }
});

test('its short form has a store larger than memory, and reads from it for each call', async () => {
  // tsx takes so much of the memory that a store of few events is larger than the rest.
  const stdout = await sourceOutput('bench/large.ts', '--size', 'short', '--only', 'weir');
  const fileMegabytes = Number(/^(\d+) MB in \d+ segment files/m.exec(stdout)?.[1]);
  const limitMegabytes = Number(/^asking: .* of (\d+) MB in memory/m.exec(stdout)?.[1]);
  ok(fileMegabytes > limitMegabytes, stdout);
  const [, p50] = /^\| logs\.all, busiest \|.*\|.*\| ([\d.]+) \/ [\d.]+ \|$/m.exec(stdout) ?? [];
  ok(Number(p50) > 0, stdout);
});

test('the soak prints a line for each minute, and which goals were reached', async () => {
  const stdout = await benchOutput('bench/soak.ts', '--size', 'small');
  match(stdout, /^an empty store takes \d+ events\/s\nsent: \d+ events\/s$/m);
  const counts = Array.from(
    // On a busy machine a minute, which is two seconds here, may have no answer, and no times of one.
    stdout.matchAll(/^\| \d+ \| (\d+) \| 0 \| [^|]+ \| \d+ \| \d+ \| (\d+) \| /gm),
    ([, answered, events]) => ({ answered: Number(answered), events: Number(events) }),
  );
  equal(counts.length, 3, stdout);
  ok(counts.some(({ answered }) => answered > 0) && counts.some(({ events }) => events > 0));
  match(stdout, /^posts refused: \d+ \(bar 0: /m);
});
