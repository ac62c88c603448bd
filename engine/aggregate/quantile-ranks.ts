import { compareNumbers, compareText } from '../function/comparison.ts';
import { EXACT_QUANTILE_VALUES_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';

/** Values in ascending order with how often each came; a value may stand there more than once. */
export type SortedCounts<T> = {
  readonly values: ArrayLike<T> & Iterable<T>;
  readonly counts: ArrayLike<number> & Iterable<number>;
  /** Sum of the counts that are meant. */
  readonly total: number;
  /** Entries before it are not meant; 0 where absent. */
  readonly start?: number;
  /** Entries from here on are not meant; absent: all to the last are. */
  readonly end?: number;
};

/**
 * The values of ranks max(⌈i·total/n⌉, 1), i from 0 to n, counting from 1; of those i alone that are in
 * `wanted`, ascending, where it is given. `total` must be at least 1, and n·total below 2^53, so that the
 * products are exact.
 */
export function pickQuantiles<T>(
  sorted: SortedCounts<T>,
  n: number,
  wanted?: readonly number[],
): T[] {
  const picked: T[] = [];
  writeQuantiles(sorted, { n, wanted }, picked, 0);
  return picked;
}

/** Which quantiles are picked: of `n` parts, those of `wanted` alone where it is given. */
type Ranks = { readonly n: number; readonly wanted: readonly number[] | undefined };

/** The same, written to `picked` from `at` on. Ranks are come to from the end that they are nearer to. */
export function writeQuantiles<T>(
  { values, counts, total, start, end }: SortedCounts<T>,
  ranks: Ranks,
  picked: { [index: number]: T },
  at: number,
): void {
  const pickedCount = ranks.wanted === undefined ? ranks.n + 1 : ranks.wanted.length;
  let pick = 0;
  let index = start ?? 0;
  for (let reached = counts[index]!; pick < pickedCount; pick++) {
    const rank = rankOf(ranks, total, pick);
    if (2 * rank > total) break;
    while (reached < rank) reached += counts[++index]!;
    picked[at + pick] = values[index]!;
  }
  index = (end ?? counts.length) - 1;
  let before = total - counts[index]!;
  for (let last = pickedCount - 1; last >= pick; last--) {
    const rank = rankOf(ranks, total, last);
    while (before >= rank) before -= counts[--index]!;
    picked[at + last] = values[index]!;
  }
}

function rankOf({ n, wanted }: Ranks, total: number, pick: number): number {
  const i = wanted === undefined ? pick : wanted[pick]!;
  return Math.max(dividedUp(i * total, n), 1);
}

/** ⌈dividend / divisor⌉ without a rounded quotient. */
function dividedUp(dividend: number, divisor: number): number {
  const remainder = dividend % divisor;
  return (dividend - remainder) / divisor + (remainder === 0 ? 0 : 1);
}

/** Entries are parallel; `overfull` lists the groups that have too many values to be answered. */
export type ValueCountsPartial<T> = {
  readonly groups: readonly number[];
  readonly values: readonly T[];
  readonly counts: readonly number[];
  readonly overfull: readonly number[];
};

/**
 * How often each string or bigint came in each group, up to EXACT_QUANTILE_VALUES_MAX distinct ones a
 * group. A group with more forgets them; it is an error only if they are asked for, so whether it
 * is does not depend on the order of rows.
 */
export class ValueCounts<T extends string | bigint> {
  readonly #what: string;
  readonly #groups = new Map<number, Map<T, number>>();
  readonly #overfull = new Set<number>();

  constructor(what: string) {
    this.#what = what;
  }

  /** Whether no group has any. */
  get isEmpty(): boolean {
    return this.#groups.size + this.#overfull.size === 0;
  }

  has(group: number): boolean {
    return this.#groups.has(group) || this.#overfull.has(group);
  }

  add(group: number, value: T, count: number): void {
    let counts = this.#groups.get(group);
    if (counts === undefined) {
      if (this.#overfull.has(group)) return;
      counts = new Map();
      this.#groups.set(group, counts);
    }
    counts.set(value, (counts.get(value) ?? 0) + count);
    if (counts.size > EXACT_QUANTILE_VALUES_MAX) this.#overfill(group);
  }

  combine(partial: ValueCountsPartial<T>, groups: Int32Array): void {
    partial.groups.forEach((index, entry) => {
      this.add(groups[index]!, partial.values[entry]!, partial.counts[entry]!);
    });
    for (const index of partial.overfull) this.#overfill(groups[index]!);
  }

  partial(): ValueCountsPartial<T> {
    const groups: number[] = [];
    const values: T[] = [];
    const counts: number[] = [];
    for (const [group, countOfValue] of this.#groups) {
      for (const [value, count] of countOfValue) {
        groups.push(group);
        values.push(value);
        counts.push(count);
      }
    }
    return { groups, values, counts, overfull: [...this.#overfull] };
  }

  /** Throws `query_limit` when the group had too many distinct values. */
  sorted(group: number): SortedCounts<T> {
    if (this.#overfull.has(group)) {
      throw new QueryError(
        'query_limit',
        `APPROX_QUANTILES takes at most ${EXACT_QUANTILE_VALUES_MAX} distinct ${this.#what} ` +
          'in a group (EXACT_QUANTILE_VALUES_MAX); got more',
      );
    }
    const entries = [...(this.#groups.get(group) ?? [])];
    entries.sort(([left], [right]) => compareKeys(left, right));
    return {
      values: entries.map(([value]) => value),
      counts: entries.map(([, count]) => count),
      total: entries.reduce((total, [, count]) => total + count, 0),
    };
  }

  #overfill(group: number): void {
    this.#overfull.add(group);
    this.#groups.delete(group);
  }
}

/** The keys of one map are all strings or all bigints. */
function compareKeys(left: string | bigint, right: string | bigint): number {
  return typeof left === 'string' || typeof right === 'string'
    ? compareText(String(left), String(right))
    : compareNumbers(left, right);
}
