import type { SqlType } from '../column/type.ts';
import { FLOAT64, INT64 } from '../column/type.ts';
import type { AggregateFunction, AggregateState } from './aggregate-function.ts';
import { FloatSumState } from './float-sum.ts';
import { IntegerSumState } from './integer-sum.ts';

/**
 * SUM of INT64 is INT64 and fails beyond 64 bits; SUM of FLOAT64 is the exact sum rounded once and
 * fails beyond a double. Only the whole sum counts: what passes a bound on the way is no error.
 * NULLs are left out; the sum of nothing is NULL.
 */
export const SUM: AggregateFunction = {
  name: 'sum',
  overloads: [
    {
      parameters: ['number'],
      result: (types) => (isInteger(types) ? INT64 : FLOAT64),
      create: (types) => createSum(types, 'sum'),
    },
  ],
};

/** AVG: the exact sum rounded to a double, divided by the number of values. */
export const AVG: AggregateFunction = {
  name: 'avg',
  overloads: [
    {
      parameters: ['number'],
      result: FLOAT64,
      create: (types) => createSum(types, 'avg'),
    },
  ],
};

function createSum(types: readonly SqlType[], finish: 'sum' | 'avg'): AggregateState {
  return isInteger(types) ? new IntegerSumState(finish) : new FloatSumState(finish);
}

/** A bare NULL counts as INT64. */
function isInteger(types: readonly SqlType[]): boolean {
  const kind = types[0]?.kind;
  return kind === 'INT64' || kind === 'NULL';
}
