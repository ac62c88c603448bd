/** Values in ascending order with how often each came; a value may stand there more than once. */
export type SortedCounts<T> = {
  readonly values: readonly T[];
  readonly counts: readonly number[];
  /** Sum of the counts. */
  readonly total: number;
};

/**
 * The values of ranks max(⌈i·total/n⌉, 1), i from 0 to n, counting from 1. `total` must be at least
 * 1, and n·total below 2^53, so that the products are exact.
 */
export function pickQuantiles<T>(sorted: SortedCounts<T>, n: number): T[] {
  const { values, counts, total } = sorted;
  const picked: T[] = [];
  let index = 0;
  let reached = counts[0]!;
  for (let i = 0; i <= n; i++) {
    const rank = Math.max(dividedUp(i * total, n), 1);
    while (reached < rank) reached += counts[++index]!;
    picked.push(values[index]!);
  }
  return picked;
}

/** ⌈dividend / divisor⌉ without a rounded quotient. */
function dividedUp(dividend: number, divisor: number): number {
  const remainder = dividend % divisor;
  return (dividend - remainder) / divisor + (remainder === 0 ? 0 : 1);
}
