import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/**
 * Runs the test files named, or all of them. On Node 20 the test runner finds no TypeScript by
 * itself and would pass without having run anything, so the files are always given by name.
 */
/** A file that takes longer hangs, and is ended and named. The long forms take about half as long. */
const FILE_TIME_MS_MAX = 60 * 60_000;

const named = process.argv.slice(2);
const files = named.length > 0 ? named : allTestFiles();
if (files.length === 0) {
  console.error('no test files found under test/');
  process.exit(1);
}

function allTestFiles(): readonly string[] {
  const entries = readdirSync('test', { recursive: true, encoding: 'utf8' });
  return entries
    .filter((entry) => entry.endsWith('.test.ts') && !entry.includes('node_modules'))
    .map((entry) => `test/${entry}`)
    .sort();
}

const runner = spawn(
  process.execPath,
  [
    '--import',
    'tsx',
    '--import',
    './test/support/property-limit.mjs',
    '--test',
    `--test-timeout=${FILE_TIME_MS_MAX}`,
    `--test-concurrency=${availableParallelism()}`,
    '--test-reporter=spec',
    ...files,
  ],
  { stdio: 'inherit' },
);
runner.on('exit', (code) => process.exit(code ?? 1));
