import { inflateRawSync } from 'node:zlib';
import type { JsonWriter } from './json-writer.ts';
import type { SliceSource, UnsignedArray } from './slice.ts';
import type { ByteRange } from './slot-store.ts';
import type { StringEntries } from './string-entries.ts';
import type { PackingFooter } from './string-footer.ts';
import type { StringBlock } from './vector.ts';
import { decodeWtf8 } from './wtf8.ts';

/** Decompressed blocks kept: the newest rows of a run lie in two or three. */
const CACHED_BLOCKS_MAX = 8;

/** Strings compressed in blocks. */
export class DeflatedStrings implements StringEntries {
  readonly size: number;
  readonly isDistinct: boolean;
  readonly #bytes: Uint8Array;
  readonly #blockOffsets: Uint32Array;
  readonly #sizes: UnsignedArray;
  readonly #blockEntries: number;
  /** By block; the oldest goes first. */
  readonly #blocks = new Map<number, StringBlock>();

  constructor(
    source: SliceSource,
    packing: Extract<PackingFooter, { readonly kind: 'deflated' }>,
    size: number,
    isDistinct: boolean,
  ) {
    this.#bytes = source.bytes(packing.bytes);
    this.#blockOffsets = source.unsigned32(packing.blockOffsets);
    this.#sizes = source.unsigned(packing.sizes, packing.sizeWidth);
    this.#blockEntries = packing.blockEntries;
    this.size = size;
    this.isDistinct = isDistinct;
  }

  value(code: number): string {
    const { bytes, start, end } = this.range(code);
    return decodeWtf8(bytes, start, end);
  }

  range(code: number): ByteRange {
    const { bytes, offsets } = this.#block(Math.floor(code / this.#blockEntries));
    const entry = code % this.#blockEntries;
    return { bytes, start: offsets[entry]!, end: offsets[entry + 1]! };
  }

  writeJson(code: number, out: JsonWriter): void {
    const { bytes, start, end } = this.range(code);
    out.stringBytes(bytes, start, end);
  }

  #block(index: number): StringBlock {
    const known = this.#blocks.get(index);
    if (known !== undefined) return known;
    const offset = this.#blockOffsets[index]!;
    const bytes = inflateRawSync(this.#bytes.subarray(offset, this.#blockOffsets[index + 1]!));
    const first = index * this.#blockEntries;
    const count = Math.min(this.#blockEntries, this.size - first);
    const offsets = new Uint32Array(count + 1);
    for (let i = 0; i < count; i++) offsets[i + 1] = offsets[i]! + this.#sizes[first + i]!;
    if (this.#blocks.size >= CACHED_BLOCKS_MAX) {
      for (const oldest of this.#blocks.keys()) {
        this.#blocks.delete(oldest);
        break;
      }
    }
    const block = { bytes, offsets };
    this.#blocks.set(index, block);
    return block;
  }
}
