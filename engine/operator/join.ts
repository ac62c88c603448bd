import type { Chunk, VectorFunction } from '../column/chunk.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';
import type { ExpansionOptions, Pairs } from './expansion.ts';
import { Expansion } from './expansion.ts';
import type { JoinTable } from './join-table.ts';
import type { Checkpoint, Sink } from './sink.ts';

export type JoinOptions = {
  readonly kind: 'inner' | 'left' | 'cross';
  /** The right side; its keys are equated with `leftKeys`, one by one. None: all rows match. */
  readonly table: JoinTable;
  readonly leftKeys: readonly VectorFunction[];
  /** Columns of the left side; those of the right follow them. */
  readonly leftWidth: number;
  /** What else must hold of a pair, over the columns of both. */
  readonly residual?: VectorFunction | undefined;
  readonly checkpoint?: Checkpoint | undefined;
};

/** Joins the rows pushed, the left side, with a table: in order of the left, then of the right. */
export class JoinOperator implements Sink {
  readonly #options: JoinOptions;
  readonly #expansion: ExpansionOptions;
  readonly #sink: Sink;

  constructor(options: JoinOptions, sink: Sink) {
    this.#options = options;
    const { kind, leftWidth, residual, checkpoint } = options;
    this.#expansion = { leftWidth, on: residual, outer: kind === 'left', checkpoint };
    this.#sink = sink;
  }

  push(chunk: Chunk): boolean {
    if (chunk.count === 0) return true;
    const { table, leftKeys } = this.#options;
    const keys = leftKeys.map((key) => key(chunk));
    const matches = table.firstMatches(keys, chunk.count);
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
