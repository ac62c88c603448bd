import type { Subquery } from '../../../engine/index.ts';

/** What a subquery comes to in each row of a relation, over its columns. */
export type SubqueryAnswer = {
  readonly subquery: Subquery;
  /** `meaningOf` the subquery. */
  readonly meaning: string;
  readonly sql: string;
};

/** The answer of this subquery, or of one that means the same, as a sort and a projection may have the same. */
export function findAnswer(
  answers: readonly SubqueryAnswer[] | undefined,
  subquery: Subquery,
): string | undefined {
  if (answers === undefined || answers.length === 0) return undefined;
  const known = answers.find((one) => one.subquery === subquery);
  if (known !== undefined) return known.sql;
  const meaning = meaningOf(subquery);
  return answers.find((one) => one.meaning === meaning)?.sql;
}

/** A text that is the same for subqueries that differ in the ids of their own columns only. */
export function meaningOf({ captures, input, ...own }: Subquery): string {
  const outside = [captures.map(({ expression }) => expression), input];
  const columns = captures.map(({ column }) => column);
  return JSON.stringify([outside, renumbered([columns, own], new Map())], withIntegers);
}

/** A part of a plan with ids by their first appearance in it. */
function renumbered(part: unknown, numbers: Map<unknown, number>, name = ''): unknown {
  if (typeof part === 'number' && NAMES_OF_IDS.has(name)) {
    const number = numbers.get(part) ?? numbers.size;
    numbers.set(part, number);
    return number;
  }
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map((each) => renumbered(each, numbers, name));
  const entries = Object.entries(part).filter(([key]) => key !== 'span');
  return Object.fromEntries(entries.map(([key, inner]) => [key, renumbered(inner, numbers, key)]));
}

/** The fields of plans and expressions that hold the id of a column. */
const NAMES_OF_IDS: ReadonlySet<string> = new Set(['id', 'capture', 'from']);

function withIntegers(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}
