import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Whether npm can be started here. */
export function hasNpm(): boolean {
  return spawnSync('npm', ['--version'], { stdio: 'ignore' }).status === 0;
}

/** A command of npm that has hung is ended, with all it started. */
const TIME_MS_MAX = 5 * 60_000;

/** Where npm runs: nothing of the user's own settings and caches is read or changed. */
export type NpmWorld = {
  /** Of all that npm keeps. */
  readonly home: string;
  readonly registryUrl: string;
};

/**
 * `npm` or `npx` with all processes that it starts: a group of their own, which `kill` ends as a whole.
 */
export class NpmProcess {
  #out = '';
  #err = '';
  readonly #child: ChildProcess;
  readonly #closed: Promise<number | null>;
  readonly #timer: NodeJS.Timeout;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#out += text;
    });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#err += text;
    });
    this.#closed = once(child, 'close').then(([status]) => status as number | null);
    this.#timer = setTimeout(() => this.kill(), TIME_MS_MAX);
  }

  static start(
    words: readonly [program: 'npm' | 'npx', ...rest: string[]],
    folder: string,
    world: NpmWorld,
    environment: Readonly<Record<string, string>> = {},
  ): NpmProcess {
    const [program, ...rest] = words;
    const child = spawn(program, rest, {
      cwd: folder,
      env: { ...npmEnvironment(world), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    return new NpmProcess(child);
  }

  /** Runs one that ends by itself, and must end well. */
  static async run(...call: Parameters<typeof NpmProcess.start>): Promise<void> {
    const running = NpmProcess.start(...call);
    const status = await running.ended();
    if (status !== 0) throw new Error(`${call[0].join(' ')} ended with ${status}: ${running.said}`);
  }

  /** What it has written, for whoever looks into a failure. */
  get said(): string {
    return `${this.#out}\n${this.#err}`;
  }

  /** What has matched in its output, as soon as it does. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    const stop = new AbortController();
    const closed = this.#closed.then(() => stop.abort());
    for (;;) {
      const found = pattern.exec(this.#out);
      if (found !== null) return found;
      if (stop.signal.aborted) throw new Error(`it ended without ${pattern}: ${this.said}`);
      const more = once(this.#child.stdout!, 'data', { signal: stop.signal }).catch(() => {});
      await Promise.race([more, closed]);
    }
  }

  /** Its exit status, once it and all who write where it writes have ended; null: a signal ended it. */
  async ended(): Promise<number | null> {
    const status = await this.#closed;
    clearTimeout(this.#timer);
    return status;
  }

  /** Whether a process that it has started is there still. */
  get isAlive(): boolean {
    return this.#signal(0);
  }

  kill(): void {
    clearTimeout(this.#timer);
    this.#signal('SIGKILL');
  }

  #signal(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-this.#child.pid!, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
      throw error;
    }
  }
}

function npmEnvironment({ home, registryUrl }: NpmWorld): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: home,
    TMPDIR: home,
    npm_config_cache: join(home, 'cache'),
    npm_config_userconfig: join(home, 'user.npmrc'),
    npm_config_globalconfig: join(home, 'global.npmrc'),
    npm_config_registry: registryUrl,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
}
