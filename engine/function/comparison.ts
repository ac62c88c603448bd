import { nestedText } from '../column/json-nested.ts';
import { type Interval, isInterval, isNested, type SqlValue } from '../column/value.ts';
import { isHighSurrogate } from './text/text-units.ts';
import { compareIntervals } from './time/interval.ts';

/**
 * The order of ORDER BY, MIN, MAX and GROUP BY: negative, 0 or positive. Total over all values, so
 * it serves DYNAMIC, too, by its `KINDS`: NULL, then booleans, then numbers, then strings, then INTERVALs (months of
 * 30 days, days of 24 hours), then ARRAY and STRUCT values by their elements, then lists of events, then records, by
 * their JSON text. NaN is the smallest number and equals itself; strings compare by code point.
 */
export function compareValues(left: SqlValue, right: SqlValue): number {
  if (typeof left === 'number' && typeof right === 'number') return compareNumbers(left, right);
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  const leftRank = rankOf(left);
  const rightRank = rankOf(right);
  if (leftRank !== rightRank) return leftRank - rightRank;
  switch (leftRank) {
    case NULL_RANK:
      return 0;
    case BOOLEAN_RANK:
      return Number(left) - Number(right);
    case NUMBER_RANK:
      return compareNumbers(left as number | bigint, right as number | bigint);
    case INTERVAL_RANK:
      return compareIntervals(left as Interval, right as Interval);
    case ELEMENTS_RANK:
      return compareElements(left as readonly SqlValue[], right as readonly SqlValue[]);
    default:
      return compareNested(left, right);
  }
}

const NULL_RANK = 0;
const BOOLEAN_RANK = 1;
const NUMBER_RANK = 2;
const STRING_RANK = 3;
const INTERVAL_RANK = 4;
const ELEMENTS_RANK = 5;
const LIST_RANK = 6;
const RECORD_RANK = 7;

function rankOf(value: SqlValue): number {
  switch (typeof value) {
    case 'boolean':
      return BOOLEAN_RANK;
    case 'number':
    case 'bigint':
      return NUMBER_RANK;
    case 'string':
      return STRING_RANK;
    default:
      if (value === null) return NULL_RANK;
      if (isInterval(value)) return INTERVAL_RANK;
      if (!isNested(value)) return ELEMENTS_RANK;
      return value.isList ? LIST_RANK : RECORD_RANK;
  }
}

function compareNested(left: SqlValue, right: SqlValue): number {
  if (left === right || !isNested(left) || !isNested(right)) return 0;
  return compareText(nestedText(left), nestedText(right));
}

function compareElements(left: readonly SqlValue[], right: readonly SqlValue[]): number {
  const count = Math.min(left.length, right.length);
  for (let index = 0; index < count; index++) {
    const order = compareValues(left[index] as SqlValue, right[index] as SqlValue);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Exact, also between a double and an integer beyond doubles. NaN first; -0 equals 0. */
export function compareNumbers(left: number | bigint, right: number | bigint): number {
  if (left < right) return -1;
  if (left > right) return 1;
  return (isNaNumber(left) ? 0 : 1) - (isNaNumber(right) ? 0 : 1);
}

function isNaNumber(value: number | bigint): boolean {
  return typeof value === 'number' && Number.isNaN(value);
}

/** By code point, as their UTF-8 bytes would compare; JavaScript's `<` compares UTF-16 units. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  let index = 0;
  while (index < length && left.charCodeAt(index) === right.charCodeAt(index)) index++;
  if (index === length) return left.length - right.length;
  // The units that differ may be the second halves of pairs: then the pairs decide.
  if (index > 0 && isHighSurrogate(left, index - 1)) {
    const order = codePoint(left, index - 1) - codePoint(right, index - 1);
    if (order !== 0) return order;
  }
  return codePoint(left, index) - codePoint(right, index);
}

function codePoint(text: string, index: number): number {
  return text.codePointAt(index) as number;
}

/**
 * What `=` says of two values, neither NULL: NaN equals nothing, a STRUCT or ARRAY with a NULL
 * inside may be neither equal nor different (`null`), values of different kinds are different.
 */
export function equalValues(left: SqlValue, right: SqlValue): boolean | null {
  if (Array.isArray(left) && Array.isArray(right)) return equalElements(left, right);
  if (typeof left === 'number' && Number.isNaN(left)) return false;
  return left === right || compareValues(left, right) === 0;
}

function equalElements(left: readonly SqlValue[], right: readonly SqlValue[]): boolean | null {
  if (left.length !== right.length) return false;
  let answer: boolean | null = true;
  for (let index = 0; index < left.length; index++) {
    const one = left[index] as SqlValue;
    const other = right[index] as SqlValue;
    const equal = one === null || other === null ? null : equalValues(one, other);
    if (equal === false) return false;
    if (equal === null) answer = null;
  }
  return answer;
}

/** What `<` says of two values, neither NULL: false beside a NaN. */
export function isLess(left: SqlValue, right: SqlValue): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left < right;
  if (Number.isNaN(left) || Number.isNaN(right)) return false;
  return compareValues(left, right) < 0;
}

/** What `<=` says of two values, neither NULL: false beside a NaN. */
export function isLessOrEqual(left: SqlValue, right: SqlValue): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left <= right;
  if (Number.isNaN(left) || Number.isNaN(right)) return false;
  return compareValues(left, right) <= 0;
}

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
