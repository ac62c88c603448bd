import { arrayOf, FLOAT64, INT64 } from '../../column/type.ts';
import { GENERATED_ARRAY_MAX } from '../../limits.ts';
import { QueryError } from '../../query-error.ts';
import { scalarFunction, typed } from '../definition.ts';
import type { Int64 } from '../number/int64.ts';
import { canonicalInteger } from '../number/int64.ts';
import type { ScalarFunction } from '../scalar-function.ts';

export const numberArrayFunctions: readonly ScalarFunction[] = [
  scalarFunction(
    'generate_array',
    [
      'Numbers from the first to the second, inclusive, with the third as the step (default 1). Empty if the step points away from the end; an error for a step of 0.',
      'GENERATE_ARRAY(1, 10, 4)',
      '[1, 5, 9]',
    ],
    {
      parameters: [INT64, INT64, INT64],
      optionalCount: 1,
      result: arrayOf(INT64),
      nulls: 'propagate',
      evaluate: typed(integers),
      elementCount: typed(countIntegers),
    },
    {
      parameters: [FLOAT64, FLOAT64, FLOAT64],
      optionalCount: 1,
      result: arrayOf(FLOAT64),
      nulls: 'propagate',
      evaluate: typed(floats),
      elementCount: typed(countFloats),
    },
  ),
];

function integers(start: Int64, end: Int64, step: Int64 = 1): readonly Int64[] {
  const count = countIntegers(start, end, step);
  return Array.from({ length: count }, (_, index) =>
    canonicalInteger(BigInt(start) + BigInt(index) * BigInt(step)),
  );
}

function countIntegers(start: Int64, end: Int64, step: Int64 = 1): number {
  checkStep(step);
  const distance = BigInt(end) - BigInt(start);
  if (distance !== 0n && distance < 0n !== step < 0) return 0;
  return checkedCount(distance / BigInt(step) + 1n);
}

function floats(start: Int64, end: Int64, step: Int64 = 1): readonly number[] {
  const count = countFloats(start, end, step);
  return Array.from({ length: count }, (_, index) => Number(start) + index * Number(step));
}

function countFloats(start: Int64, end: Int64, step: Int64 = 1): number {
  checkStep(step);
  const [first, last, distance] = [Number(start), Number(end), Number(step)];
  if (![first, last, distance].every(Number.isFinite)) {
    throw new QueryError(
      'query_failed',
      `GENERATE_ARRAY takes finite numbers; got ${first}, ${last} and ${distance}`,
    );
  }
  if (first !== last && last < first !== distance < 0) return 0;
  let count = Math.floor((last - first) / distance) + 1;
  // The quotient is rounded: the last element is the last that does not pass the end.
  while (count > 1 && Math.abs((count - 1) * distance) > Math.abs(last - first)) count--;
  return checkedCount(count);
}

function checkStep(step: Int64): void {
  if (Number(step) === 0) {
    throw new QueryError('query_failed', 'GENERATE_ARRAY takes a step other than 0');
  }
}

function checkedCount(count: bigint | number): number {
  if (count > GENERATED_ARRAY_MAX) {
    throw new QueryError(
      'query_limit',
      `a generated array has at most ${GENERATED_ARRAY_MAX} elements; got ${count}`,
    );
  }
  return Number(count);
}
