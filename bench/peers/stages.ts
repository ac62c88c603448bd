import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programWords } from '../../test/support/program-words.ts';
import { pathInRepository } from '../../test/support/source-files.ts';
import { figuresOf, hashOf } from '../measure.ts';
import { Tenants } from '../workload/tenants.ts';
import { ndjson } from '../workload/workload.ts';
import { loadedNameOf, type Measured } from './engine-list.ts';
import { type MeasuredAnswer, type MeasuredResult, readResult } from './result.ts';
import { sizeOf } from './size.ts';

/** So many events of each kind tell one data set from another. */
const FINGERPRINT_EVENTS = 200;

/** Two processors, and the memory that their pages take. */
const LOADED_AT_ONCE = 2;

type Task = 'version' | 'load' | 'measure' | 'first-calls';

/**
 * The stages of one comparison, each in a process of its own. What a stage has done is a file in the folder, and
 * is not done again.
 */
export class Stages {
  readonly #folder: string;
  readonly #sizeName: string;
  readonly #isUncompiled: boolean;

  /** @throws Error when the folder has data of another kind. */
  constructor(options: {
    readonly folder: string;
    readonly sizeName: string;
    readonly isUncompiled: boolean;
  }) {
    this.#folder = options.folder;
    this.#sizeName = options.sizeName;
    this.#isUncompiled = options.isUncompiled;
    mkdirSync(this.#path('results'), { recursive: true });
    const fingerprint = fingerprintOf(options.sizeName);
    const path = this.#path('fingerprint');
    if (!existsSync(path)) writeFileSync(path, fingerprint);
    if (readFileSync(path, 'utf8') !== fingerprint) {
      throw new Error(`${options.folder} has the data of another version: remove it`);
    }
  }

  /** Forgets what was measured of these, not what they have loaded. */
  forget(chosen: readonly Measured[]): void {
    for (const { name } of chosen) rmSync(this.#resultPath(name), { force: true });
  }

  /** The sentence why it cannot be measured on this machine, if so. */
  async hindrance({ kind, name }: Measured): Promise<string | undefined> {
    if (kind === 'weir') return undefined;
    try {
      await this.#run('version', name, this.#path('version'));
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /**
   * Loads what is not loaded yet, two at once, since most engines leave a processor idle for long. Those asked last
   * come first: they take the longest.
   *
   * @throws Error when one fails, after those under way have ended.
   */
  async loadAll(chosen: readonly Measured[], say: (text: string) => void): Promise<void> {
    const byName = new Map(chosen.map((one) => [loadedNameOf(one), one]));
    const waiting = Array.from(byName).filter(([name]) => !existsSync(this.#loadedPath(name)));
    const loadOneByOne = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const [name, measured] = next;
        say(`${name}: loading`);
        await this.#load(name, measured);
        say(`${name}: loaded`);
      }
    };
    // What one fails at does not leave the other's process behind, with nobody to take what it has done.
    const lanes = await Promise.allSettled(Array.from({ length: LOADED_AT_ONCE }, loadOneByOne));
    for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
  }

  async #load(name: string, measured: Measured): Promise<void> {
    // What an earlier attempt has left is not worth much.
    rmSync(this.#path(name), { recursive: true, force: true });
    await this.#run('load', measured.name, this.#loadedPath(name));
  }

  async measure(measured: Measured): Promise<MeasuredResult> {
    const { name } = measured;
    const path = this.#resultPath(name);
    if (!existsSync(path)) {
      if (measured.kind === 'weir' && measured.memory === 'sealed') await this.#firstCalls(name);
      else await this.#run('measure', name, path);
    }
    return readResult(path);
  }

  /** A question has few first calls in a process: what they take is the median of those of several. */
  async #firstCalls(name: string): Promise<void> {
    const results: MeasuredResult[] = [];
    for (let run = 0; run < sizeOf(this.#sizeName).firstCallCount; run++) {
      const path = this.#path(`${name}-first-calls`);
      await this.#run('first-calls', name, path);
      results.push(readResult(path));
    }
    const answers = results[0]!.answers.map((_, index) =>
      firstCallsOf(results.map((result) => result.answers[index]!)),
    );
    writeFileSync(this.#resultPath(name), JSON.stringify({ ...results[0]!, answers }));
  }

  /** The file appears when the task is done. @throws Error when it fails. */
  async #run(task: Task, name: string, path: string): Promise<void> {
    const partial = `${path}.partial`;
    const words = programWords('bench/peers/engine-process.ts');
    await runProcess([
      // Not compiled, weir's worker threads need it, too.
      ...(this.#isUncompiled ? words.slice(0, -1) : []),
      ...[pathInRepository('bench/peers/engine-process.mjs'), '--module', words.at(-1)!],
      ...['--task', task, '--name', name, '--folder', this.#folder],
      ...['--size', this.#sizeName, '--to', partial],
      ...(this.#isUncompiled ? ['--uncompiled'] : []),
    ]);
    renameSync(partial, path);
  }

  #loadedPath(name: string): string {
    return this.#path(`${name}-loaded`);
  }

  #resultPath(name: string): string {
    return join(this.#path('results'), `${name}.json`);
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

function fingerprintOf(sizeName: string): string {
  const { eventCounts, projectCount } = sizeOf(sizeName);
  const tenants = new Tenants(projectCount);
  const parts = Array.from(eventCounts, ([kind, eventCount]) => {
    const { value } = ndjson(kind, { tenants, eventCount, perText: FINGERPRINT_EVENTS }).next();
    return `${kind} ${eventCount} ${hashOf(value?.text ?? '')}`;
  });
  return `${parts.join('\n')}\n`;
}

function firstCallsOf(answers: readonly MeasuredAnswer[]): MeasuredAnswer {
  const first = answers[0]!;
  const firstMs = answers.flatMap((answer) => answer.firstMs ?? []);
  if (firstMs.length === 0) return first;
  return { ...first, firstMs, timing: { ...figuresOf(firstMs), callCount: firstMs.length } };
}

function runProcess(parameters: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, parameters, {
      stdio: ['ignore', 'inherit', process.stderr.isTTY ? 'inherit' : 'pipe'],
    });
    let said = '';
    child.stderr?.on('data', (part: Buffer) => {
      said = `${said}${part}`.slice(-2_000);
    });
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve();
      else
        reject(new Error(reasonOf(said) ?? `${parameters.join(' ')} ended with ${code}: ${said}`));
    });
  });
}

/** What the last error says that a process ended with, if it was one of JavaScript. */
function reasonOf(said: string): string | undefined {
  return said.match(/^\w*Error: .*$/gm)?.at(-1);
}
