import { match } from 'node:assert/strict';
import test from 'node:test';
import { benchOutput } from './bench-output.ts';

test('the benchmark of growth gets the same answers for a project as its neighbours grow', async () => {
  const stdout = await benchOutput('bench/growth.ts', '--size', 'small');
  match(stdout, /\| p50, ms \| 4,000 \| 12,000 \| last ÷ first \|/);
  match(stdout, /\| logs\.all \| [\d.]+ \| [\d.]+ \| [\d.]+ \(bar/);
});

test('the benchmark of posts beside calls measures the calls of both kinds', async () => {
  const stdout = await benchOutput('bench/at-once.ts', '--size', 'small');
  match(stdout, /idle: calls p50 [\d.]+ ms/);
  match(stdout, /at once with \d+ events\/s: calls p50 [\d.]+ ms.* event loop late by [\d.]+ ms/);
});

test('the benchmark of steps measures the longest step while events of each kind arrive', async () => {
  const stdout = await benchOutput('bench/steps.ts', '--size', 'small');
  for (const part of ['lean events by 500', 'full events by 500', 'lean events one by one']) {
    match(
      stdout,
      new RegExp(
        `^${part}: \\d+ steps, \\d+ longer than 10 ms, \\d+ of them while the host took a processor away; the longest in ms`,
        'm',
      ),
    );
  }
});

test('the benchmark of sizes measures an event of each kind', async () => {
  const stdout = await benchOutput('bench/event-size.ts', '--size', 'small');
  for (const kind of ['lean', 'invocations', 'full']) {
    match(stdout, new RegExp(`^${kind}: [\\d.]+ B of JSON, .* B in memory .* B on disk`, 'm'));
  }
});
