import { carvedUint8 } from '../column/arrays.ts';
import { BOOL, NULL_TYPE, STRING } from '../column/type.ts';
import {
  booleanVector,
  constantVector,
  FALSE,
  isOfStrings,
  TRUE,
  UNKNOWN,
  type Vector,
} from '../column/vector.ts';
import { QueryError } from '../query-error.ts';
import {
  type Kernel,
  type ScalarFunction,
  type ScalarOverload,
  scalarFunction,
  typed,
} from './scalar-function.ts';

/** V8 reads an imported constant anew in each round of a loop, ten times the cost of the test. */
const NEITHER = UNKNOWN;

export const truthFunctions: readonly ScalarFunction[] = [
  scalarFunction('not', ['TRUE for FALSE, FALSE for TRUE, NULL for NULL.', 'NOT TRUE', 'FALSE'], {
    parameters: [BOOL],
    result: BOOL,
    nulls: 'propagate',
    facts: { fails: 'never' },
    evaluate: typed((truth: boolean) => !truth),
    kernel: truthKernel(TRUE, FALSE, UNKNOWN),
  }),
  scalarFunction(
    'is_true',
    ['Whether a condition is TRUE; FALSE for NULL.', 'CAST(NULL AS BOOL) IS TRUE', 'FALSE'],
    {
      parameters: [BOOL],
      result: BOOL,
      nulls: 'handle',
      facts: { fails: 'never' },
      evaluate: (truth) => truth === true,
      kernel: truthKernel(FALSE, TRUE, FALSE),
    },
  ),
  scalarFunction(
    'is_false',
    ['Whether a condition is FALSE; FALSE for NULL.', '(1 > 2) IS FALSE', 'TRUE'],
    {
      parameters: [BOOL],
      result: BOOL,
      nulls: 'handle',
      facts: { fails: 'never' },
      evaluate: (truth) => truth === false,
      kernel: truthKernel(TRUE, FALSE, FALSE),
    },
  ),
  scalarFunction(
    'is_null',
    [
      'Whether a value is NULL. For a condition, same as `IS UNKNOWN`.',
      'NULLIF(1, 1) IS NULL',
      'TRUE',
    ],
    {
      parameters: ['any'],
      result: BOOL,
      nulls: 'handle',
      facts: { fails: 'never' },
      evaluate: (value) => value === null,
      kernel: isNullKernel,
    },
  ),
  scalarFunction(
    'and',
    [
      'TRUE if all conditions are TRUE, FALSE if one is FALSE, else NULL. Conditions after a FALSE are not evaluated, so they cannot fail.',
      'FALSE AND 1 / 0 > 1',
      'FALSE',
    ],
    logic(FALSE),
  ),
  scalarFunction(
    'or',
    [
      'TRUE if one of the conditions is TRUE, FALSE if all are FALSE, else NULL. Conditions after a TRUE are not evaluated, so they cannot fail.',
      'TRUE OR 1 / 0 > 1',
      'TRUE',
    ],
    logic(TRUE),
  ),
];

/** AND (decided by FALSE) or OR (decided by TRUE) of any number of truths. */
function logic(deciding: typeof FALSE | typeof TRUE): ScalarOverload {
  const decisive = deciding === TRUE;
  return {
    parameters: [BOOL],
    variadic: BOOL,
    result: BOOL,
    nulls: 'handle',
    facts: { fails: 'never' },
    evaluate: (...truths) => {
      if (truths.includes(decisive)) return decisive;
      return truths.includes(null) ? null : !decisive;
    },
    kernel: (vectors, count) => combineTruths(vectors, count, deciding),
  };
}

/** What becomes of FALSE, TRUE and UNKNOWN, byte by byte. */
function truthKernel(ofFalse: number, ofTrue: number, ofUnknown: number): Kernel {
  const table = Uint8Array.of(ofFalse, ofTrue, ofUnknown);
  return ([vector], count) => {
    if (vector?.kind !== 'boolean') return undefined;
    const truths = carvedUint8(count);
    for (let i = 0; i < count; i++) truths[i] = table[vector.values[i]!]!;
    return booleanVector(truths, count);
  };
}

function isNullKernel(vectors: readonly Vector[], count: number): Vector | undefined {
  const vector = vectors[0] as Vector;
  const truths = carvedUint8(count);
  switch (vector.kind) {
    case 'number':
      if (vector.nulls === undefined) return constantVector(false, count);
      truths.set(vector.nulls.subarray(0, count));
      break;
    case 'boolean':
      for (let i = 0; i < count; i++) truths[i] = Number(vector.values[i] === NEITHER);
      break;
    case 'dictionary':
      // A dictionary of other values than stored strings may hold NULL behind a code.
      if (!isOfStrings(vector.dictionary)) return undefined;
      for (let i = 0; i < count; i++) truths[i] = Number(vector.codes[i]! < 0);
      break;
    case 'nested':
      for (let i = 0; i < count; i++) truths[i] = Number(vector.nodes[i]! < 0);
      break;
    case 'constant':
      return constantVector(vector.value === null, count);
    case 'value':
      return undefined;
  }
  return booleanVector(truths, count);
}

/** FALSE is 0, TRUE 1 and UNKNOWN 2: where no truth decides, the greatest is the answer. */
function combineTruths(
  vectors: readonly Vector[],
  count: number,
  deciding: number,
): Vector | undefined {
  if (!vectors.every((vector) => vector.kind === 'boolean')) return undefined;
  const truths = vectors[0]!.values.slice(0, count);
  for (const { values } of vectors.slice(1)) {
    for (let i = 0; i < count; i++) {
      const left = truths[i]!;
      const right = values[i]!;
      const isDecided = left === deciding || right === deciding;
      truths[i] = isDecided ? deciding : Math.max(left, right);
    }
  }
  return booleanVector(truths, count);
}

/** Characters of a message that a text raises; it travels in headers and logs, too. */
const MESSAGE_LENGTH_MAX = 1024;

export const errorFunctions: readonly ScalarFunction[] = [
  /** ERROR(message) has no value, and so stands wherever a value of any type is wanted. */
  scalarFunction(
    'error',
    [
      `Fails with the message, cut to ${MESSAGE_LENGTH_MAX} characters. It may stand for a value of any type.`,
      "IF(TRUE, 1, ERROR('never reached'))",
      '1',
    ],
    {
      parameters: [STRING],
      result: NULL_TYPE,
      nulls: 'handle',
      evaluate: typed((message: string | null): null => {
        throw new QueryError('query_failed', (message ?? 'NULL').slice(0, MESSAGE_LENGTH_MAX));
      }),
    },
  ),
];
