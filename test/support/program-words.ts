import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Whether this module runs as JavaScript that was compiled beside the others, not through tsx. */
export const IS_COMPILED = import.meta.url.endsWith('.js');

/**
 * The words after `node` that run a program of the project, in the form in which this module runs: compiled, or from
 * its source through tsx. `path` is relative to the top of the repository: `src/main.ts`.
 */
export function programWords(path: string): readonly string[] {
  const file = fileURLToPath(moduleUrl(`../../${path}`, import.meta.url));
  return IS_COMPILED ? [file] : ['--import', 'tsx', file];
}

/** Starts a program of the project, in the form in which this module runs, that exchanges messages with this process. */
export function forkProgram(path: string, options: ForkOptions = {}): ChildProcess {
  const words = programWords(path);
  return fork(words.at(-1)!, { ...options, execArgv: [...words.slice(0, -1)] });
}

/** The URL of a TypeScript module in the form in which the module at `base` runs, `./worker.ts` relative to it. */
export function moduleUrl(relative: string, base: string): URL {
  return new URL(base.endsWith('.js') ? relative.replace(/\.ts$/, '.js') : relative, base);
}
