import { carvedUint8 } from '../column/arrays.ts';
import { BOOL, type SqlType, STRING } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import {
  booleanVector,
  constantVector,
  isConstantNull,
  type NumberVector,
  UNKNOWN,
  type Vector,
} from '../column/vector.ts';
import { compareValues, equalValues, isLess, isLessOrEqual } from './comparison.ts';
import { elementsOf } from './dynamic.ts';
import { mergeNulls } from './number/arithmetic-functions.ts';
import {
  type Kernel,
  type ScalarFunction,
  type ScalarOverload,
  scalarFunction,
  textAndBytes,
  typed,
} from './scalar-function.ts';
import { compileLike, isRightLike } from './text/like.ts';

export const comparisonFunctions: readonly ScalarFunction[] = [
  scalarFunction(
    '=',
    ['Whether two values are equal; NULL if one of them is NULL.', "'a' = 'A'", 'FALSE'],
    comparison('=', 'same', equalValues),
  ),
  scalarFunction(
    '!=',
    ['Whether two values differ; NULL if one of them is NULL. Same as `<>`.', '1 != 2', 'TRUE'],
    comparison('!=', 'same', differ),
  ),
  scalarFunction(
    '<',
    [
      'Whether the left value is less. Texts compare by code points, and FALSE is less than TRUE.',
      "'B' < 'a'",
      'TRUE',
    ],
    comparison('<', 'orderable', isLess),
  ),
  scalarFunction(
    '<=',
    ['Whether the left value is less than or equal to the right one.', '2 <= 2.5', 'TRUE'],
    comparison('<=', 'orderable', isLessOrEqual),
  ),
  scalarFunction(
    '>',
    ['Whether the left value is greater.', "DATE '2026-02-01' > DATE '2026-01-31'", 'TRUE'],
    comparison('>', 'orderable', (left, right) => isLess(right, left)),
  ),
  scalarFunction(
    '>=',
    [
      'Whether the left value is greater than or equal to the right one. `x BETWEEN a AND b` is `x >= a AND x <= b`.',
      '2 >= 3',
      'FALSE',
    ],
    comparison('>=', 'orderable', (left, right) => isLessOrEqual(right, left)),
  ),
  // As GROUP BY has it: NULL and NaN are equal to themselves.
  scalarFunction(
    'is_distinct',
    [
      'Whether two values differ. As in `GROUP BY`, NULL equals NULL and NaN equals NaN, so the result is never NULL.',
      'NULL IS DISTINCT FROM 1',
      'TRUE',
    ],
    {
      parameters: ['same', 'same'],
      result: BOOL,
      nulls: 'handle',
      facts: { fails: 'never' },
      evaluate: typed((left: SqlValue, right: SqlValue) => compareValues(left, right) !== 0),
    },
  ),
  scalarFunction(
    'in',
    [
      'Whether a value equals one of the listed values. NULL if it equals none and a value is NULL.',
      '3 IN (1, 2, NULL)',
      'NULL',
    ],
    {
      parameters: ['same'],
      variadic: 'same',
      result: BOOL,
      nulls: 'handle',
      facts: { fails: 'never' },
      evaluate: (value, ...list) => isIn(value as SqlValue, list),
    },
  ),
  scalarFunction(
    'in_array',
    [
      'Whether a value equals an element of an array, like `IN`; FALSE if the array is empty or NULL.',
      '2 IN UNNEST([1, 2, 3])',
      'TRUE',
    ],
    {
      parameters: ['any', 'any'],
      result: BOOL,
      nulls: 'handle',
      facts: { fails: 'never' },
      evaluate: typed((value: SqlValue, array: SqlValue) => isIn(value, elementsOf(array) ?? [])),
    },
  ),
  scalarFunction(
    'like',
    [
      'Whether the whole text matches a pattern: `%` matches any text, `_` one character. A backslash, doubled in a literal, makes them literal.',
      "'GET /rest/v1' LIKE 'GET %'",
      'TRUE',
    ],
    ...textAndBytes({
      parameters: [STRING, STRING],
      result: BOOL,
      nulls: 'propagate',
      facts: {
        fails: ([, pattern]) => (isRightLike(pattern) ? 'never' : 'by value'),
        textTest: compileLike,
      },
      evaluate: typed((text: string, pattern: string) => compileLike(pattern).matches(text)),
    }),
  ),
  scalarFunction(
    'greatest',
    [
      'The greatest of the values. NULL if one is NULL, else NaN if one is NaN.',
      'GREATEST(1, 3, 2)',
      '3',
    ],
    extreme(1),
  ),
  scalarFunction(
    'least',
    [
      'The least of the values. NULL if one is NULL, else NaN if one is NaN.',
      'LEAST(1, NULL, 2)',
      'NULL',
    ],
    extreme(-1),
  ),
  {
    ...scalarFunction(
      'nullif',
      ['The first value, or NULL if it equals the second.', "NULLIF('-', '-')", 'NULL'],
      {
        parameters: ['groupable', 'groupable'],
        result: firstType,
        nulls: 'handle',
        evaluate: typed((value: SqlValue, other: SqlValue) => {
          if (value === null || other === null) return value;
          return equalValues(value, other) === true ? null : value;
        }),
      },
    ),
    comparesFields: true,
  },
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
    facts: { fails: 'never' },
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

// `Number` of a comparison is its truth, FALSE or TRUE, made without a branch: V8 makes one of a choice between two
// constants, and where rows are not to be guessed it takes five times as long as comparing.

type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=';

const MIRRORED: Readonly<Record<Comparison, Comparison>> = {
  '=': '=',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

/** A comparison of two columns of numbers, or of one with a constant. */
function comparisonKernel(operator: Comparison): Kernel {
  return (vectors, count) => {
    const [left, right] = vectors as [Vector, Vector];
    if (isConstantNull(left) || isConstantNull(right)) return constantVector(null, count);
    const truths = carvedUint8(count);
    if (left.kind === 'number' && right.kind === 'number') {
      compareColumns(operator, left.values, right.values, truths);
      return withNulls(truths, mergeNulls(left.nulls, right.nulls, count));
    }
    if (left.kind === 'number' && isNumber(right)) {
      return compareWithConstant(operator, left, right.value, truths);
    }
    if (right.kind === 'number' && isNumber(left)) {
      return compareWithConstant(MIRRORED[operator], right, left.value, truths);
    }
    return undefined;
  };
}

function isNumber(vector: Vector): vector is Vector & { kind: 'constant'; value: number } {
  return vector.kind === 'constant' && typeof vector.value === 'number';
}

function compareWithConstant(
  operator: Comparison,
  { values, nulls }: NumberVector,
  constant: number,
  truths: Uint8Array,
): Vector {
  const count = truths.length;
  switch (operator) {
    case '=':
      for (let i = 0; i < count; i++) truths[i] = Number(values[i] === constant);
      break;
    case '!=':
      for (let i = 0; i < count; i++) truths[i] = Number(values[i] !== constant);
      break;
    case '<':
      for (let i = 0; i < count; i++) truths[i] = Number(values[i]! < constant);
      break;
    case '<=':
      for (let i = 0; i < count; i++) truths[i] = Number(values[i]! <= constant);
      break;
    case '>':
      for (let i = 0; i < count; i++) truths[i] = Number(values[i]! > constant);
      break;
    case '>=':
      for (let i = 0; i < count; i++) truths[i] = Number(values[i]! >= constant);
      break;
  }
  return withNulls(truths, nulls);
}

function compareColumns(
  operator: Comparison,
  left: Float64Array,
  right: Float64Array,
  truths: Uint8Array,
): void {
  const count = truths.length;
  switch (operator) {
    case '=':
      for (let i = 0; i < count; i++) truths[i] = Number(left[i] === right[i]);
      break;
    case '!=':
      for (let i = 0; i < count; i++) truths[i] = Number(left[i] !== right[i]);
      break;
    case '<':
      for (let i = 0; i < count; i++) truths[i] = Number(left[i]! < right[i]!);
      break;
    case '<=':
      for (let i = 0; i < count; i++) truths[i] = Number(left[i]! <= right[i]!);
      break;
    case '>':
    case '>=':
      compareColumns(MIRRORED[operator], right, left, truths);
      break;
  }
}

/** Writes UNKNOWN over the truths beside a NULL. */
function withNulls(truths: Uint8Array, nulls: Uint8Array | undefined): Vector {
  if (nulls !== undefined) {
    // V8 reads an imported constant anew in each round of a loop.
    const unknown = UNKNOWN;
    for (let i = 0; i < truths.length; i++) {
      const isConstantNull = nulls[i]!;
      truths[i] = (truths[i]! & (isConstantNull - 1)) | (isConstantNull * unknown);
    }
  }
  return booleanVector(truths, truths.length);
}
