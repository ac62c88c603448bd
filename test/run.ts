import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fuzzSeed } from './fuzz/seed.ts';

/**
 * Compiles the project to `build/` and runs its tests there: a compiled file starts in a third of the time that a
 * source takes. Files named in the command are run, or all that are not long; with `--all` the long ones, too, and each
 * suite with its larger budget (`test/support/budget.ts`).
 *
 *   node --import tsx test/run.ts [--all] [test/sql/lexer.test.ts ...]
 */

/**
 * A test file that takes longer hangs; it is ended and named. The long forms have more: some take half an hour where nothing
 * else runs.
 */
const FILE_TIME_MS_MAX = Number(process.env['WEIR_TEST_MINUTES'] ?? 60) * 60_000;

const BUILD = 'build';

/**
 * The files of a folder are run in one process, which reads the code that they test once: their `before` hooks run before the
 * first test of all of them, and their `after` hooks behind the last. A process of its own has a file with hooks around each
 * test, which would run around those of the other files, too, one that counts the steps of all code of its process, and one
 * that says so; so has a long one.
 */
const NEEDS_A_PROCESS =
  /^(?:beforeEach|afterEach)\(|\bnew StepCounter\(|^\/\/ In a process of its own: /m;

/**
 * Before Node 22, V8 compiles a function to its fastest code after it has run 132 KB of bytecode. Tests run much code a
 * few times: with a later compilation they use a quarter less processor time. Later versions of V8 compile in smaller
 * steps and have no such option.
 */
const COMPILE_LATER =
  Number.parseInt(process.versions.node, 10) < 22 ? ['--interrupt-budget=500000'] : [];

/** `*.long.test.ts` is too long for the run before each commit. */
const LONG_ENDING = '.long.test.ts';

const words = process.argv.slice(2);
const isAll = words.includes('--all');
const named = words.filter((word) => word !== '--all');
const files = named.length > 0 ? named : findTestFiles();
if (files.length === 0) {
  console.error('no test files found under test/');
  process.exit(1);
}

const startedMs = performance.now();
compile();
console.log(`compiled in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);

const entryFiles =
  named.length > 0 ? named.map((file) => join(BUILD, compiledPath(file))) : findEntryFiles();

const runner = spawn(
  process.execPath,
  [
    ...['--enable-source-maps', ...COMPILE_LATER],
    ...['--import', './test/support/property-settings.mjs', '--test'],
    `--test-timeout=${FILE_TIME_MS_MAX}`,
    `--test-concurrency=${availableParallelism() + 1}`,
    ...['--test-reporter', `./${BUILD}/test/support/test-report.js`],
    ...entryFiles,
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      ...(isAll ? { WEIR_TESTS: 'all' } : {}),
      WEIR_TEST_FILES: files.join(' '),
      WEIR_FUZZ_SEED: String(fuzzSeed()),
      // Read by Node 22 and later.
      NODE_COMPILE_CACHE: join(BUILD, 'compile-cache'),
    },
  },
);
runner.on('exit', (code) => process.exit(code ?? 1));

function findTestFiles(): readonly string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((entry) => entry.endsWith('.test.ts') && !entry.includes('node_modules'))
    .filter((entry) => isAll || !entry.endsWith(LONG_ENDING))
    .map((entry) => `test/${entry}`)
    .sort();
}

function compiledPath(file: string): string {
  return file.replace(/\.ts$/, '.js');
}

/** The files to start a process each with. Those of a folder that are run together are imported by a new one. */
function findEntryFiles(): readonly string[] {
  const together = new Map<string, string[]>();
  const apart: string[] = [];
  for (const file of files) {
    const isApart = file.endsWith(LONG_ENDING) || NEEDS_A_PROCESS.test(readFileSync(file, 'utf8'));
    if (isApart) apart.push(compiledPath(file));
    else together.set(dirname(file), [...(together.get(dirname(file)) ?? []), basename(file)]);
  }
  const entries = Array.from(together, ([folder, names]) => {
    const imports = names.map((name) => `import './${basename(folder)}/${compiledPath(name)}';`);
    const entry = join(BUILD, compiledPath(`${folder}.test.ts`));
    writeFileSync(entry, imports.join('\n'));
    return entry;
  });
  return [...entries, ...apart.map((file) => join(BUILD, file))];
}

/** Types are checked by `npm run types`. */
function compile(): void {
  // What is no longer a source must not be found.
  for (const folder of ['engine', 'ingest', 'src', 'bench', 'test']) {
    rmSync(join(BUILD, folder), { recursive: true, force: true });
  }
  const options = ['--noEmit', 'false', '--noCheck', '--sourceMap', '--outDir', BUILD];
  const tsc = join('node_modules', '.bin', 'tsc');
  execFileSync(tsc, ['-p', 'tsconfig.json', ...options, '--rootDir', '.'], { stdio: 'inherit' });
  // As `npm run build` has it: a thread that loads one file starts in half the time.
  for (const [script, target] of [
    ['bundle', `--outdir=${BUILD}`],
    ['page', BUILD],
  ] as const) {
    execFileSync('npm', ['run', '--silent', script, '--', target], { stdio: 'inherit' });
  }
}
