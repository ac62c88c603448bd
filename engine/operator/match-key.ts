import type { SqlValue } from '../column/value.ts';

/**
 * The value as a key of a Map or Set: two scalars, neither NULL nor NaN, are equal by `=` exactly
 * when their keys are the same. A double beyond 2^53 may equal an integer kept as a bigint.
 */
export function matchKey(value: SqlValue): SqlValue {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !Number.isInteger(value)) {
    return value;
  }
  return BigInt(value);
}
