import { match } from 'node:assert/strict';
import test from 'node:test';
import { missingBrowser } from '../console/playwright.ts';
import { benchOutput } from './bench-output.ts';

test('the benchmark of the console measures lists, a long list, Live and hostile events', {
  skip: missingBrowser(),
}, async () => {
  const stdout = await benchOutput('bench/page.ts', '--size', 'small');
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
