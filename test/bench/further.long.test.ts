import { match } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';

async function outputOf(path: string, ...parameters: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--import', 'tsx', path, '--size', 'small', ...parameters],
  ]);
  return stdout;
}

test('the benchmark of growth gets the same answers for a project as its neighbours grow', async () => {
  const stdout = await outputOf('bench/growth.ts', '--uncompiled');
  match(stdout, /\| p50, ms \| 4,000 \| 12,000 \| last ÷ first \|/);
  match(stdout, /\| logs\.all \| [\d.]+ \| [\d.]+ \| [\d.]+ \(bar/);
});

test('the benchmark of posts beside calls measures the calls of both kinds', async () => {
  const stdout = await outputOf('bench/at-once.ts', '--uncompiled');
  match(stdout, /idle: calls p50 [\d.]+ ms/);
  match(stdout, /at once with \d+ events\/s: calls p50 [\d.]+ ms.* event loop late by [\d.]+ ms/);
});

test('the benchmark of steps measures the longest step while events of each kind arrive', async () => {
  const stdout = await outputOf('bench/steps.ts', '--uncompiled');
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
  const stdout = await outputOf('bench/event-size.ts');
  for (const kind of ['lean', 'invocations', 'full']) {
    match(stdout, new RegExp(`^${kind}: [\\d.]+ B of JSON, .* B in memory .* B on disk`, 'm'));
  }
});
