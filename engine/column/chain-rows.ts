import { CHAINS_KEPT_MAX } from '../limits.ts';
import type { OpenSegmentArrays } from './segment.ts';

const ROWS_MIN = 16;

/** Rows of one chain up to some row: ascending, and not to be written to. */
export type ChainPrefix = { readonly rows: Int32Array; readonly isTimeOrdered: boolean };

/**
 * The chains of rows of one open segment, as far as this thread has walked them: a project that has sent
 * much since the last sealing is asked for again and again, and its chain runs through all of that.
 */
export class ChainRows {
  /** By the project key that all rows of a chain have. */
  readonly #chains = new Map<number, Chain>();

  /** The rows of the chain that ends with the row `head`, of this or of an earlier snapshot. */
  upTo(head: number, arrays: OpenSegmentArrays): ChainPrefix {
    const key = arrays.projectKeys[head]!;
    let chain = this.#chains.get(key);
    if (chain === undefined) {
      if (this.#chains.size >= CHAINS_KEPT_MAX) this.#chains.clear();
      chain = new Chain();
      this.#chains.set(key, chain);
    }
    return chain.upTo(head, arrays);
  }
}

/** Invariant: `#rows[0, #count)` are the first rows of the chain; what was handed out does not change. */
class Chain {
  #rows = new Int32Array(ROWS_MIN);
  #count = 0;
  /** How many of the rows, from the first on, stand in the order of their times. */
  #orderedCount = 0;

  upTo(head: number, arrays: OpenSegmentArrays): ChainPrefix {
    if (this.#last < head) this.#extend(head, arrays);
    const count = this.#last === head ? this.#count : this.#countUpTo(head);
    return { rows: this.#rows.subarray(0, count), isTimeOrdered: count <= this.#orderedCount };
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

  /** How many rows there are up to one of them. */
  #countUpTo(head: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#rows[middle]! < head) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  }
}
