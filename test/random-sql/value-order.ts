import type { Direction, Value } from './query.ts';

/** The order of two values of one scalar type, NULL before all else, NaN before all numbers. */
export function compare(left: Value, right: Value): number {
  if (left === null || right === null) return Number(left !== null) - Number(right !== null);
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right);
  if (Number.isNaN(left) || Number.isNaN(right)) {
    return Number(Number.isNaN(right)) - Number(Number.isNaN(left));
  }
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The order that a text asks for: NULL is the least value, unless it says where NULLs go. */
export function compareBy(left: Value, right: Value, { direction, nulls }: Direction): number {
  const isDescending = direction === ' DESC';
  const isFirst = nulls === '' ? !isDescending : nulls === ' NULLS FIRST';
  if (left === null || right === null) {
    return left === right ? 0 : (left === null) === isFirst ? -1 : 1;
  }
  const order = compare(left, right);
  return isDescending ? -order : order;
}

/** Whether two values are equal where NULL is not asked about: NaN equals nothing. */
export function equal(left: Value, right: Value): boolean {
  if (Number.isNaN(left) || Number.isNaN(right)) return false;
  return compare(left, right) === 0;
}

/** By code points, as UTF-8 sorts. */
function compareTexts(left: string, right: string): number {
  const [lefts, rights] = [[...left], [...right]];
  for (let index = 0; index < Math.min(lefts.length, rights.length); index++) {
    const difference = lefts[index]!.codePointAt(0)! - rights[index]!.codePointAt(0)!;
    if (difference !== 0) return difference;
  }
  return lefts.length - rights.length;
}

/** One text for all values that group together; bigints and numbers never meet in one column. */
export function groupText(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'number') return Object.is(value, -0) ? '0' : String(value);
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** Whether a value is among others: NULL where a NULL might be it. */
export function isIn(value: Value, list: readonly Value[]): boolean | null {
  if (value === null) return null;
  if (list.some((item) => item !== null && equal(value, item))) return true;
  return list.includes(null) ? null : false;
}
