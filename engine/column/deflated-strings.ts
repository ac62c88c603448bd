import { constants, inflateRawSync } from 'node:zlib';
import { JsonBuffer } from './json-buffer.ts';
import type { JsonWriter } from './json-writer.ts';
import { RowTexts } from './row-texts.ts';
import type { SliceSource, UnsignedArray } from './slice.ts';
import type { ByteRange } from './slot-store.ts';
import type { EntryFacts, StringEntries } from './string-entries.ts';
import type { PackingFooter } from './string-footer.ts';
import type { StringBlock } from './vector.ts';
import { decodeWtf8 } from './wtf8.ts';

/** Decompressed blocks kept: the newest rows of a run lie in two or three. */
const CACHED_BLOCKS_MAX = 8;

/** An entry is all there is to keep of a code. */
const ENTRY = 0;

/** Where an entry is written that is to be kept. */
const line = new JsonBuffer();

/** Strings compressed in blocks. */
export class DeflatedStrings implements StringEntries {
  readonly size: number;
  readonly isDistinct: boolean;
  readonly isPerValue: boolean;
  readonly #bytes: Uint8Array;
  readonly #blockOffsets: Uint32Array;
  readonly #sizes: UnsignedArray;
  readonly #blockEntries: number;
  /** By block; the oldest goes first. */
  readonly #blocks = new Map<number, StringBlock>();
  /** By code: the block of one that is asked for again may have gone. */
  readonly #texts = new RowTexts();

  constructor(
    source: SliceSource,
    packing: Extract<PackingFooter, { readonly kind: 'deflated' }>,
    { size, isDistinct, isPerValue }: EntryFacts,
  ) {
    this.#bytes = source.bytes(packing.bytes);
    this.#blockOffsets = source.unsigned32(packing.blockOffsets);
    this.#sizes = source.unsigned(packing.sizes, packing.sizeWidth);
    this.#blockEntries = packing.blockEntries;
    this.size = size;
    this.isDistinct = isDistinct;
    this.isPerValue = isPerValue;
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

  writeJson(code: number, out: JsonWriter, isKept = false): void {
    if (isKept && this.#texts.write(code, ENTRY, out)) return;
    const { bytes, start, end } = this.range(code);
    if (!isKept) {
      out.stringBytes(bytes, start, end);
      return;
    }
    line.clear();
    line.stringBytes(bytes, start, end);
    const text = line.written();
    this.#texts.keep(code, ENTRY, text);
    out.rawBytes(text, 0, text.length);
  }

  #block(index: number): StringBlock {
    const known = this.#blocks.get(index);
    if (known !== undefined) return known;
    const offset = this.#blockOffsets[index]!;
    const first = index * this.#blockEntries;
    const count = Math.min(this.#blockEntries, this.size - first);
    const offsets = new Uint32Array(count + 1);
    for (let i = 0; i < count; i++) offsets[i + 1] = offsets[i]! + this.#sizes[first + i]!;
    const bytes = inflateRawSync(
      this.#bytes.subarray(offset, this.#blockOffsets[index + 1]!),
      // One chunk, in place of several, or of one that is mostly empty. Node begins another as soon as one is full.
      { chunkSize: Math.max(offsets[count]! + 1, constants.Z_MIN_CHUNK) },
    );
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
