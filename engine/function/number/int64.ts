import { QueryError } from '../../query-error.ts';

/**
 * INT64 in its canonical form: a `number` while |x| <= 2^53 - 1, else a `bigint`, so that equal
 * values are always identical. Never -0.
 */
export type Int64 = number | bigint;

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/** The canonical form of an exact integer, whatever its size. */
export function canonicalInteger(exact: bigint): Int64 {
  const near = Number(exact);
  return Number.isSafeInteger(near) ? near : exact;
}

/**
 * The canonical form of an exact integer that must fit 64 bits. `describe` names the computation in
 * the error and is called for the error only.
 */
export function checkedInt64(exact: bigint, describe: () => string): Int64 {
  if (exact < INT64_MIN || exact > INT64_MAX) throw integerOverflow(describe());
  return canonicalInteger(exact);
}

function integerOverflow(computation: string): QueryError {
  return new QueryError(
    'query_failed',
    `integer overflow: ${computation} does not fit INT64 (${INT64_MIN} to ${INT64_MAX})`,
  );
}

export function addInt64(left: Int64, right: Int64): Int64 {
  if (typeof left === 'number' && typeof right === 'number') {
    const sum = left + right;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return checkedInt64(BigInt(left) + BigInt(right), () => `${left} + ${right}`);
}

export function subtractInt64(left: Int64, right: Int64): Int64 {
  if (typeof left === 'number' && typeof right === 'number') {
    const difference = left - right;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return checkedInt64(BigInt(left) - BigInt(right), () => `${left} - ${right}`);
}

export function multiplyInt64(left: Int64, right: Int64): Int64 {
  if (typeof left === 'number' && typeof right === 'number') {
    // A product whose nearest double is a safe integer is exact. `+ 0` makes -0 a 0.
    const product = left * right + 0;
    if (Number.isSafeInteger(product)) return product;
  }
  return checkedInt64(BigInt(left) * BigInt(right), () => `${left} * ${right}`);
}

export function negateInt64(value: Int64): Int64 {
  if (typeof value === 'number') return 0 - value;
  return checkedInt64(-value, () => `-(${value})`);
}

export function absoluteInt64(value: Int64): Int64 {
  return value < 0 ? negateInt64(value) : value;
}

export function signInt64(value: Int64): number {
  return value > 0 ? 1 : value < 0 ? -1 : 0;
}

/** DIV: the quotient without its fraction. */
export function divideInt64(left: Int64, right: Int64): Int64 {
  if (right === 0) throw divisionByZero(`DIV(${left}, ${right})`);
  // Doubles would round some quotients of integers above 2^52 up to the next integer.
  if (Number.isSafeInteger(left) && Number.isSafeInteger(right)) {
    const dividend = left as number;
    const divisor = right as number;
    return (dividend - (dividend % divisor)) / divisor + 0;
  }
  return checkedInt64(BigInt(left) / BigInt(right), () => `DIV(${left}, ${right})`);
}

/** MOD: the remainder of DIV; it has the sign of `left`. */
export function remainderInt64(left: Int64, right: Int64): Int64 {
  if (right === 0) throw divisionByZero(`MOD(${left}, ${right})`);
  if (typeof left === 'number' && typeof right === 'number') return (left % right) + 0;
  return canonicalInteger(BigInt(left) % BigInt(right));
}

export function divisionByZero(computation: string): QueryError {
  return new QueryError('query_failed', `division by zero: ${computation}`);
}

/** The quotient of an integer and a positive one, rounded down. */
export function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
}
