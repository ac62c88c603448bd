import type { LooseIntegers } from './integer-log.ts';

/** Values in ascending order with how often each came; a value may stand there more than once. */
export type SortedCounts<T> = {
  readonly values: ArrayLike<T> & Iterable<T>;
  readonly counts: ArrayLike<number> & Iterable<number>;
  /** Sum of the counts that are meant. */
  readonly total: number;
  /** Entries before it are not meant; 0 where absent. */
  readonly start?: number;
  /** … nor those from here on; all to the last are where it is absent. */
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
export type Ranks = { readonly n: number; readonly wanted: readonly number[] | undefined };

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

/** Values from which on those of a rank are the greatest of all but so many, at most, that they are found by keeping these. */
const KEPT_GREATEST_MAX = 16;

/** The greatest values so far, ascending. */
const greatest = new Uint16Array(KEPT_GREATEST_MAX);

/**
 * As `writeQuantiles`, of integers in any order, where all that are wanted are among the few greatest: else it writes
 * nothing and gives false.
 */
export function writeLooseQuantiles(
  { values, start, end }: LooseIntegers,
  ranks: Ranks,
  picked: Float64Array,
  at: number,
): boolean {
  const total = end - start;
  const pickedCount = ranks.wanted === undefined ? ranks.n + 1 : ranks.wanted.length;
  if (pickedCount === 0) return true;
  const lowest = rankOf(ranks, total, 0);
  const keptCount = total - lowest + 1;
  if (keptCount > KEPT_GREATEST_MAX) return false;
  greatest.fill(0, 0, keptCount);
  for (let row = start; row < end; row++) {
    const value = values[row]!;
    if (value <= greatest[0]!) continue;
    let to = 0;
    for (; to + 1 < keptCount && greatest[to + 1]! < value; to++) greatest[to] = greatest[to + 1]!;
    greatest[to] = value;
  }
  for (let pick = 0; pick < pickedCount; pick++) {
    picked[at + pick] = greatest[rankOf(ranks, total, pick) - lowest]!;
  }
  return true;
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
