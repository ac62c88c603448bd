import type { Value } from './query.ts';

/** The order of two values of one scalar type, NULL before all else, NaN before all numbers. */
export function compare(left: Value, right: Value): number {
  if (left === null || right === null) return Number(left !== null) - Number(right !== null);
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right);
  if (Number.isNaN(left) || Number.isNaN(right)) {
    return Number(Number.isNaN(right)) - Number(Number.isNaN(left));
  }
  return left < right ? -1 : left > right ? 1 : 0;
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
