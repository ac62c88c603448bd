import { GroupTable, selectedKeys } from '../aggregate/group-table.ts';
import {
  type Chunk,
  PairChunk,
  sliceChunk,
  VectorChunk,
  type VectorFunction,
} from '../column/chunk.ts';
import { DYNAMIC, type SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { constantVector, TRUE, type Vector } from '../column/vector.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';
import { positionsWhere, truthBytes } from './row-wise.ts';
import { type Checkpoint, pushInChunks, type Sink } from './sink.ts';

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

/** New combinations of the rows that look for others which a table keeps, beside as many as it has itself. */
const STRANGE_GROUPS_MAX = 65_536;

/**
 * The build side of a hash join: its rows, and for each combination of key values the rows that
 * have it, in order. NULL and NaN equal nothing.
 */
export class JoinTable {
  readonly rows: VectorChunk;
  readonly #keys: readonly VectorFunction[];
  readonly #checkpoint: Checkpoint;
  /** Groups below the length of `#firstRows` are those of the rows; others are of rows that looked for one. */
  #groups: GroupTable;
  /** First row of each group; -1 where its keys equal nothing. `undefined` before the first look-up. */
  #firstRows: Int32Array | undefined;
  /** The next row of the same group, or -1. */
  #nextRows = new Int32Array(0);

  /**
   * `keys` are over the columns of `rows`, and computed once somebody looks for a row: they might fail. None:
   * all rows are one group.
   */
  constructor(
    rows: VectorChunk,
    keys: readonly VectorFunction[],
    checkpoint: Checkpoint = () => {},
  ) {
    this.rows = rows;
    this.#keys = keys;
    this.#checkpoint = checkpoint;
    this.#groups = newGroups(keys.length);
  }

  /** Groups the rows by their keys; gives the first row of each. */
  #group(): Int32Array {
    const { count } = this.rows;
    const groups = new Int32Array(count);
    for (let start = 0; start < count; start += CHUNK_ROWS_MAX) {
      this.#checkpoint();
      const chunk = sliceChunk(this.rows, start, Math.min(start + CHUNK_ROWS_MAX, count));
      const keys = this.#keys.map((key) => key(chunk));
      groups.set(this.#groups.assign(keys, chunk.count).subarray(0, chunk.count), start);
    }
    const firstRows = new Int32Array(this.#groups.size).fill(-1);
    this.#nextRows = new Int32Array(count).fill(-1);
    for (let row = count - 1; row >= 0; row--) {
      const group = groups[row]!;
      this.#nextRows[row] = firstRows[group]!;
      firstRows[group] = row;
    }
    for (const group of this.#groups.unequalGroups()) firstRows[group] = -1;
    return firstRows;
  }

  /**
   * For each of `count` rows the first build row that matches, or -1. `vectors` are their keys, in
   * the order of the table's.
   */
  firstMatches(vectors: readonly Vector[], count: number): Int32Array {
    this.#firstRows ??= this.#group();
    const firstRows = this.#firstRows;
    const known = firstRows.length;
    const groups = this.#groups.assign(vectors, count);
    const matches = new Int32Array(count);
    for (let row = 0; row < count; row++) {
      matches[row] = groups[row]! < known ? firstRows[groups[row]!]! : -1;
    }
    if (this.#groups.size > 2 * known + STRANGE_GROUPS_MAX) this.#forgetStrange(known);
    return matches;
  }

  /** The match after build row `row`, or -1. */
  nextMatch(row: number): number {
    return this.#nextRows[row]!;
  }

  /** Keeps the groups of the rows alone, which are the first, and their numbers. */
  #forgetStrange(known: number): void {
    const marks = new Uint8Array(this.#groups.size).fill(1, 0, known);
    const keys = selectedKeys(this.#groups.keys(), marks);
    this.#groups = newGroups(this.#keys.length);
    this.#groups.combine(keys, this.#checkpoint);
  }
}

/** Numbers are compared by value, whatever type they have on either side. */
function newGroups(keyCount: number): GroupTable {
  return new GroupTable(new Array<SqlType>(keyCount).fill(DYNAMIC), Number.POSITIVE_INFINITY);
}

/**
 * The value as a key of a Map or Set: two scalars, neither NULL nor NaN, are equal by `=` exactly
 * when their keys are the same. A double beyond 2^53 may equal an integer kept as a bigint.
 */
export function matchKey(value: SqlValue): SqlValue {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !Number.isInteger(value)) {
    return value;
  }
  return BigInt(value);
}

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
