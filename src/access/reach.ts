import type { Grant } from './tokens.ts';

/** Whose rows a token may read; answers for one reach are not for another. */
export type Reach = 'all-projects';

/** Every token that may query reads every project. */
export function reachOf(_grant: Grant): Reach {
  return 'all-projects';
}
