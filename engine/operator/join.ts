import type { Chunk, VectorFunction } from '../column/chunk.ts';
import { PairChunk, VectorChunk } from '../column/chunk.ts';
import { constantVector } from '../column/vector.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';
import type { ExpansionOptions, Pairs } from './expansion.ts';
import { Expansion } from './expansion.ts';
import type { JoinTable } from './join-table.ts';
import type { Checkpoint, Sink } from './sink.ts';
import { pushInChunks } from './sink.ts';
import { positionsWhere } from './truth.ts';

export type JoinOptions = {
  readonly kind: 'inner' | 'left' | 'full' | 'cross';
  /** The right side; its keys are equated with `leftKeys`, one by one. None: all rows match. */
  readonly table: JoinTable;
  readonly leftKeys: readonly VectorFunction[];
  /** Columns of the left side; those of the right follow them. */
  readonly leftWidth: number;
  /** What else must hold of a pair, over the columns of both. */
  readonly residual?: VectorFunction | undefined;
  readonly checkpoint?: Checkpoint;
};

/**
 * Joins the rows pushed, the left side, with a table: in order of the left, then of the right. A full
 * join ends with `finish`, by which the rows of the right that have had no partner follow.
 */
export class JoinOperator implements Sink {
  readonly #options: JoinOptions;
  readonly #expansion: ExpansionOptions;
  readonly #sink: Sink;
  /** Per row of the table, 1 once it has had a partner; of a full join only. */
  readonly #rightMatched: Uint8Array | undefined;
  #wantsMore = true;

  constructor(options: JoinOptions, sink: Sink) {
    this.#options = options;
    const { kind, table, leftWidth, residual, checkpoint } = options;
    this.#rightMatched = kind === 'full' ? new Uint8Array(table.rows.count) : undefined;
    this.#expansion = {
      leftWidth,
      on: residual,
      outer: kind === 'left' || kind === 'full',
      rightMatched: this.#rightMatched,
      checkpoint,
    };
    this.#sink = {
      push: (chunk) => {
        this.#wantsMore = sink.push(chunk);
        return this.#wantsMore;
      },
    };
  }

  /** Pushes what only the end of the left side decides; whether the sink wants more. */
  finish(): boolean {
    const matched = this.#rightMatched;
    if (matched === undefined || !this.#wantsMore) return this.#wantsMore;
    const { table, leftWidth } = this.#options;
    const { positions, count } = positionsWhere(matched, matched.length, 0);
    const nulls = Array.from({ length: leftWidth }, () => constantVector(null, count));
    const right = table.rows.select(positions, count);
    return pushInChunks(new PairChunk(new VectorChunk(nulls, count), leftWidth, right), this.#sink);
  }

  push(chunk: Chunk): boolean {
    if (chunk.count === 0) return true;
    const { table } = this.#options;
    const matches = this.#firstMatches(chunk);
    const expansion = new Expansion(chunk, this.#expansion, this.#sink);
    let pairs = new PairBuffer(table);
    for (let row = 0; row < chunk.count; row++) {
      for (let match = matches[row]!; match >= 0; match = table.nextMatch(match)) {
        if (pairs.count === CHUNK_ROWS_MAX) {
          if (!expansion.push(pairs.pairs(), row)) return false;
          pairs = new PairBuffer(table);
        }
        pairs.add(row, match);
      }
    }
    return expansion.push(pairs.pairs(), chunk.count);
  }

  /** Without a row to look for no key is computed, which might fail. */
  #firstMatches(chunk: Chunk): Int32Array {
    const { table, leftKeys } = this.#options;
    if (table.rows.count === 0) return new Int32Array(chunk.count).fill(-1);
    return table.firstMatches(
      leftKeys.map((key) => key(chunk)),
      chunk.count,
    );
  }
}

class PairBuffer {
  readonly #table: JoinTable;
  readonly #parents = new Int32Array(CHUNK_ROWS_MAX);
  readonly #rightRows = new Int32Array(CHUNK_ROWS_MAX);
  count = 0;

  constructor(table: JoinTable) {
    this.#table = table;
  }

  add(parent: number, rightRow: number): void {
    this.#parents[this.count] = parent;
    this.#rightRows[this.count++] = rightRow;
  }

  pairs(): Pairs {
    return {
      parents: this.#parents,
      rightRows: this.#rightRows,
      count: this.count,
      right: this.#table.rows,
    };
  }
}
