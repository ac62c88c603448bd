import type { SqlType } from '../column/type.ts';
import { BOOL, STRING } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { compareValues, equalValues, isLess, isLessOrEqual } from './comparison.ts';
import type { Comparison } from './comparison-kernels.ts';
import { comparisonKernel } from './comparison-kernels.ts';
import { scalarFunction, textAndBytes, typed } from './definition.ts';
import { elementsOf } from './dynamic.ts';
import type { ScalarFunction, ScalarOverload } from './scalar-function.ts';
import { compileLike } from './text/like.ts';

export const comparisonFunctions: readonly ScalarFunction[] = [
  scalarFunction('=', comparison('=', 'same', equalValues)),
  scalarFunction('!=', comparison('!=', 'same', differ)),
  scalarFunction('<', comparison('<', 'orderable', isLess)),
  scalarFunction('<=', comparison('<=', 'orderable', isLessOrEqual)),
  scalarFunction(
    '>',
    comparison('>', 'orderable', (left, right) => isLess(right, left)),
  ),
  scalarFunction(
    '>=',
    comparison('>=', 'orderable', (left, right) => isLessOrEqual(right, left)),
  ),
  // As GROUP BY has it: NULL and NaN are equal to themselves.
  scalarFunction('is_distinct', {
    parameters: ['same', 'same'],
    result: BOOL,
    nulls: 'handle',
    evaluate: typed((left: SqlValue, right: SqlValue) => compareValues(left, right) !== 0),
  }),
  scalarFunction('in', {
    parameters: ['same'],
    variadic: 'same',
    result: BOOL,
    nulls: 'handle',
    evaluate: (value, ...list) => isIn(value as SqlValue, list),
  }),
  scalarFunction('in_array', {
    parameters: ['any', 'any'],
    result: BOOL,
    nulls: 'handle',
    evaluate: typed((value: SqlValue, array: SqlValue) => isIn(value, elementsOf(array) ?? [])),
  }),
  scalarFunction(
    'like',
    ...textAndBytes({
      parameters: [STRING, STRING],
      result: BOOL,
      nulls: 'propagate',
      evaluate: typed((text: string, pattern: string) => compileLike(pattern).matches(text)),
    }),
  ),
  scalarFunction('greatest', extreme(1)),
  scalarFunction('least', extreme(-1)),
  scalarFunction('nullif', {
    parameters: ['groupable', 'groupable'],
    result: firstType,
    nulls: 'handle',
    evaluate: typed((value: SqlValue, other: SqlValue) => {
      if (value === null || other === null) return value;
      return equalValues(value, other) === true ? null : value;
    }),
  }),
];

function comparison(
  operator: Comparison,
  parameter: 'same' | 'orderable',
  evaluate: (left: SqlValue, right: SqlValue) => boolean | null,
): ScalarOverload {
  return {
    parameters: [parameter, parameter],
    result: BOOL,
    nulls: 'propagate',
    evaluate: typed(evaluate),
    kernel: comparisonKernel(operator),
  };
}

function differ(left: SqlValue, right: SqlValue): boolean | null {
  const equal = equalValues(left, right);
  return equal === null ? null : !equal;
}

/** NULL when nothing equals and something might: a NULL in the list, or a NULL looked for. */
function isIn(value: SqlValue, list: readonly SqlValue[]): boolean | null {
  if (list.length === 0) return false;
  if (value === null) return null;
  let answer: false | null = false;
  for (const item of list) {
    const equal = item === null ? null : equalValues(value, item);
    if (equal === true) return true;
    if (equal === null) answer = null;
  }
  return answer;
}

/** GREATEST (1) or LEAST (-1): NaN if any is. */
function extreme(sign: 1 | -1): ScalarOverload {
  return {
    parameters: ['orderable'],
    variadic: 'orderable',
    result: firstType,
    nulls: 'propagate',
    evaluate: (...values) => {
      let best = values[0] as SqlValue;
      for (const value of values) {
        if (Number.isNaN(value)) return Number.NaN;
        if (compareValues(value, best) * sign > 0) best = value;
      }
      return best;
    },
  };
}

function firstType(types: readonly SqlType[]): SqlType {
  return types[0] as SqlType;
}
