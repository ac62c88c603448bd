import type { Chunk, VectorChunk, VectorFunction } from '../column/chunk.ts';
import { PairChunk } from '../column/chunk.ts';
import { TRUE } from '../column/vector.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';
import type { Checkpoint, Sink } from './sink.ts';
import { pushInChunks } from './sink.ts';
import { positionsWhere, truthBytes } from './truth.ts';

/**
 * Some pairs of an input row and a right row: pair `i` is row `parents[i]` of the input with row
 * `rightRows[i]` of `right`. At most `CHUNK_ROWS_MAX` pairs.
 */
export type Pairs = {
  readonly parents: Int32Array;
  readonly rightRows: Int32Array;
  readonly count: number;
  readonly right: VectorChunk;
};

export type ExpansionOptions = {
  /** Columns of the input; the right columns follow them. */
  readonly leftWidth: number;
  /** Over a row of both: pairs for which it does not hold are no pairs. */
  readonly on?: VectorFunction | undefined;
  /** Whether an input row without a pair is kept, with NULLs on the right. */
  readonly outer: boolean;
  /** Gets 1 at each right row that has had a pair; left out where nobody wants to know. */
  readonly rightMatched?: Uint8Array | undefined;
  readonly checkpoint?: Checkpoint | undefined;
};

/**
 * Turns the pairs of one input chunk into rows, in order of the input rows, a row without a pair
 * in its place. Pairs come ascending by parent, in as many portions as it takes.
 */
export class Expansion {
  readonly #input: Chunk;
  readonly #options: ExpansionOptions;
  readonly #sink: Sink;
  /** 1 for an input row that has had a pair; kept when `outer` only. */
  readonly #matched: Uint8Array;
  /** Input rows before it are done with: whatever they give has been pushed. */
  #doneRow = 0;

  constructor(input: Chunk, options: ExpansionOptions, sink: Sink) {
    this.#input = input;
    this.#options = options;
    this.#sink = sink;
    this.#matched = new Uint8Array(options.outer ? input.count : 0);
  }

  /** Pushes the rows of some pairs; input rows below `completeRow` have no pairs after these. */
  push(pairs: Pairs, completeRow: number): boolean {
    this.#options.checkpoint?.();
    const kept = this.#options.on === undefined ? pairs : this.#test(pairs, this.#options.on);
    const { rightMatched } = this.#options;
    if (rightMatched !== undefined) {
      for (let i = 0; i < kept.count; i++) rightMatched[kept.rightRows[i]!] = 1;
    }
    const rows = this.#options.outer ? this.#withUnmatched(kept, completeRow) : kept;
    if (rows.count === 0) return true;
    const chunk = this.#chunk(rows);
    return rows.count <= CHUNK_ROWS_MAX ? this.#sink.push(chunk) : pushInChunks(chunk, this.#sink);
  }

  #chunk(pairs: Pairs): Chunk {
    return new PairChunk(
      this.#input.select(pairs.parents, pairs.count),
      this.#options.leftWidth,
      pairs.right.select(pairs.rightRows, pairs.count),
    );
  }

  #test(pairs: Pairs, on: VectorFunction): Pairs {
    if (pairs.count === 0) return pairs;
    const truths = truthBytes(on(this.#chunk(pairs)));
    const { positions, count } = positionsWhere(truths, pairs.count, TRUE);
    if (count === pairs.count) return pairs;
    const parents = new Int32Array(count);
    const rightRows = new Int32Array(count);
    for (let i = 0; i < count; i++) {
      parents[i] = pairs.parents[positions[i]!]!;
      rightRows[i] = pairs.rightRows[positions[i]!]!;
    }
    return { parents, rightRows, count, right: pairs.right };
  }

  /** Puts each finished input row that had no pair in its place among the pairs. */
  #withUnmatched(pairs: Pairs, completeRow: number): Pairs {
    const matched = this.#matched;
    for (let i = 0; i < pairs.count; i++) matched[pairs.parents[i]!] = 1;
    const countMax = pairs.count + Math.max(0, completeRow - this.#doneRow);
    const parents = new Int32Array(countMax);
    const rightRows = new Int32Array(countMax);
    let count = 0;
    let row = this.#doneRow;
    for (let i = 0; i <= pairs.count; i++) {
      const parent = i < pairs.count ? pairs.parents[i]! : completeRow;
      for (; row < parent; row++) {
        if (matched[row] === 1) continue;
        parents[count] = row;
        rightRows[count++] = -1;
      }
      if (i === pairs.count) break;
      parents[count] = parent;
      rightRows[count++] = pairs.rightRows[i]!;
    }
    this.#doneRow = row;
    return { parents, rightRows, count, right: pairs.right };
  }
}
