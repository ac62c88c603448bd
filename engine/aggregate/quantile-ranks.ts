/** Values in ascending order with how often each came; a value may stand there more than once. */
export type SortedCounts<T> = {
  readonly values: ArrayLike<T> & Iterable<T>;
  readonly counts: ArrayLike<number> & Iterable<number>;
  /** Sum of the counts from `start` on. */
  readonly total: number;
  /** Entries before it are not meant; 0 where absent. */
  readonly start?: number | undefined;
};

/**
 * The values of ranks max(⌈i·total/n⌉, 1), i from 0 to n, counting from 1; of those i alone that are in
 * `wanted`, ascending, where it is given. `total` must be at least 1, and n·total below 2^53, so that the
 * products are exact.
 */
export function pickQuantiles<T>(
  { values, counts, total, start }: SortedCounts<T>,
  n: number,
  wanted?: readonly number[] | undefined,
): T[] {
  const picked: T[] = [];
  writeQuantiles({ values, counts, total, start }, { n, wanted }, picked, 0);
  return picked;
}

/** The same, written to `picked` from `at` on. */
export function writeQuantiles<T>(
  { values, counts, total, start }: SortedCounts<T>,
  { n, wanted }: { readonly n: number; readonly wanted: readonly number[] | undefined },
  picked: { [index: number]: T },
  at: number,
): void {
  const pickedCount = wanted === undefined ? n + 1 : wanted.length;
  let index = start ?? 0;
  let reached = counts[index]!;
  for (let pick = 0; pick < pickedCount; pick++) {
    const i = wanted === undefined ? pick : wanted[pick]!;
    const rank = Math.max(dividedUp(i * total, n), 1);
    while (reached < rank) reached += counts[++index]!;
    picked[at + pick] = values[index]!;
  }
}

/** ⌈dividend / divisor⌉ without a rounded quotient. */
function dividedUp(dividend: number, divisor: number): number {
  const remainder = dividend % divisor;
  return (dividend - remainder) / divisor + (remainder === 0 ? 0 : 1);
}
