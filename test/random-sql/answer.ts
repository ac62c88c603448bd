import { isDeepStrictEqual } from 'node:util';
import type { Row } from './interpreter.ts';
import type { Value } from './query.ts';

/**
 * The rows of an answer, each the values of its columns in JSON's terms, as the service gives them;
 * or the word `error`.
 */
export type Answer = readonly (readonly unknown[])[] | 'error';

/** The rows of the interpreter as an answer gives them. */
export function answerOfRows(rows: readonly Row[]): Answer {
  return rows.map((row) => [...row.values()].map(jsonValue));
}

const EXACT_MAX = 2n ** 53n;

function jsonValue(value: Value): unknown {
  if (typeof value === 'bigint') {
    return value >= -EXACT_MAX && value <= EXACT_MAX ? Number(value) : String(value);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return Array.isArray(value) ? value.map(jsonValue) : value;
}

/**
 * Whether two answers are the same: in order when the query orders its rows, else as a bag. Averages
 * and sums of fractions may differ in the last digits, by the order they were added in.
 */
export function areSame(left: Answer, right: Answer, isOrdered: boolean): boolean {
  if (left === 'error' || right === 'error') return left === right;
  const [one, other] = isOrdered ? [left, right] : [sorted(left), sorted(right)];
  return (
    one.length === other.length &&
    one.every((row, index) => {
      const values = other[index]!;
      return (
        row.length === values.length && row.every((value, column) => isNear(value, values[column]))
      );
    })
  );
}

/** By all but the last digits of numbers. */
function sorted(rows: Exclude<Answer, 'error'>): Exclude<Answer, 'error'> {
  const keyed = rows.map((row) => ({ row, key: JSON.stringify(row, coarse) }));
  keyed.sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0));
  return keyed.map(({ row }) => row);
}

function coarse(_key: string, value: unknown): unknown {
  const isFraction = typeof value === 'number' && !Number.isInteger(value);
  return isFraction ? Number(value.toPrecision(9)) : value;
}

const TOLERANCE = 1e-12;

function isNear(left: unknown, right: unknown): boolean {
  if (typeof left !== 'number' || typeof right !== 'number') return isDeepStrictEqual(left, right);
  if (left === right) return true;
  const areWhole = Number.isInteger(left) && Number.isInteger(right);
  return (
    !areWhole && Math.abs(left - right) <= TOLERANCE * Math.max(Math.abs(left), Math.abs(right))
  );
}
