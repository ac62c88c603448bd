import type { SqlType } from '../column/type.ts';
import { FLOAT64, INT64, NUMBER } from '../column/type.ts';
import type { AggregateFunction, AggregateState } from './aggregate-function.ts';
import { FloatSumState } from './float-sum.ts';
import { IntegerSumState } from './integer-sum.ts';

/**
 * SUM of INT64 is INT64 and fails beyond 64 bits; SUM of FLOAT64 is the exact sum rounded once and
 * fails beyond a double. SUM of numbers of events is the first where all are whole, else the second.
 * Only the whole sum counts: what passes a bound on the way is no error. NULLs are left out; the sum of
 * nothing is NULL.
 */
export const SUM: AggregateFunction = {
  name: 'sum',
  doc: [
    'The sum of the numbers; an error on overflow. NULLs are ignored; NULL without other values.',
    'SUM(x) FROM UNNEST([1, NULL, 3]) AS x',
    '4',
  ],
  fails: 'by value',
  overloads: [
    {
      parameters: ['number'],
      result: sumType,
      create: (types) => createSum(types, 'sum'),
    },
  ],
};

/** AVG: the exact sum rounded to a double, divided by the number of values. */
export const AVG: AggregateFunction = {
  name: 'avg',
  doc: [
    'The mean of the numbers, as a FLOAT64. NULLs are ignored; NULL without other values.',
    'AVG(x) FROM UNNEST([1, NULL, 4]) AS x',
    '2.5',
  ],
  overloads: [
    {
      parameters: ['number'],
      result: FLOAT64,
      create: (types) => createSum(types, 'avg'),
    },
  ],
};

function createSum(types: readonly SqlType[], finish: 'sum' | 'avg'): AggregateState {
  const { kind } = sumType(types);
  if (kind === 'INT64') return new IntegerSumState(finish);
  return new FloatSumState(finish, kind === 'NUMBER' && finish === 'sum');
}

/** A bare NULL counts as INT64. */
function sumType(types: readonly SqlType[]): SqlType {
  const kind = types[0]?.kind;
  if (kind === 'NUMBER') return NUMBER;
  return kind === 'INT64' || kind === 'NULL' ? INT64 : FLOAT64;
}
