import { assert } from '../assert.ts';
import { type Chunk, PairChunk, VectorChunk, type VectorFunction } from '../column/chunk.ts';
import type { SqlValue } from '../column/value.ts';
import {
  constantVector,
  type DictionaryVector,
  TRUE,
  type Vector,
  valueAt,
} from '../column/vector.ts';
import { dynamicKey } from '../function/dynamic.ts';
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

/**
 * The build side of a hash join: its rows, and for each combination of key values the rows that
 * have it, in order. Never changed once made.
 */
export class JoinTable {
  readonly rows: VectorChunk;
  readonly #keyFunctions: readonly VectorFunction[];
  readonly #checkpoint: Checkpoint;
  readonly #keys: readonly JoinKey[];
  /** First row of each group: of each combination of key values. Nothing before the first look-up. */
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
    this.#keyFunctions = keys;
    this.#checkpoint = checkpoint;
    this.#keys = keys.map(() => new JoinKey(rows.count));
  }

  /** Groups the rows by their keys; gives the first row of each. */
  #group(): Int32Array {
    const { rows } = this;
    const groups = new Int32Array(rows.count);
    let groupCount = 1;
    if (rows.count > 0) {
      for (const [index, key] of this.#keyFunctions.entries()) {
        groupCount = this.#keys[index]!.build(key(rows), groups, this.#checkpoint);
      }
    }
    const firstRows = new Int32Array(groupCount).fill(-1);
    this.#nextRows = new Int32Array(rows.count).fill(-1);
    for (let row = rows.count - 1; row >= 0; row--) {
      const group = groups[row]!;
      if (group < 0) continue;
      this.#nextRows[row] = firstRows[group]!;
      firstRows[group] = row;
    }
    return firstRows;
  }

  /**
   * For each of `count` rows the first build row that matches, or -1. `vectors` are their keys, in
   * the order of the table's.
   */
  firstMatches(vectors: readonly Vector[], count: number): Int32Array {
    assert(vectors.length === this.#keys.length, 'both sides of a join have as many keys');
    this.#firstRows ??= this.#group();
    const firstRows = this.#firstRows;
    const groups = new Int32Array(count);
    for (const [index, vector] of vectors.entries()) this.#keys[index]!.probe(vector, groups);
    for (let row = 0; row < count; row++) {
      groups[row] = groups[row]! < 0 ? -1 : firstRows[groups[row]!]!;
    }
    return groups;
  }

  /** The match after build row `row`, or -1. */
  nextMatch(row: number): number {
    return this.#nextRows[row]!;
  }
}

/**
 * Numbers the values of one key, and their combinations with the groups of the keys before it.
 * NULL and NaN equal nothing and are never numbered.
 */
class JoinKey {
  readonly #scalarIds = new Map<SqlValue, number>();
  /** Records and lists of events, by the text that equal ones share. */
  readonly #nestedIds = new Map<string, number>();
  /** From `group of the keys before * #rowCount + value id`; below 2^53, as both are row counts. */
  readonly #groups = new Map<number, number>();
  readonly #rowCount: number;

  constructor(rowCount: number) {
    this.#rowCount = rowCount;
  }

  /** Refines `groups`, -1 for rows that match nothing; the number of groups there are now. */
  build(vector: Vector, groups: Int32Array, checkpoint: Checkpoint): number {
    const readValue = valueReader(vector);
    for (let row = 0; row < groups.length; row++) {
      if (row % CHUNK_ROWS_MAX === 0) checkpoint();
      if (groups[row]! < 0) continue;
      const value = readValue(row);
      groups[row] =
        value === null || Number.isNaN(value) ? -1 : this.#group(groups[row]!, this.#id(value));
    }
    return this.#groups.size;
  }

  /** Refines `groups` by what was built. */
  probe(vector: Vector, groups: Int32Array): void {
    const readId = this.#idReader(vector);
    for (let row = 0; row < groups.length; row++) {
      if (groups[row]! < 0) continue;
      const id = readId(row);
      groups[row] = id < 0 ? -1 : (this.#groups.get(groups[row]! * this.#rowCount + id) ?? -1);
    }
  }

  #id(value: SqlValue): number {
    const known = this.#findId(value);
    if (known >= 0) return known;
    const id = this.#scalarIds.size + this.#nestedIds.size;
    if (typeof value === 'object') this.#nestedIds.set(dynamicKey(value), id);
    else this.#scalarIds.set(matchKey(value), id);
    return id;
  }

  #findId(value: SqlValue): number {
    const id =
      typeof value === 'object'
        ? this.#nestedIds.get(dynamicKey(value))
        : this.#scalarIds.get(matchKey(value));
    return id ?? -1;
  }

  #group(before: number, id: number): number {
    const key = before * this.#rowCount + id;
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = this.#groups.size;
      this.#groups.set(key, group);
    }
    return group;
  }

  #idReader(vector: Vector): (row: number) => number {
    if (vector.kind === 'dictionary') return this.#codeReader(vector);
    const readValue = valueReader(vector);
    return (row) => this.#findId(readValue(row));
  }

  /** Looks each code of a chunk up once. */
  #codeReader({ codes, dictionary }: DictionaryVector): (row: number) => number {
    const idOfCode = new Map<number, number>([[-1, -1]]);
    return (row) => {
      const code = codes[row]!;
      let id = idOfCode.get(code);
      if (id === undefined) {
        id = this.#findId(dictionary.value(code));
        idOfCode.set(code, id);
      }
      return id;
    };
  }
}

function valueReader(vector: Vector): (row: number) => SqlValue {
  if (vector.kind === 'constant') return () => vector.value;
  if (vector.kind === 'number' && vector.nulls === undefined) return (row) => vector.values[row]!;
  return (row) => valueAt(vector, row);
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
