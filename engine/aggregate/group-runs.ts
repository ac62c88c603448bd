/**
 * Rows sorted by time and grouped by time bucket come in long runs of one group. A loop over a run
 * keeps its result in a register; one that scatters rows over groups waits for memory at each row.
 */

const PAIRS_SAMPLED = 16;

/** Rows below which it does not matter. */
const ROWS_MIN = 64;

/** Whether rows mostly have the group of the row before, going by a sample: a matter of speed only. */
export function comesInRuns(groups: Int32Array, count: number): boolean {
  if (count < ROWS_MIN) return false;
  const step = Math.floor((count - 1) / PAIRS_SAMPLED);
  let changes = 0;
  for (let pair = 0; pair < PAIRS_SAMPLED; pair++) {
    if (groups[pair * step] !== groups[pair * step + 1]) changes++;
  }
  return changes <= 1;
}

/** The first row after `start`, or `count`, whose group is another than that of `start`. */
export function runEnd(groups: Int32Array, start: number, count: number): number {
  const group = groups[start];
  let row = start + 1;
  while (row < count && groups[row] === group) row++;
  return row;
}
