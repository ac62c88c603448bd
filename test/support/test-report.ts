import { relative, resolve } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { must } from '../../engine/assert.ts';
import { BUDGET_MARK } from './budget.ts';

/** So many of the slowest files are named at the end. */
const SLOWEST_COUNT = 10;

type Complete = Extract<TestEvent, { readonly type: 'test:complete' }>['data'];

/** What is known of a test file while it runs. */
type FileResult = {
  readonly path: string;
  testCount: number;
  failedCount: number;
  seconds: number;
  /** Why it ended badly: of its tests, or of itself. */
  error: Error | undefined;
};

/**
 * A reporter of `node:test`: a line for each file when it ends, each failure as soon as it is reported, and at the end the
 * budgets, the slowest files, what was left out, all failures again and the totals.
 */
// biome-ignore lint/style/noDefaultExport: node:test calls the default export of a reporter's module.
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const run = new RunReport();
  for await (const event of source) yield run.add(event);
  yield run.end();
}

class RunReport {
  readonly #startedMs = performance.now();
  /** The files that must hold tests; `test/run.ts` names them. */
  readonly #named = must(process.env['WEIR_TEST_FILES']).split(' ');
  readonly #files = new Map<string, FileResult>();
  readonly #budgets = new Set<string>();
  readonly #failures: string[] = [];
  readonly #skipped: string[] = [];
  #fileCount = 0;
  #endedCount = 0;
  #passedCount = 0;

  /** What is to be written for an event. */
  add({ type, data }: TestEvent): string {
    switch (type) {
      case 'test:enqueue':
        if (isFile(data)) this.#fileCount++;
        return '';
      case 'test:complete':
        return isFile(data) ? this.#endFile(data) : this.#endTest(data);
      case 'test:stdout':
        return this.#takeBudgets(data.message);
      case 'test:stderr':
        return data.message;
      case 'test:diagnostic':
        return data.file === undefined ? '' : `  ${sourcePath(data.file)}: ${data.message}\n`;
      default:
        return '';
    }
  }

  /** The summary. A run with failures, or with nothing run, ends with 1. */
  end(): string {
    for (const { path, error } of this.#files.values()) {
      if (error !== undefined && !this.#hasFailedTests(path)) {
        this.#failures.push(failureText(path, error));
      }
    }
    const withTests = Array.from(this.#files.values()).filter(({ testCount }) => testCount > 0);
    const paths = new Set(withTests.map(({ path }) => path));
    for (const path of this.#named) {
      if (!paths.has(path)) this.#failures.push(`${path}: holds no test`);
    }
    if (this.#failures.length > 0 || this.#passedCount === 0) process.exitCode = 1;
    const slowest = Array.from(this.#files.values())
      .sort((left, right) => right.seconds - left.seconds)
      .slice(0, SLOWEST_COUNT)
      .map(({ path, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${path}`);
    const seconds = (performance.now() - this.#startedMs) / 1000;
    const time = `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
    return [
      ...section('budgets', [...this.#budgets].sort()),
      ...section('left out', this.#skipped),
      ...section('slowest files', slowest),
      ...section('failed', this.#failures),
      `\n${this.#named.length} files in ${this.#fileCount} processes took ${time}`,
      `${this.#passedCount} passed, ${this.#failures.length} failed, ${this.#skipped.length} skipped\n`,
    ].join('\n');
  }

  #endTest(data: Complete): string {
    // A suite is counted by its tests; one that is left out has none.
    if (data.details.type === 'suite' && data.skip === undefined && isPassed(data)) return '';
    const file = this.#file(must(data.file, 'a test is in a file'));
    file.testCount++;
    if (data.skip !== undefined) {
      const reason = typeof data.skip === 'string' ? `: ${data.skip}` : '';
      this.#skipped.push(`${file.path}: ${data.name}${reason}`);
      return '';
    }
    if (isPassed(data)) {
      this.#passedCount++;
      return '';
    }
    file.failedCount++;
    const text = failureText(`${file.path}:${data.line}: ${data.name}`, data.details.error);
    this.#failures.push(text);
    return `FAILED  ${text}\n`;
  }

  /** The tests of a file may be reported after it: Node reports them in the order of files. */
  #endFile(data: Complete): string {
    const file = this.#file(must(data.file, 'a test is in a file'));
    file.seconds = data.details.duration_ms / 1000;
    file.error = data.details.passed ? undefined : data.details.error;
    this.#endedCount++;
    const count = `${String(this.#endedCount).padStart(4)}/${this.#fileCount}`;
    const mark = data.details.passed ? '' : '  FAILED';
    return `${count}  ${file.path}  ${file.seconds.toFixed(1)} s${mark}\n`;
  }

  /** Keeps the lines that tell a budget; gives back the others. */
  #takeBudgets(text: string): string {
    const others = text.split('\n').filter((line) => {
      if (!line.startsWith(BUDGET_MARK)) return true;
      this.#budgets.add(line.slice(BUDGET_MARK.length));
      return false;
    });
    return others.join('\n');
  }

  /** Of the file, or of those that it imports: a folder whose tests are run together has a file of its name. */
  #hasFailedTests(path: string): boolean {
    const folder = path.replace(/\.test\.ts$/, '/');
    return Array.from(this.#files.values()).some(
      (file) => file.failedCount > 0 && (file.path === path || file.path.startsWith(folder)),
    );
  }

  #file(absolute: string): FileResult {
    const path = sourcePath(absolute);
    let file = this.#files.get(path);
    if (file === undefined) {
      file = { path, testCount: 0, failedCount: 0, seconds: 0, error: undefined };
      this.#files.set(path, file);
    }
    return file;
  }
}

/** A file is reported as a test of its own, named by its path. */
function isFile({ name, file }: { readonly name: string; readonly file?: string }): boolean {
  return file !== undefined && resolve(name) === file;
}

function isPassed({ details }: Complete): boolean {
  return details.passed;
}

/** Where the source of a compiled file lies, from the top of the repository. */
function sourcePath(absolute: string): string {
  return relative('.', absolute)
    .replace(/^build\//, '')
    .replace(/\.js$/, '.ts');
}

/** What went wrong, with the cause that Node wraps. */
function failureText(title: string, error: Error | undefined): string {
  return `${title}\n${inspect(error?.cause ?? error)}`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`\n${title}`, ...lines.map((line) => `  ${line}`)];
}
