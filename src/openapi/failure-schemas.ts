import { type ErrorCode, REFUSAL_CODES } from '../errors.ts';
import type { FailureSchemas, Schema } from './operation-text.ts';
import { describeUnion, refTo } from './schemas.ts';

/** Schemas of the default failures, as JSON and as problem+json. */
export const FAILURE_SCHEMAS: FailureSchemas = {
  'application/json': (codes) => ({
    ...refTo('Failure'),
    properties: { error: { properties: { code: { enum: codes } } } },
  }),
  'application/problem+json': describeProblem,
};

/** Schemas of the analytics container's failures. */
export const CONTAINER_FAILURE_SCHEMAS: FailureSchemas = {
  'application/json': (codes) => describeUnion(codes.map(describeContainerFailure)),
  'application/problem+json': describeProblem,
};

function describeContainerFailure(code: ErrorCode): Schema {
  return refTo(REFUSALS.has(code) ? 'Refusals' : 'Sentence');
}

const REFUSALS: ReadonlySet<ErrorCode> = new Set(REFUSAL_CODES);

function describeProblem(codes: readonly ErrorCode[]): Schema {
  return { ...refTo('Problem'), properties: { code: { enum: codes } } };
}
