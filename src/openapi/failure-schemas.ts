import type { ErrorCode } from '../errors.ts';
import type { FailureSchemas, Schema } from './operation-text.ts';
import { refTo } from './schemas.ts';

/** A failure of the service's own form, and as a problem for who asks for one. */
export const FAILURE_SCHEMAS: FailureSchemas = {
  'application/json': (codes) => ({
    ...refTo('Failure'),
    properties: { error: { properties: { code: { enum: codes } } } },
  }),
  'application/problem+json': problemOf,
};

/** … as the analytics container tells it. */
export const CONTAINER_FAILURE_SCHEMAS: FailureSchemas = {
  'application/json': () => refTo('Sentence'),
  'application/problem+json': problemOf,
};

function problemOf(codes: readonly ErrorCode[]): Schema {
  return { ...refTo('Problem'), properties: { code: { enum: codes } } };
}
