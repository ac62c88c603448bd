import { grownInt32, NO_INT32, runInt32 } from '../column/arrays.ts';
import { mixBits } from './number-index.ts';

const ABSENT = -1;
const SLOTS_MIN = 64;

/** Pairs of numbers below it are looked up without hashing: a table of 256 KB at most. */
const DENSE_SIDE = 256;

/** Numbers pairs of small integers 0, 1, 2 … in the order they are first met. */
export class PairIndex {
  /** Id per slot: open addressing with linear probing, at most half full. */
  #slots = new Int32Array(SLOTS_MIN).fill(ABSENT);
  #lefts: Int32Array<ArrayBuffer> = NO_INT32;
  #rights: Int32Array<ArrayBuffer> = NO_INT32;
  #size = 0;
  /** Id plus one of pair (left, right) at `left * DENSE_SIDE + right`, or 0: while both are small. */
  #dense: Int32Array<ArrayBuffer> = NO_INT32;
  /** Whether a pair was met last that is not small. */
  #isSparse = false;

  get size(): number {
    return this.#size;
  }

  left(id: number): number {
    return this.#lefts[id]!;
  }

  right(id: number): number {
    return this.#rights[id]!;
  }

  /** The left sides by id, where they lie: to be read at once, or copied. */
  get lefts(): Int32Array {
    return this.#lefts.subarray(0, this.#size);
  }

  /** The right sides by id, where they lie. */
  get rights(): Int32Array {
    return this.#rights.subarray(0, this.#size);
  }

  /** Writes the ids of the pairs (lefts[i], rights[i]) to `ids`, which may be one of the two. */
  assign(lefts: Int32Array, rights: Int32Array, count: number, ids: Int32Array): void {
    let row = 0;
    while (row < count) {
      row = this.#assignDense(lefts, rights, { start: row, count }, ids);
      if (row < count) ids[row] = this.#newId(lefts[row]!, rights[row]!);
      row += 1;
      if (this.#isSparse) break;
    }
    let lastLeft = ABSENT;
    let lastRight = ABSENT;
    let lastId = ABSENT;
    for (; row < count; row++) {
      const left = lefts[row]!;
      const right = rights[row]!;
      if (left !== lastLeft || right !== lastRight) {
        lastId = this.id(left, right);
        lastLeft = left;
        lastRight = right;
      }
      ids[row] = lastId;
    }
  }

  /**
   * Writes the ids of pairs in the table, from row `start` on; gives the first row whose pair is not there,
   * or `count`. Pairs follow each other in any order, so there is nothing to guess.
   */
  #assignDense(
    lefts: Int32Array,
    rights: Int32Array,
    { start, count }: { readonly start: number; readonly count: number },
    ids: Int32Array,
  ): number {
    const dense = this.#dense;
    for (let row = start; row < count; row++) {
      const right = rights[row]!;
      const place = right < DENSE_SIDE ? lefts[row]! * DENSE_SIDE + right : dense.length;
      const id = place < dense.length ? dense[place]! : 0;
      if (id === 0) return row;
      ids[row] = id - 1;
    }
    return count;
  }

  /** The id of a pair that is not in the table. One that has no place there ends its use for a chunk. */
  #newId(left: number, right: number): number {
    const id = this.id(left, right);
    this.#isSparse = left >= DENSE_SIDE || right >= DENSE_SIDE;
    if (this.#isSparse) return id;
    const place = left * DENSE_SIDE + right;
    this.#dense = grownInt32(this.#dense, place + 1);
    this.#dense[place] = id + 1;
    return id;
  }

  /** The id of one pair. */
  id(left: number, right: number): number {
    let slot = this.#slot(left, right);
    let id = this.#slots[slot]!;
    if (id !== ABSENT) return id;
    id = this.#size++;
    this.#lefts = grownInt32(this.#lefts, this.#size);
    this.#rights = grownInt32(this.#rights, this.#size);
    this.#lefts[id] = left;
    this.#rights[id] = right;
    if (2 * this.#size > this.#slots.length) {
      this.#grow();
    } else {
      slot = this.#slot(left, right);
      this.#slots[slot] = id;
    }
    return id;
  }

  /** Where the pair is, or the empty slot where it would go. */
  #slot(left: number, right: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = mixBits(Math.imul(left, 0x9e3779b1) ^ right) & mask;
    for (;;) {
      const id = slots[slot]!;
      if (id === ABSENT || (this.#lefts[id] === left && this.#rights[id] === right)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  /** Doubles the slots and enters all pairs again. */
  #grow(): void {
    this.#slots = runInt32(this.#slots.length * 2).fill(ABSENT);
    for (let id = 0; id < this.#size; id++) {
      this.#slots[this.#slot(this.#lefts[id]!, this.#rights[id]!)] = id;
    }
  }
}

/** Bits of the bitmap: 4 MB. Beyond, membership is found by hashing. */
const BITMAP_BITS_MAX = 2 ** 25;

/**
 * A set of pairs (group, value) of small integers. While the values and groups are few enough, bit
 * `value · groupStride + group` of a bitmap says whether a pair is there: one look-up a row.
 */
export class PairSet {
  #groups: Int32Array<ArrayBuffer> = NO_INT32;
  #values: Int32Array<ArrayBuffer> = NO_INT32;
  #size = 0;
  #groupStride = 1;
  /** `undefined` once it would be too large. */
  #bitmap: Int32Array | undefined = new Int32Array(64);
  #index: PairIndex | undefined;
  #pairIds: Int32Array<ArrayBuffer> = NO_INT32;

  get size(): number {
    return this.#index?.size ?? this.#size;
  }

  /** The groups of all pairs, where they lie: to be read at once, or copied. Parallel to `values`. */
  get groups(): Int32Array {
    return this.#index?.lefts ?? this.#groups.subarray(0, this.#size);
  }

  get values(): Int32Array {
    return this.#index?.rights ?? this.#values.subarray(0, this.#size);
  }

  /** Adds pairs (groups[i], values[i]); all are below `groupCount` and `valueCount`. */
  add(
    groups: Int32Array,
    values: Int32Array,
    count: number,
    bounds: { readonly groupCount: number; readonly valueCount: number },
  ): void {
    const bitmap = this.#fitBitmap(bounds.groupCount, bounds.valueCount);
    if (bitmap === undefined) {
      this.#addToIndex(groups, values, count);
      return;
    }
    const stride = this.#groupStride;
    for (let row = 0; row < count; row++) {
      const bit = values[row]! * stride + groups[row]!;
      const mask = 1 << (bit & 31);
      if ((bitmap[bit >>> 5]! & mask) !== 0) continue;
      bitmap[bit >>> 5]! |= mask;
      this.#append(groups[row]!, values[row]!);
    }
  }

  #append(group: number, value: number): void {
    this.#groups = grownInt32(this.#groups, this.#size + 1);
    this.#values = grownInt32(this.#values, this.#size + 1);
    this.#groups[this.#size] = group;
    this.#values[this.#size++] = value;
  }

  #addToIndex(groups: Int32Array, values: Int32Array, count: number): void {
    if (this.#index === undefined) {
      this.#index = new PairIndex();
      // Their ids are asked for by nobody.
      this.#index.assign(this.#groups, this.#values, this.#size, this.#values);
      this.#groups = NO_INT32;
      this.#values = NO_INT32;
    }
    this.#pairIds = grownInt32(this.#pairIds, count);
    this.#index.assign(groups, values, count, this.#pairIds);
  }

  /** The bitmap, large enough for the bounds; `undefined` when that is too large. */
  #fitBitmap(groupCount: number, valueCount: number): Int32Array | undefined {
    if (this.#bitmap === undefined) return undefined;
    let stride = this.#groupStride;
    while (stride < groupCount) stride *= 2;
    const bits = stride * valueCount;
    if (bits > BITMAP_BITS_MAX) {
      this.#bitmap = undefined;
      return undefined;
    }
    const isWider = stride > this.#groupStride;
    if (!isWider && bits <= this.#bitmap.length * 32) return this.#bitmap;
    const words = Math.max(Math.ceil(bits / 32), 2 * this.#bitmap.length);
    const bitmap = runInt32(words);
    if (isWider) {
      for (let pair = 0; pair < this.#size; pair++) {
        const bit = this.#values[pair]! * stride + this.#groups[pair]!;
        bitmap[bit >>> 5]! |= 1 << (bit & 31);
      }
    } else {
      bitmap.set(this.#bitmap);
    }
    this.#groupStride = stride;
    this.#bitmap = bitmap;
    return bitmap;
  }
}
