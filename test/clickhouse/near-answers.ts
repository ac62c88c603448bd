import type { StoreAnswer } from './both-stores.ts';

/** Functions whose last digits differ between mathematical libraries. */
const OF_LIBRARIES =
  /\b(?:exp|ln|log|log10|pow|power|cbrt|a?(?:sin|cos|tan)h?|atan2|cot|csc|sec|coth|csch|sech)\(/i;

/** How much two answers of such a function may differ, of their size: some units in the last place. */
const DIFFERENCE_MAX = 1e-14;

/** Whether two answers are the same: messages may differ, for ClickHouse does not tell the values. */
export function areNear(one: StoreAnswer, other: StoreAnswer, sql: string): boolean {
  if ('error' in one || 'error' in other) {
    return 'error' in one && 'error' in other && one.error === other.error;
  }
  const near = OF_LIBRARIES.test(sql);
  return (
    one.rows.length === other.rows.length &&
    one.rows.every((row, index) => {
      const second = other.rows[index]!;
      return row === second || (near && isNear(JSON.parse(row), JSON.parse(second)));
    })
  );
}

function isNear(one: unknown, other: unknown): boolean {
  if (typeof one === 'number' && typeof other === 'number') {
    return Math.abs(one - other) <= Math.max(Math.abs(one), Math.abs(other)) * DIFFERENCE_MAX;
  }
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return one === other;
  }
  const [first, second] = [Object.entries(one), Object.entries(other)];
  return (
    first.length === second.length &&
    first.every(([key, value], index) => {
      const [otherKey, otherValue] = second[index]!;
      return key === otherKey && isNear(value, otherValue);
    })
  );
}
