import { type ErrorCode, REFUSAL_CODES } from '../errors.ts';
import type { FailureSchemas, Schema } from './operation-text.ts';
import { anyOf, refTo } from './schemas.ts';

/** Schemas of the default failures, as JSON and as problem+json. */
export const FAILURE_SCHEMAS: FailureSchemas = {
  'application/json': (codes) => ({
    ...refTo('Failure'),
    properties: { error: { properties: { code: { enum: codes } } } },
  }),
  'application/problem+json': problemOf,
};

/** Schemas of the analytics container's failures. */
export const CONTAINER_FAILURE_SCHEMAS: FailureSchemas = {
  'application/json': (codes) => anyOf(codes.map(containerFailureOf)),
  'application/problem+json': problemOf,
};

function containerFailureOf(code: ErrorCode): Schema {
  return refTo(REFUSALS.has(code) ? 'Refusals' : 'Sentence');
}

const REFUSALS: ReadonlySet<ErrorCode> = new Set(REFUSAL_CODES);

function problemOf(codes: readonly ErrorCode[]): Schema {
  return { ...refTo('Problem'), properties: { code: { enum: codes } } };
}
