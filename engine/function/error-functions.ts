import { NULL_TYPE, STRING } from '../column/type.ts';
import { QueryError } from '../query-error.ts';
import { scalarFunction, typed } from './definition.ts';
import type { ScalarFunction } from './scalar-function.ts';

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
