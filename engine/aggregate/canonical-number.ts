import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { compareNumbers } from '../function/comparison.ts';

/** Doubles from here on may equal a bigint; those below never do (`SqlValue`). */
export const WIDE_NUMBER_MIN = 2 ** 53;

const WIDE_NUMBER_MAX = 2 ** 64;

/**
 * One form for all numbers of one value: an integer from 2^53 to 2^64 in magnitude is a bigint (its
 * digits are shown in full), any other number is a double where a double holds it.
 */
export function canonicalNumber(value: number | bigint): number | bigint {
  if (typeof value === 'number') {
    const magnitude = Math.abs(value);
    const isWide = magnitude >= WIDE_NUMBER_MIN && magnitude < WIDE_NUMBER_MAX;
    return isWide ? BigInt(value) : value;
  }
  const double = Number(value);
  if (Math.abs(double) < WIDE_NUMBER_MAX || !Number.isFinite(double)) return value;
  return BigInt(double) === value ? double : value;
}

/** One form for all values of a type that are equal as keys: 0 for -0, `canonicalNumber` of DYNAMIC and NUMBER. */
export function canonicalValue(value: SqlValue, type: SqlType): SqlValue {
  if (typeof value === 'number') {
    return mayBeWide(type) ? canonicalNumber(value + 0) : value + 0;
  }
  if (typeof value === 'bigint') return canonicalNumber(value);
  if (!Array.isArray(value)) return value;
  if (type.kind === 'ARRAY') return value.map((each) => canonicalValue(each, type.element));
  if (type.kind !== 'STRUCT') return value;
  return value.map((each, index) => canonicalValue(each, type.fields[index]!.type));
}

/** Whether a double and an INT64 of one value may stand beside each other. */
function mayBeWide({ kind }: SqlType): boolean {
  return kind === 'DYNAMIC' || kind === 'NUMBER';
}

/**
 * `compareNumbers`, and of two equal numbers of different forms the bigint goes first, so that
 * sorting them gives one result.
 */
export function orderNumbers(left: number | bigint, right: number | bigint): number {
  const order = compareNumbers(left, right);
  if (order !== 0 || typeof left === typeof right) return order;
  return typeof left === 'bigint' ? -1 : 1;
}
