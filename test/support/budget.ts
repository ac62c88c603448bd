import { numberFrom } from './environment.ts';

/** What a line of standard output begins with that states a budget; the reporter collects these. */
export const BUDGET_MARK = 'budget: ';

/** Set by `npm run test:all`. */
const IS_ALL = process.env['WEIR_TESTS'] === 'all';

/**
 * How much a suite does: how many kills, runs, queries, or one in how many bytes. `fast` is its share in `npm test`,
 * `all` in `npm run test:all`; the environment variable `name` goes before both. The budget is printed.
 */
export function budgetOf(name: string, { fast, all }: { fast: number; all: number }): number {
  const budget = numberFrom(name, IS_ALL ? all : fast);
  console.log(`${BUDGET_MARK}${name}=${budget} (npm test: ${fast}, npm run test:all: ${all})`);
  return budget;
}

/** Random checks in `npm test` do one in so many of their runs. */
const FAST_PART = 10;

/** How many of the runs of a random check are done: all in `npm run test:all`, a part in `npm test`. */
export function runsOf(count: number): number {
  const part = IS_ALL ? 1 : FAST_PART;
  console.log(`${BUDGET_MARK}runs of random checks: 1 of ${part} (npm test: 1 of ${FAST_PART})`);
  return Math.ceil(count / part);
}
