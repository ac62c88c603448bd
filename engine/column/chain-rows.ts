import type { OpenSegmentArrays } from './segment.ts';

/** Chains of rows of an open segment that a thread remembers; beyond, it forgets them all. */
export const CHAINS_KEPT_MAX = 256;

const ROWS_MIN = 16;

/** Rows of one chain from some row up to another: ascending, and not to be written to. */
export type ChainSection = { readonly rows: Int32Array; readonly isTimeOrdered: boolean };

/**
 * The chains of rows of one open segment, as far as this thread has walked them: a project that has sent
 * much since the last sealing is asked for again and again, and its chain runs through all of that.
 */
export class ChainRows {
  /** By the project key that all rows of a chain have. */
  readonly #chains = new Map<number, Chain>();

  /** The rows from `start` on of the chain that ends with the row `head`, of this or of an earlier snapshot. */
  between(start: number, head: number, arrays: OpenSegmentArrays): ChainSection {
    const key = arrays.projectKeys[head]!;
    let chain = this.#chains.get(key);
    if (chain === undefined) {
      if (this.#chains.size >= CHAINS_KEPT_MAX) this.#chains.clear();
      chain = new Chain();
      this.#chains.set(key, chain);
    }
    return chain.between(start, head, arrays);
  }
}

/** Invariant: `#rows[0, #count)` are the first rows of the chain; what was handed out does not change. */
class Chain {
  #rows = new Int32Array(ROWS_MIN);
  #count = 0;
  /** How many of the rows, from the first on, stand in the order of their times. */
  #orderedCount = 0;

  between(start: number, head: number, arrays: OpenSegmentArrays): ChainSection {
    if (this.#last < head) this.#extend(head, arrays);
    const first = start === 0 ? 0 : this.#countBefore(start);
    const end = this.#last === head ? this.#count : this.#countBefore(head + 1);
    return { rows: this.#rows.subarray(first, end), isTimeOrdered: end <= this.#orderedCount };
  }

  get #last(): number {
    return this.#count === 0 ? -1 : this.#rows[this.#count - 1]!;
  }

  #extend(head: number, { previousRows, timestampsUs }: OpenSegmentArrays): void {
    const last = this.#last;
    const start = this.#count;
    let end = start;
    for (let row = head; row > last; row = previousRows[row]!) end++;
    if (end > this.#rows.length) {
      const grown = new Int32Array(Math.max(end, 2 * this.#rows.length));
      grown.set(this.#rows.subarray(0, start));
      this.#rows = grown;
    }
    const rows = this.#rows;
    for (let row = head, index = end; index > start; row = previousRows[row]!) rows[--index] = row;
    let ordered = this.#orderedCount;
    if (ordered === start) {
      while (
        ordered < end &&
        (ordered === 0 || timestampsUs[rows[ordered]!]! >= timestampsUs[rows[ordered - 1]!]!)
      ) {
        ordered++;
      }
      this.#orderedCount = ordered;
    }
    this.#count = end;
  }

  /** How many rows there are before this one. */
  #countBefore(row: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#rows[middle]! < row) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
