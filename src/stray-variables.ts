import { nearestName } from '../engine/columns.ts';
import { VARIABLES_READ } from './setting-table.ts';
import type { Environment } from './settings.ts';
import { shownText } from './shown-text.ts';

/**
 * Variables of other programs whose names resemble one of weir's: compilers, and tools with two
 * hosts.
 */
const OF_OTHERS: ReadonlySet<string> = new Set([
  'CHOST',
  'LHOST',
  'LPORT',
  'RHOST',
  'RPORT',
  'VHOST',
]);

/**
 * The letters of a name for each allowed typing error. A lower number would match variables of
 * other programs.
 */
const LETTERS_PER_EDIT = 5;

/** A sentence for each variable that is not read and whose name resembles one that is. */
export function strayVariables(environment: Environment): readonly string[] {
  return Object.keys(environment).flatMap((name) => {
    if ((environment[name] ?? '').trim() === '' || VARIABLES_READ.includes(name)) return [];
    if (OF_OTHERS.has(name)) return [];
    const editsMax = Math.max(1, Math.floor(name.length / LETTERS_PER_EDIT));
    const nearest = nearestName(name, VARIABLES_READ, editsMax);
    if (nearest === undefined) return [];
    return [`the variable ${shownText(name)} is not read; did you mean ${nearest}?`];
  });
}
