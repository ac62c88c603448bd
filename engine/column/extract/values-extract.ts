import { inflateRawSync } from 'node:zlib';
import { assert, must, unreachable } from '../../assert.ts';
import type { NumbersFooter } from '../number-values.ts';
import { UUID_BYTES } from '../packed-digits.ts';
import { firstAtLeast } from '../positions.ts';
import type { UnsignedArray } from '../slice.ts';
import type { PackingFooter, StringsFooter } from '../string-footer.ts';
import { Triples } from '../triples.ts';
import type { ExtractBuffer } from './extract-buffer.ts';
import {
  type Bounds,
  distinctOf,
  joinedTexts,
  less,
  type SliceBytes,
  sumOf,
} from './slice-bytes.ts';
import { extractSplit } from './split-extract.ts';

/** Takes the values at some positions out of columns. */
export class ValuesExtract {
  readonly #bytes: SliceBytes;
  readonly #buffer: ExtractBuffer;

  constructor(bytes: SliceBytes, buffer: ExtractBuffer) {
    this.#bytes = bytes;
    this.#buffer = buffer;
  }

  numbers(footer: NumbersFooter, bounds: Bounds): NumbersFooter {
    return this.numbersOf(footer, [bounds]);
  }

  /** Of several stretches of positions, end to end. */
  numbersOf(footer: NumbersFooter, stretches: readonly Bounds[]): NumbersFooter {
    const { slice, width, table } = footer;
    if (slice === null) return footer;
    const taken = stretches.map(({ start, end }) =>
      this.#bytes.bytes(slice, start * width, end * width),
    );
    return {
      ...footer,
      slice: this.#buffer.add(taken.length === 1 ? must(taken[0]) : Buffer.concat(taken)),
      ...(table && { table: this.#buffer.add(this.#bytes.bytes(table)) }),
    };
  }

  strings(footer: StringsFooter, positions: Bounds): StringsFooter {
    const { codes, packing, isDistinct } = footer;
    if (positions.start === positions.end) return this.#none();
    if (codes === 'constant') {
      return { ...unsigned(footer), packing: this.#entries(packing, { start: 0, end: 1 }) };
    }
    if (codes === null) {
      const entryCount = positions.end - positions.start;
      return { entryCount, isDistinct, codes, packing: this.#entries(packing, positions) };
    }
    return this.#coded(footer, codes, positions);
  }

  #none(): StringsFooter {
    return { entryCount: 0, isDistinct: true, codes: null, packing: this.#plain([]) };
  }

  /** Of a dictionary those entries alone that are met, in its order: what is read next mostly lies next. */
  #coded(
    { packing, isDistinct }: StringsFooter,
    { width, slice }: Exclude<StringsFooter['codes'], 'constant' | null>,
    { start, end }: Bounds,
  ): StringsFooter {
    const bytes = this.#bytes.bytes(slice, start * width, end * width);
    const codes = width === 3 ? undefined : arrayOf(bytes, width);
    const triples = new Triples(bytes);
    const met = new Uint32Array(end - start);
    for (let index = 0; index < met.length; index++) {
      met[index] = codes === undefined ? triples.at(index) : codes[index]!;
    }
    const dictionary = distinctOf(met);
    const entries = met.map((code) => firstAtLeast(dictionary, 0, dictionary.length, code));
    const packed =
      width === 3 ? Triples.pack(entries) : arrayOf(new Uint8Array(width * entries.length), width);
    if (width !== 3) packed.set(entries);
    return {
      entryCount: dictionary.length,
      isDistinct,
      codes: { width, slice: this.#buffer.add(packed) },
      packing: this.#picked(packing, dictionary),
    };
  }

  /** Entries [start, end), as they are packed. */
  #entries(packing: PackingFooter, { start, end }: Bounds): PackingFooter {
    const bytes = this.#bytes;
    const buffer = this.#buffer;
    switch (packing.kind) {
      case 'plain': {
        const offsets = bytes.unsigned32(packing.offsets, start, end + 1);
        const [from, to] = [must(offsets[0]), must(offsets.at(-1))];
        const text = bytes.bytes(packing.bytes, from, to);
        return { kind: 'plain', bytes: buffer.add(text), offsets: buffer.add(less(offsets, from)) };
      }
      case 'hex':
      case 'uuid': {
        const size = entrySizeOf(packing);
        return {
          ...packing,
          bytes: buffer.add(bytes.bytes(packing.bytes, start * size, end * size)),
        };
      }
      case 'deflated':
        return this.#deflated(packing, { start, end });
      case 'form':
        return { ...packing, numbers: this.numbers(packing.numbers, { start, end }) };
      case 'suffix': {
        const sizes = bytes.unsigned(packing.sizes, packing.sizeWidth, start, end);
        return { ...packing, sizes: buffer.add(sizes) };
      }
      case 'excerpt':
        return packing;
      case 'split':
        return extractSplit(packing, { start, end }, bytes, buffer);
      default:
        return unreachable(packing);
    }
  }

  /** Whole blocks: what is behind the last entry is not asked for. */
  #deflated(packing: Deflated, { start, end }: Bounds): PackingFooter {
    const { blockEntries, sizeWidth } = packing;
    assert(start % blockEntries === 0, 'a block of deflated strings begins with the first of them');
    const blocks = [start / blockEntries, Math.ceil(end / blockEntries) + 1] as const;
    const offsets = this.#bytes.unsigned32(packing.blockOffsets, ...blocks);
    const [from, to] = [must(offsets[0]), must(offsets.at(-1))];
    return {
      ...packing,
      bytes: this.#buffer.add(this.#bytes.bytes(packing.bytes, from, to)),
      blockOffsets: this.#buffer.add(less(offsets, from)),
      sizes: this.#buffer.add(this.#bytes.unsigned(packing.sizes, sizeWidth, start, end)),
    };
  }

  /** Some entries of a dictionary, ascending. */
  #picked(packing: PackingFooter, entries: Uint32Array): PackingFooter {
    switch (packing.kind) {
      case 'plain':
        return this.#plain(this.#bytes.texts(packing, entries));
      case 'hex':
      case 'uuid': {
        const size = entrySizeOf(packing);
        const picked = Array.from(entries, (entry) =>
          this.#bytes.bytes(packing.bytes, entry * size, (entry + 1) * size),
        );
        return { ...packing, bytes: this.#buffer.add(Buffer.concat(picked)) };
      }
      case 'deflated': {
        const block = new InflatedBlock(packing, this.#bytes);
        return this.#plain(Array.from(entries, (entry) => block.entry(entry)));
      }
      case 'form':
      case 'suffix':
      case 'excerpt':
      case 'split':
        throw new Error(`assertion failed: a dictionary is packed as ${packing.kind}`);
      default:
        return unreachable(packing);
    }
  }

  #plain(texts: readonly Uint8Array[]): PackingFooter {
    const { bytes, offsets } = joinedTexts(texts);
    return { kind: 'plain', bytes: this.#buffer.add(bytes), offsets: this.#buffer.add(offsets) };
  }
}

type Deflated = Extract<PackingFooter, { readonly kind: 'deflated' }>;

/** The last block of deflated strings that one was taken from: the next is often in the same. */
class InflatedBlock {
  readonly #packing: Deflated;
  readonly #bytes: SliceBytes;
  #index = -1;
  #inflated: Uint8Array = new Uint8Array(0);
  #sizes: UnsignedArray = new Uint8Array(0);

  constructor(packing: Deflated, bytes: SliceBytes) {
    this.#packing = packing;
    this.#bytes = bytes;
  }

  /** A copy. */
  entry(entry: number): Uint8Array {
    const { blockEntries } = this.#packing;
    const index = Math.floor(entry / blockEntries);
    if (index !== this.#index) this.#inflate(index);
    const start = sumOf(this.#sizes.subarray(0, entry % blockEntries));
    return this.#inflated.slice(start, start + must(this.#sizes[entry % blockEntries]));
  }

  #inflate(index: number): void {
    const { blockEntries, sizes, sizeWidth } = this.#packing;
    const [start, end] = this.#bytes.pair32(this.#packing.blockOffsets, index);
    this.#inflated = inflateRawSync(this.#bytes.bytes(this.#packing.bytes, start, end));
    const count = sizes[1] / sizeWidth;
    const first = index * blockEntries;
    const last = Math.min(first + blockEntries, count);
    this.#sizes = this.#bytes.unsigned(sizes, sizeWidth, first, last);
    this.#index = index;
  }
}

/** Without a signature, which is of all positions of its column. */
function unsigned({ signature: _, ...footer }: StringsFooter): StringsFooter {
  return footer;
}

function entrySizeOf(packing: Extract<PackingFooter, { readonly kind: 'hex' | 'uuid' }>): number {
  return packing.kind === 'uuid' ? UUID_BYTES : Math.ceil(packing.digitCount / 2);
}

function arrayOf(bytes: Uint8Array, width: 1 | 2 | 4) {
  if (width === 1) return bytes;
  return width === 2 ? new Uint16Array(bytes.buffer) : new Uint32Array(bytes.buffer);
}
