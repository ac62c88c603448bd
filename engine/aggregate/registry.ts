import type { AggregateFunction } from './aggregate-function.ts';
import { APPROX_QUANTILES } from './approx-quantiles.ts';
import { COUNT, COUNTIF } from './count.ts';
import { ANY_VALUE, MAX, MIN } from './extreme.ts';
import { AVG, SUM } from './sum.ts';

const FUNCTIONS: ReadonlyMap<string, AggregateFunction> = new Map(
  [ANY_VALUE, APPROX_QUANTILES, AVG, COUNT, COUNTIF, MAX, MIN, SUM].map(
    (aggregate) => [aggregate.name, aggregate] as const,
  ),
);

/** The aggregate function of that name, in any case. */
export function findAggregateFunction(name: string): AggregateFunction | undefined {
  return FUNCTIONS.get(name.toLowerCase());
}

/** Names of all aggregate functions, lower case, sorted. */
export function aggregateFunctionNames(): readonly string[] {
  return [...FUNCTIONS.keys()];
}
