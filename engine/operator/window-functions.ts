import type { WindowFunction } from './window-function.ts';
import { NAVIGATION_FUNCTIONS } from './window-navigation.ts';
import { NUMBERING_FUNCTIONS } from './window-numbering.ts';
import { PERCENTILE_FUNCTIONS } from './window-percentile.ts';

const FUNCTIONS: ReadonlyMap<string, WindowFunction> = new Map(
  [...NUMBERING_FUNCTIONS, ...NAVIGATION_FUNCTIONS, ...PERCENTILE_FUNCTIONS].map(
    (each) => [each.name, each] as const,
  ),
);

/** The function of that name that is only called with OVER, in any case. */
export function findWindowFunction(name: string): WindowFunction | undefined {
  return FUNCTIONS.get(name.toLowerCase());
}

/** Names of all of these, lower case. */
export function windowFunctionNames(): readonly string[] {
  return [...FUNCTIONS.keys()];
}
