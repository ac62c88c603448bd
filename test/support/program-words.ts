import { fileURLToPath } from 'node:url';

/** Whether this module runs as JavaScript that was compiled beside the others, not through tsx. */
const IS_COMPILED = import.meta.url.endsWith('.js');

/**
 * The words after `node` that run a program of the project, in the form in which this module runs: compiled, or from
 * its source through tsx. `path` is relative to the top of the repository: `src/main.ts`.
 */
export function programWords(path: string): readonly string[] {
  const file = fileURLToPath(moduleUrl(`../../${path}`, import.meta.url));
  return IS_COMPILED ? [file] : ['--import', 'tsx', file];
}

/** The URL of a TypeScript module in the form in which the module at `base` runs, `./worker.ts` relative to it. */
export function moduleUrl(relative: string, base: string): URL {
  return new URL(base.endsWith('.js') ? relative.replace(/\.ts$/, '.js') : relative, base);
}
