import { grownInt32, NO_INT32 } from './growth.ts';
import { PairIndex } from './pair-index.ts';

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
  #bitmap: Uint32Array | undefined = new Uint32Array(64);
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
    if (this.#pairIds.length < count) this.#pairIds = new Int32Array(count);
    this.#index.assign(groups, values, count, this.#pairIds);
  }

  /** The bitmap, large enough for the bounds; `undefined` when that is too large. */
  #fitBitmap(groupCount: number, valueCount: number): Uint32Array | undefined {
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
    const bitmap = new Uint32Array(words);
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
