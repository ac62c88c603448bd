import { assert } from '../assert.ts';
import type { VectorChunk, VectorFunction } from '../column/chunk.ts';
import type { SqlValue } from '../column/value.ts';
import type { DictionaryVector, Vector } from '../column/vector.ts';
import { valueAt } from '../column/vector.ts';
import { dynamicKey } from '../function/dynamic.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';
import { matchKey } from './match-key.ts';
import type { Checkpoint } from './sink.ts';

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
