import { compareNumbers, compareText } from '../function/comparison.ts';
import { EXACT_QUANTILE_VALUES_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import type { SortedCounts } from './quantile-ranks.ts';

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
