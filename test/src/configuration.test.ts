import { deepEqual, equal, ok } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { formatFlag, SETTINGS, SUBJECTS, VARIABLES_READ } from '../../src/setting-table.ts';
import { readText } from '../support/source-files.ts';
import { withTables } from './configuration-page.ts';

const PATH = 'docs/configuration.md';

test('docs/configuration.md has the program’s tables of settings', () => {
  const page = withTables(readText(PATH));
  if (process.env['WEIR_UPDATE_GOLDEN'] === '1') writeFileSync(PATH, page);
  equal(readText(PATH), page);
});

test('each setting is in one table of the page, once', () => {
  const page = readText(PATH);
  for (const [, { variable, subject }] of SETTINGS) {
    equal(page.split(`\n| \`${variable}\``).length, 2, variable);
    ok(SUBJECTS.includes(subject));
  }
});

test('every setting and every weir start flag in docs/getting-started.md exists', () => {
  const [, table] =
    /^\| variable \| .*\n\|[-| ]+\|\n((?:\|.*\n)+)/m.exec(readText('docs/getting-started.md')) ??
    [];
  ok(table !== undefined, 'the page has a table that begins | variable |');
  const named = Array.from(table.matchAll(/`([A-Z_]+)`/g), ([, name]) => name!);
  ok(named.length >= 5);
  deepEqual(
    named.filter((name) => !VARIABLES_READ.includes(name)),
    [],
  );
  const flags = SETTINGS.filter(([, { isSecret }]) => isSecret !== true).map(
    ([, setting]) => `--${formatFlag(setting)}`,
  );
  const starts = Array.from(readText(PATH).matchAll(/weir start [^`\n]*/g), ([text]) => text);
  ok(starts.length > 0);
  for (const start of starts) {
    for (const flag of start.match(/--[\w-]+/g) ?? [])
      ok([...flags, '--strict'].includes(flag), flag);
  }
});

test('no two settings share a variable or a flag', () => {
  const variables = new Set(VARIABLES_READ);
  equal(variables.size, VARIABLES_READ.length);
  const flags = SETTINGS.map(([, setting]) => formatFlag(setting));
  equal(new Set(flags).size, flags.length);
  ok(!flags.includes('strict') && !flags.includes('help'));
});
