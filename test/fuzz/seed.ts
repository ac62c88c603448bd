import { execFileSync } from 'node:child_process';

/** Whole number of the environment variable `name`; `otherwise` when it is not set. */
export function numberFrom(name: string, otherwise: number): number {
  const text = process.env[name];
  if (text === undefined || text === '') return otherwise;
  if (!/^\d{1,10}$/.test(text)) throw new Error(`${name} must be a whole number; got "${text}"`);
  return Number(text);
}

/** The seed of a run: `WEIR_FUZZ_SEED`, else the commit's hash, so that each commit tries another. */
export function fuzzSeed(): number {
  return numberFrom('WEIR_FUZZ_SEED', Number.parseInt(commitHash().slice(0, 8), 16));
}

function commitHash(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    // Not in a working copy: any seed will do, as long as it is printed.
    return '5eed5eed';
  }
}
