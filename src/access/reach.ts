import { EVERYTHING, type Reach } from '../../engine/plan/reach.ts';
import type { Grant } from './tokens.ts';

/** What the bearer of a token may read, whatever is asked. */
export function reachOf(_grant: Grant): Reach {
  return EVERYTHING;
}
