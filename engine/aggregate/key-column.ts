import { must } from '../assert.ts';
import { CodedNumbers } from '../column/coded-numbers.ts';
import { PackedNumbers } from '../column/packed-numbers.ts';
import type { SqlType } from '../column/type.ts';
import type { Interval, Nested, SqlValue } from '../column/value.ts';
import { isInterval } from '../column/value.ts';
import type { Dictionary, NumberVector, Vector } from '../column/vector.ts';
import { numberVector, TRUE, UNKNOWN, valueAt, valueVector } from '../column/vector.ts';
import { dynamicKey } from '../function/dynamic.ts';
import { compareAmounts, totalUs } from '../function/time/interval.ts';
import { DictionaryMemo } from './dictionary-memo.ts';
import { canonicalNumber, canonicalValue, WIDE_NUMBER_MIN } from './dynamic-order.ts';
import { grownFloat64, grownInt32, NO_FLOAT64, NO_INT32 } from './growth.ts';
import { NumberIndex } from './number-index.ts';
import { fromPortable, type PortableValue, toPortable } from './portable-value.ts';

const ABSENT = -1;

/**
 * The distinct values of one column, fit for `postMessage`. Value `i` is `numbers[i]` where
 * `otherIndexes[i]` is -1, else `others[otherIndexes[i]]`.
 */
export type DistinctValues = {
  readonly numbers: Float64Array;
  readonly otherIndexes: Int32Array;
  readonly others: readonly OtherKey[];
};

type OtherKey = Exclude<PortableValue, number>;

/**
 * The distinct values of one column, numbered 0, 1, 2 … in the order they are first met. NULL is a
 * value; 0 and -0 are one, NaN is one, numbers of one value are one whatever their form, records
 * and lists are compared by their JSON, ARRAYs and STRUCTs by their parts. Of equal INTERVALs the
 * least by `compareAmounts` is kept, in whatever order they come. FLOAT64 keeps doubles only.
 */
export class KeyColumn {
  readonly #type: SqlType;
  /** Ids of doubles other than NaN. */
  readonly #numberIds = new NumberIndex();
  /** Ids of strings, booleans, bigints and NULL. */
  readonly #otherIds = new Map<SqlValue, number>();
  /** Ids of records, lists, ARRAYs and STRUCTs, by a text that only equal ones share. */
  readonly #compositeIds = new Map<string, number>();
  /** By the microseconds that comparisons go by. */
  readonly #intervalIds = new Map<bigint, number>();
  #nanId = ABSENT;
  #size = 0;
  #numbers: Float64Array<ArrayBuffer> = NO_FLOAT64;
  #otherIndexes: Int32Array<ArrayBuffer> = NO_INT32;
  readonly #others: OtherKey[] = [];
  /** Per dictionary the id of code `c` at `c + 1`, and of NULL at 0; -1 when not known yet. */
  readonly #codeIds = new DictionaryMemo((dictionary) =>
    new Int32Array(dictionary.size + 1).fill(ABSENT),
  );

  /** Per dictionary of strings taken apart the id of each short key. */
  readonly #splitIds = new DictionaryMemo(() => new NumberIndex());

  constructor(type: SqlType) {
    this.#type = type;
  }

  get size(): number {
    return this.#size;
  }

  /** Writes the id of each entry of the vector to `ids`, new values getting new ones. */
  assign(vector: Vector, count: number, ids: Int32Array): void {
    switch (vector.kind) {
      case 'number':
        if (vector instanceof PackedNumbers && vector.coding.codeMax < count) {
          this.#assignPacked(vector, (code) => vector.coding.value(code), ids);
        } else if (vector instanceof CodedNumbers) {
          this.#assignPacked(vector.numbers, (code) => vector.numberOfCode[code]!, ids);
        } else {
          this.#assignNumbers(vector, count, ids);
        }
        return;
      case 'dictionary':
        if (vector.dictionary.split === undefined) {
          this.#assignCodes(vector.codes, vector.dictionary, count, ids);
        } else {
          this.#assignSplit(vector.codes, vector.dictionary, count, ids);
        }
        return;
      case 'boolean': {
        const idOfTruth = [ABSENT, ABSENT, ABSENT];
        for (let row = 0; row < count; row++) {
          const truth = vector.values[row]!;
          if (idOfTruth[truth] === ABSENT) {
            idOfTruth[truth] = this.#id(truth === UNKNOWN ? null : truth === TRUE);
          }
          ids[row] = idOfTruth[truth]!;
        }
        return;
      }
      case 'constant':
        if (count > 0) ids.fill(this.#id(vector.value), 0, count);
        return;
      case 'nested':
      case 'value':
        for (let row = 0; row < count; row++) ids[row] = this.#id(valueAt(vector, row));
        return;
    }
  }

  value(id: number): SqlValue {
    const index = this.#otherIndexes[id]!;
    if (index < 0) return this.#numbers[id]!;
    return fromPortable(this.#others[index]!);
  }

  /** The values with the given ids, as a vector. */
  vector(ids: Int32Array): Vector {
    const isNumeric = this.#others.every((key) => key === null);
    if (!isNumeric) return valueVector(Array.from(ids, (id) => this.value(id)));
    const values = new Float64Array(ids.length);
    const nulls = this.#others.length === 0 ? undefined : new Uint8Array(ids.length);
    for (let row = 0; row < ids.length; row++) {
      const id = ids[row]!;
      values[row] = this.#numbers[id]!;
      if (nulls !== undefined && this.#otherIndexes[id]! >= 0) nulls[row] = 1;
    }
    return numberVector(values, ids.length, nulls);
  }

  distinctValues(): DistinctValues {
    return {
      numbers: this.#numbers.slice(0, this.#size),
      otherIndexes: this.#otherIndexes.slice(0, this.#size),
      others: this.#others.slice(),
    };
  }

  /** Our id for each of another column's values. */
  combine(theirs: DistinctValues): Int32Array {
    const ids = new Int32Array(theirs.numbers.length);
    for (let index = 0; index < ids.length; index++) {
      const otherIndex = theirs.otherIndexes[index]!;
      if (otherIndex < 0) {
        ids[index] = this.#numberId(theirs.numbers[index]!);
      } else {
        ids[index] = this.#id(fromPortable(theirs.others[otherIndex]!));
      }
    }
    return ids;
  }

  /** Rows come in runs of one value when they are sorted by time and the key is a time bucket. */
  #assignNumbers(vector: NumberVector, count: number, ids: Int32Array): void {
    const { values, nulls } = vector;
    let last = Number.NaN; // Equal to nothing.
    let lastId = ABSENT;
    let nullId = ABSENT;
    for (let row = 0; row < count; row++) {
      if (nulls !== undefined && nulls[row] === 1) {
        if (nullId === ABSENT) nullId = this.#id(null);
        ids[row] = nullId;
        continue;
      }
      const value = values[row]!;
      if (value !== last) {
        lastId = this.#numberId(value);
        last = value;
      }
      ids[row] = lastId;
    }
  }

  /** Integers where they lie: each is looked for once for a code, of which there are fewer than rows. */
  #assignPacked(
    { codes, start, count, coding }: PackedNumbers,
    numberOf: (code: number) => number,
    ids: Int32Array,
  ): void {
    const idOfCode = new Int32Array(coding.codeMax + 1).fill(ABSENT);
    for (let row = 0; row < count; row++) {
      const code = codes[start + row]!;
      let id = idOfCode[code]!;
      if (id === ABSENT) {
        id = this.#numberId(numberOf(code));
        idOfCode[code] = id;
      }
      ids[row] = id;
    }
  }

  #assignCodes(codes: Int32Array, dictionary: Dictionary, count: number, ids: Int32Array): void {
    const idOfCode = this.#codeIds.get(dictionary);
    for (let row = 0; row < count; row++) {
      const code = codes[row]!;
      let id = idOfCode[code + 1]!;
      if (id === ABSENT) {
        id = this.#id(code < 0 ? null : dictionary.value(code));
        idOfCode[code + 1] = id;
      }
      ids[row] = id;
    }
  }

  /** Strings taken apart are put together only where their parts have not been met before. */
  #assignSplit(codes: Int32Array, dictionary: Dictionary, count: number, ids: Int32Array): void {
    const split = must(dictionary.split);
    const idOfKey = this.#splitIds.get(dictionary);
    for (let row = 0; row < count; row++) {
      const code = codes[row]!;
      const key = code < 0 ? ABSENT : split.shortKey(code);
      let id = key < 0 ? ABSENT : idOfKey.find(key);
      if (id === ABSENT) {
        id = this.#id(code < 0 ? null : dictionary.value(code));
        if (key >= 0) idOfKey.insert(key, id);
      }
      ids[row] = id;
    }
  }

  #id(value: SqlValue): number {
    if (typeof value === 'number') return this.#numberId(value);
    if (typeof value === 'bigint') return this.#wideId(value);
    if (typeof value === 'object' && value !== null) {
      return isInterval(value) ? this.#intervalId(value) : this.#compositeId(value);
    }
    return this.#otherId(value);
  }

  #numberId(value: number): number {
    if (Math.abs(value) >= WIDE_NUMBER_MIN && this.#type.kind !== 'FLOAT64') {
      const canonical = canonicalNumber(value);
      if (typeof canonical === 'bigint') return this.#otherId(canonical);
    }
    if (Number.isNaN(value)) {
      if (this.#nanId === ABSENT) this.#nanId = this.#addNumber(value);
      return this.#nanId;
    }
    let id = this.#numberIds.find(value);
    if (id === ABSENT) {
      id = this.#addNumber(value + 0); // 0 for -0.
      this.#numberIds.insert(value, id);
    }
    return id;
  }

  #wideId(value: bigint): number {
    if (this.#type.kind === 'FLOAT64') return this.#numberId(Number(value));
    const canonical = canonicalNumber(value);
    return typeof canonical === 'bigint' ? this.#otherId(canonical) : this.#numberId(canonical);
  }

  #otherId(value: null | boolean | bigint | string): number {
    let id = this.#otherIds.get(value);
    if (id === undefined) {
      id = this.#addOther(value);
      this.#otherIds.set(value, id);
    }
    return id;
  }

  #compositeId(value: Nested | readonly SqlValue[]): number {
    const key = dynamicKey(value);
    let id = this.#compositeIds.get(key);
    if (id === undefined) {
      id = this.#addOther(toPortable(canonicalValue(value, this.#type)) as OtherKey);
      this.#compositeIds.set(key, id);
    }
    return id;
  }

  #intervalId(value: Interval): number {
    const total = totalUs(value);
    const id = this.#intervalIds.get(total);
    if (id === undefined) {
      const added = this.#addOther(value);
      this.#intervalIds.set(total, added);
      return added;
    }
    const index = this.#otherIndexes[id]!;
    if (compareAmounts(value, this.#others[index] as Interval) < 0) this.#others[index] = value;
    return id;
  }

  #addNumber(value: number): number {
    const id = this.#add();
    this.#numbers[id] = value;
    this.#otherIndexes[id] = ABSENT;
    return id;
  }

  #addOther(key: OtherKey): number {
    const id = this.#add();
    this.#otherIndexes[id] = this.#others.length;
    this.#others.push(key);
    return id;
  }

  #add(): number {
    this.#numbers = grownFloat64(this.#numbers, this.#size + 1);
    this.#otherIndexes = grownInt32(this.#otherIndexes, this.#size + 1);
    return this.#size++;
  }
}
