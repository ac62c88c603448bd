import { execFileSync } from 'node:child_process';
import { numberFrom } from '../support/environment.ts';

/** The seed of a run: `WEIR_FUZZ_SEED`, else the hash of the newest commit that changed more than documents. */
export function fuzzSeed(): number {
  return numberFrom('WEIR_FUZZ_SEED', Number.parseInt(commitHash().slice(0, 8), 16));
}

function commitHash(): string {
  try {
    const arguments_ = ['log', '-1', '--format=%H', '--', ':(top)', ':(top,exclude)*.md'];
    return execFileSync('git', arguments_, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    // Not in a working copy: any seed will do, as long as it is printed.
    return '5eed5eed';
  }
}
