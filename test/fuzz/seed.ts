import { execFileSync } from 'node:child_process';
import { numberFrom } from '../support/environment.ts';

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
