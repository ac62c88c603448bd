import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { showProgress } from '../../src/command/progress.ts';
import { type CaseParameter, caseKey, readCases } from './case-file.ts';
import { conformancePage } from './conformance-page.ts';
import { GOOGLE_TABLES, NOW_US } from './data-tables.ts';
import { goldenLine, goldenOf, goldenPath, readGoldens } from './golden-file.ts';
import { type GoogleParameter, GoogleSql } from './google-sql.ts';
import type { GoogleInput } from './google-value.ts';
import { recordSavedTexts } from './saved-text-golden.ts';

const PAGE = new URL('./CONFORMANCE.md', import.meta.url);

/** Google's engine has no way to set its clock. */
const CLOCK = /\bCURRENT_TIMESTAMP\b(?:\(\))?/gi;

/**
 * Remakes Google's answers and compares them with the golden files; with `--write`, writes these.
 * Exits with 1 when they differ.
 */
const write = process.argv.includes('--write');
const google = await GoogleSql.start();
try {
  const files = [
    { name: 'cases', lines: await recordCases() },
    { name: 'saved-texts', lines: await recordSavedTexts(google) },
  ];
  showProgress('');
  for (const { name, lines } of files) settle(name, lines);
  if (write) writeFileSync(PAGE, conformancePage(readCases(), readGoldens('cases')));
} finally {
  await google.stop();
}

async function recordCases(): Promise<readonly string[]> {
  const cases = readCases();
  const lines: string[] = [];
  const unusable: string[] = [];
  for (const [index, each] of cases.entries()) {
    showProgress(`case ${index + 1} of ${cases.length}`);
    const answer = await google.evaluate(each.sql.replace(CLOCK, '@now'), {
      tables: GOOGLE_TABLES,
      parameters: parametersOf(each.parameters),
    });
    if (answer.error?.phase === 'unsupported') {
      unusable.push(`${each.place}: ${answer.error.message.split('\n', 1)[0]}`);
    } else {
      lines.push(goldenLine(goldenOf(caseKey(each), answer)));
    }
  }
  if (unusable.length > 0) {
    throw new Error(`Google's engine cannot run these cases:\n${unusable.join('\n')}`);
  }
  return lines;
}

function parametersOf(parameters: readonly CaseParameter[]): Record<string, GoogleParameter> {
  const given = parameters.map(
    ({ name, type, value }) => [name, { type, value: value as GoogleInput }] as const,
  );
  return { ...Object.fromEntries(given), now: { type: { kind: 'TIMESTAMP' }, value: NOW_US } };
}

function settle(name: string, lines: readonly string[]): void {
  const path = goldenPath(name);
  if (write) {
    writeFileSync(path, `${lines.join('\n')}\n`);
    console.error(`${name}: ${lines.length} answers written`);
    return;
  }
  const kept = existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  const [before, after] = [new Set(kept), new Set(lines)];
  const gone = kept.filter((line) => !after.has(line));
  const added = lines.filter((line) => !before.has(line));
  for (const line of gone) console.error(`- ${line}`);
  for (const line of added) console.error(`+ ${line}`);
  const isSame = kept.join('\n') === lines.join('\n');
  console.error(
    isSame ? `${name}: all ${lines.length} answers as before` : `${name}: the answers differ`,
  );
  if (!isSame) process.exitCode = 1;
}
