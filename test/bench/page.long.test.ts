import { match } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';
import { missingBrowser } from '../console/playwright.ts';

test('the benchmark of the console measures lists, a long list, Live and hostile events', {
  skip: missingBrowser(),
}, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--import', 'tsx', 'bench/page.ts', '--size', 'small', '--uncompiled'],
  ]);
  for (const list of ['a week by method', 'a week', 'the last hour']) {
    for (const part of ['first rows', 'all bars']) {
      match(
        stdout,
        new RegExp(`^${list}, ${part}: page \\d+ ms, service \\d+ ms \\(bar <= 1\\.\\d x`, 'm'),
      );
    }
  }
  match(
    stdout,
    /^2000 rows that are scrolled: \d+ frames\/s in the median .* longest task \d+ ms/m,
  );
  match(stdout, /^memory of the tab: [1-9]\d* MB \(bar/m);
  match(stdout, /^live, 200 events\/s: \d+ frames\/s in the median .* longest task \d+ ms/m);
  match(stdout, /^hostile: longest task \d+ ms \(bar/m);
});
