import type { SqlValue } from '../column/value.ts';
import { compareValues } from './comparison.ts';

/** How one key orders. Where NULLs stand is apart from the direction of the others. */
export type OrderDirection = { readonly descending: boolean; readonly nullsFirst: boolean };

/** Negative when `left` stands before `right`, 0 when the key cannot tell them apart. */
export function compareByKey(key: OrderDirection, left: SqlValue, right: SqlValue): number {
  if (left === null || right === null) {
    if (left === right) return 0;
    return (left === null) === key.nullsFirst ? -1 : 1;
  }
  return key.descending ? compareValues(right, left) : compareValues(left, right);
}
