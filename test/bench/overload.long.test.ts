import { match } from 'node:assert/strict';
import test from 'node:test';
import { benchOutput } from './bench-output.ts';

test('the benchmark of overload finds everything acknowledged, and only documented answers', async () => {
  const stdout = await benchOutput('bench/overload.ts', '--size', 'small');
  match(stdout, /^at most: \d+ posts\/s/m);
  match(stdout, /^at 5 times that, taken: \d+ posts\/s/m);
  match(stdout, /^answers: .*\(bar 200, 429, 503: reached\)/m);
  match(stdout, /^refusals without Retry-After: 0 /m);
  match(stdout, /^stored: \d+ events \(bar \d+: reached\)/m);
});

test('the benchmark of fairness gives ratios for calls and posts, beside joins, and for honest tokens beside hostile ones', async () => {
  const stdout = await benchOutput('bench/fairness.ts', '--size', 'small');
  for (const kind of ['calls', 'posts']) {
    match(stdout, new RegExp(`^${kind}, pair 1: p50 .* ms; the noisy one: \\d+ answered`, 'm'));
    match(stdout, new RegExp(`^${kind}: p95 of the others, median of 1 ratios: `, 'm'));
  }
  match(stdout, /^joins: p99 of the calls beside: [\d.]+ ms \(bar/m);
  match(stdout, /^hostile, cross joins: p99 in ms posts \d+ → \d+.*, health \d+ → \d+/m);
  match(stdout, /^hostile: \d+ of \d+ kinds are noticed \(bar/m);
});

test('the benchmark of hostile callers measures patterns, texts, and the query after each bomb', async () => {
  const stdout = await benchOutput('bench/hostile.ts', '--size', 'small');
  match(stdout, /^\d+ patterns, 3 texts: p50 [\d.]+ ms, .* at most [\d.]+ ms \(bar/m);
  match(stdout, /^\d+ SQL texts: a step of the main thread takes at most [\d.]+ ms \(bar/m);
  match(stdout, /^CTEs that each name the one before twice: 422 query_limit after \d+ ms; then /m);
  match(stdout, /^after ÷ before, of \d+ bombs: median [\d.]+, at most [\d.]+ \(bar/m);
  match(
    stdout,
    /^\d+ hostile posts of 50000 bytes: 0 failed, \d+ held .*, at most [\d.]+ ms \(bar/m,
  );
});

test('the benchmark of stops loses no event, and leaves no connection without an answer', async () => {
  const stdout = await benchOutput('bench/stop.ts', '--size', 'small');
  match(stdout, /^connections that ended before an answer: 0 /m);
  match(stdout, /^gone after: p50 [\d.]+ s, at most [\d.]+ s \(bar/m);
  match(stdout, /^stored: \d+ events \(bar \d+: reached\)/m);
});
