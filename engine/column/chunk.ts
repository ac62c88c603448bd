import { carvedInt32 } from './arrays.ts';
import { takeVector, type Vector } from './vector.ts';

/**
 * Some rows as an operator sees them. Columns are dense and read on first use, so a filter that
 * drops a row spares it the reading of all later columns.
 */
export interface Chunk {
  readonly count: number;
  /** The vector of column `index`; the same object each time. */
  column(index: number): Vector;
  /**
   * The rows at `positions[0, count)`, in that order, repeated or not. Columns not read yet are
   * read for these rows only. `positions` is kept: the caller must not write to it any more.
   */
  select(positions: Int32Array, count: number): Chunk;
}

/**
 * A computed column: an expression, compiled. Of a chunk without rows it computes nothing and so
 * fails for nothing; of any other it throws a QueryError when a row's value has no answer.
 */
export type VectorFunction = (chunk: Chunk) => Vector;

/** A chunk whose vectors are at hand. Its `select` also takes positions of -1: rows of NULLs. */
export class VectorChunk implements Chunk {
  readonly count: number;
  readonly #columns: readonly Vector[];

  constructor(columns: readonly Vector[], count: number) {
    this.#columns = columns;
    this.count = count;
  }

  column(index: number): Vector {
    return this.#columns[index] as Vector;
  }

  select(positions: Int32Array, count: number): Chunk {
    return new SelectedChunk(this, positions, count);
  }
}

/** Some rows of a chunk, each column taken of all that it has. */
export class SelectedChunk implements Chunk {
  readonly count: number;
  readonly #input: Chunk;
  readonly #positions: Int32Array;
  readonly #taken: (Vector | undefined)[] = [];

  constructor(input: Chunk, positions: Int32Array, count: number) {
    this.#input = input;
    this.#positions = positions;
    this.count = count;
  }

  column(index: number): Vector {
    this.#taken[index] ??= takeVector(this.#input.column(index), this.#positions, this.count);
    return this.#taken[index];
  }

  select(positions: Int32Array, count: number): Chunk {
    return new SelectedChunk(this, positions, count);
  }
}

/** Where a lazy chunk has its columns from: a segment, or expressions over another chunk. */
export interface ColumnSource {
  /** Reads column `index` for every row of this source. */
  column(index: number): Vector;
  /** The same source for fewer rows; nothing has been read for it yet. May keep `positions`. */
  select(positions: Int32Array, count: number): ColumnSource;
}

/** A chunk whose columns are read when asked for, each for the rows asked for. */
export class LazyChunk implements Chunk {
  readonly count: number;
  readonly #source: ColumnSource;
  readonly #loaded: (Vector | undefined)[] = [];

  constructor(source: ColumnSource, count: number) {
    this.#source = source;
    this.count = count;
  }

  column(index: number): Vector {
    this.#loaded[index] ??= this.#source.column(index);
    return this.#loaded[index];
  }

  select(positions: Int32Array, count: number): Chunk {
    return new SelectedLazyChunk(
      { find: (index) => this.#loaded[index], source: () => this.#source },
      positions,
      count,
    );
  }
}

/** What a selection needs of the chunk it was made from. */
type LazyInput = {
  /** The column, if it has been read already. */
  readonly find: (index: number) => Vector | undefined;
  readonly source: () => ColumnSource;
};

/** Some rows of a lazy chunk: takes what is read there already, reads the rest for its own rows. */
class SelectedLazyChunk implements Chunk {
  readonly count: number;
  readonly #input: LazyInput;
  readonly #positions: Int32Array;
  readonly #loaded: (Vector | undefined)[] = [];
  #source: ColumnSource | undefined;

  constructor(input: LazyInput, positions: Int32Array, count: number) {
    this.#input = input;
    this.#positions = positions;
    this.count = count;
  }

  column(index: number): Vector {
    this.#loaded[index] ??= this.#find(index) ?? this.#ownSource().column(index);
    return this.#loaded[index];
  }

  select(positions: Int32Array, count: number): Chunk {
    return new SelectedLazyChunk(
      { find: (index) => this.#find(index), source: () => this.#ownSource() },
      positions,
      count,
    );
  }

  #find(index: number): Vector | undefined {
    if (this.#loaded[index] === undefined) {
      const read = this.#input.find(index);
      if (read !== undefined) {
        this.#loaded[index] = takeVector(read, this.#positions, this.count);
      }
    }
    return this.#loaded[index];
  }

  #ownSource(): ColumnSource {
    this.#source ??= this.#input.source().select(this.#positions, this.count);
    return this.#source;
  }
}

/** Two chunks of the same rows side by side: `left`'s columns, `leftWidth` of them, then `right`'s. */
export class PairChunk implements Chunk {
  readonly count: number;
  readonly #left: Chunk;
  readonly #leftWidth: number;
  readonly #right: Chunk;

  constructor(left: Chunk, leftWidth: number, right: Chunk) {
    this.count = left.count;
    this.#left = left;
    this.#leftWidth = leftWidth;
    this.#right = right;
  }

  column(index: number): Vector {
    return index < this.#leftWidth
      ? this.#left.column(index)
      : this.#right.column(index - this.#leftWidth);
  }

  select(positions: Int32Array, count: number): Chunk {
    return new PairChunk(
      this.#left.select(positions, count),
      this.#leftWidth,
      this.#right.select(positions, count),
    );
  }
}

/** A computed chunk: column `i` is `functions[i]` over `input`, evaluated on first use. */
export function projectedChunk(functions: readonly VectorFunction[], input: Chunk): Chunk {
  return new LazyChunk(new ProjectionSource(functions, input), input.count);
}

class ProjectionSource implements ColumnSource {
  readonly #functions: readonly VectorFunction[];
  readonly #input: Chunk;

  constructor(functions: readonly VectorFunction[], input: Chunk) {
    this.#functions = functions;
    this.#input = input;
  }

  column(index: number): Vector {
    return (this.#functions[index] as VectorFunction)(this.#input);
  }

  select(positions: Int32Array, count: number): ColumnSource {
    return new ProjectionSource(this.#functions, this.#input.select(positions, count));
  }
}

/** Positions `start`, `start + 1`, … `end - 1`. */
export function consecutivePositions(start: number, end: number): Int32Array {
  const positions = carvedInt32(end - start);
  for (let i = 0; i < positions.length; i++) positions[i] = start + i;
  return positions;
}

/** Rows `[start, end)` of a chunk. */
export function sliceChunk(chunk: Chunk, start: number, end: number): Chunk {
  if (start === 0 && end === chunk.count) return chunk;
  return chunk.select(consecutivePositions(start, end), end - start);
}
