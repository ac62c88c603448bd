import { isDeepStrictEqual } from 'node:util';
import type { Row } from './interpreter.ts';
import type { Expression, Query, Type, Value } from './query.ts';

/**
 * The rows of an answer, each the values of its columns in JSON's terms, as the service gives them;
 * or the word `error`.
 */
export type Answer = readonly (readonly unknown[])[] | 'error';

/** The rows of the interpreter as an answer gives them; a list in an answer has no NULLs. */
export function answerOfRows(rows: readonly Row[], { items }: Query): Answer {
  return withoutNullElements(
    rows.map((row) => items.map(({ name, expression }) => jsonOf(row.get(name)!, expression))),
  );
}

/** The answer, as weir gives it: a list with NULLs is refused, as BigQuery does. */
export function withoutNullElements(answer: Answer): Answer {
  if (answer === 'error') return answer;
  return answer.some((row) => row.some(holdsNullElement)) ? 'error' : answer;
}

function holdsNullElement(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value) && value.includes(null)) return true;
  return Object.values(value).some(holdsNullElement);
}

const EXACT_MAX = 2n ** 53n;
const DAY_MS = 86_400_000;

/** A STRUCT is an object, at every level. */
function jsonOf(value: Value, expression: Expression): unknown {
  if (expression.op !== 'struct') return jsonValue(value, expression.type);
  const struct = value as Row;
  return Object.fromEntries(
    expression.fields.map((field) => [
      field.name,
      jsonOf(struct.get(field.name)!, field.expression),
    ]),
  );
}

/** A NULL list is an empty one. */
function jsonValue(value: Value, type: Type): unknown {
  if (type.endsWith('[]')) {
    const element = type.slice(0, -2) as Type;
    return ((value ?? []) as readonly Value[]).map((item) => jsonValue(item, element));
  }
  if (value === null) return null;
  if (type === 'DATE') return new Date(Number(value) * DAY_MS).toISOString().slice(0, 10);
  if (typeof value === 'bigint') {
    return value >= -EXACT_MAX && value <= EXACT_MAX ? Number(value) : String(value);
  }
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

/**
 * Whether two answers are the same: in order when the query orders its rows, else as a bag. Averages
 * and sums of fractions may differ in the last digits, by the order they were added in.
 */
export function areSame(left: Answer, right: Answer, isOrdered: boolean): boolean {
  if (left === 'error' || right === 'error') return left === right;
  const lists = [withoutEmptyLists(left), withoutEmptyLists(right)] as const;
  const [one, other] = isOrdered ? lists : [sorted(lists[0]), sorted(lists[1])];
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

/** A list that an event has not is NULL; any other NULL list is empty in an answer. */
function withoutEmptyLists(rows: Exclude<Answer, 'error'>): Exclude<Answer, 'error'> {
  return rows.map((row) => row.map(withoutEmptyList));
}

function withoutEmptyList(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? null : value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, withoutEmptyList(field)]),
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
  if (isObject(left) && isObject(right)) {
    const [fields, others] = [Object.entries(left), Object.entries(right)];
    return (
      fields.length === others.length &&
      fields.every(([name, value], index) => {
        const [otherName, other] = others[index]!;
        return name === otherName && isNear(value, other);
      })
    );
  }
  if (typeof left !== 'number' || typeof right !== 'number') return isDeepStrictEqual(left, right);
  if (left === right) return true;
  const areWhole = Number.isInteger(left) && Number.isInteger(right);
  return (
    !areWhole && Math.abs(left - right) <= TOLERANCE * Math.max(Math.abs(left), Math.abs(right))
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
