import { assert, must, unreachable } from '../../assert.ts';
import { decodeDeflate } from '../kept-decoder.ts';
import { cutNumbers, type NumbersFooter, NumberValues, Triples } from '../number-values.ts';
import { UUID_BYTES } from '../number-vectors.ts';
import { bitCount, firstAtLeast, type PositionsFooter } from '../positions.ts';
import type { SealedFooter } from '../sealed-layout.ts';
import type { BlockFooter, Slice, UnsignedArray } from '../slice.ts';
import { Postings } from '../split-encoding.ts';
import {
  isHole,
  isInline,
  PART_BLOCK_ENTRIES,
  PartReader,
  SHAPES_MAX,
  type SplitFooter,
  WORD,
} from '../split-shape.ts';
import type { PackingFooter, StringsFooter } from '../string-footer.ts';
import type { StringBlock } from '../vector.ts';
import {
  type Bounds,
  distinctOf,
  type ExtractBuffer,
  joinedTexts,
  less,
  type SliceBytes,
  shortsOf,
  sumOf,
  wordsOf,
} from './slice-bytes.ts';

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
    return cutNumbers(footer, stretches, { source: this.#bytes, sink: this.#buffer });
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
    const count = sizes[1] / sizeWidth;
    const first = index * blockEntries;
    const last = Math.min(first + blockEntries, count);
    this.#sizes = this.#bytes.unsigned(sizes, sizeWidth, first, last);
    const packed = this.#bytes.bytes(this.#packing.bytes, start, end);
    this.#inflated = decodeDeflate(packed, sumOf(this.#sizes));
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
  return width === 2 ? shortsOf(bytes) : wordsOf(bytes);
}

/**
 * Entries [start, end) of strings taken apart, with the shapes that they have alone. Words stay those of the column; which
 * entries hold a word is found anew in the parts, which is less to read than the lists of all words.
 */
function extractSplit(
  split: SplitFooter,
  { start, end }: Bounds,
  bytes: SliceBytes,
  buffer: ExtractBuffer,
): SplitFooter {
  const copied = (block: BlockFooter): BlockFooter => ({
    count: block.count,
    bytes: buffer.add(bytes.bytes(block.bytes)),
    offsets: buffer.add(bytes.bytes(block.offsets)),
  });
  const codes = bytes.bytes(split.shapeCodes, start, end);
  const met = distinctOf(codes);
  const shapes = joinedTexts(bytes.texts(split.shapes, met));
  const shapeOf = new Uint8Array(SHAPES_MAX);
  for (const [shape, code] of met.entries()) shapeOf[code] = shape;
  const shapeCodes = codes.map((code) => must(shapeOf[code]));
  const parts = partsOf(split, { start, end }, bytes);
  const index = indexOf({ shapes, shapeCodes, parts: parts.parts }, split.words.count);
  return {
    ...split,
    ...headsOf(split, { start, end }, bytes, buffer),
    shapes: addBlock(shapes, buffer),
    shapeCodes: buffer.add(shapeCodes),
    parts: buffer.add(parts.parts),
    partSizes: buffer.add(parts.partSizes),
    partStarts: buffer.add(parts.partStarts),
    words: copied(split.words),
    wordStarts: buffer.add(index.wordStarts),
    wordEntries: buffer.add(index.wordEntries),
    ...(split.wordPlaces && { wordPlaces: buffer.add(bytes.bytes(split.wordPlaces)) }),
    textEntries: buffer.add(index.textEntries),
  };
}

/** The heads that these entries have, and their runs. */
function headsOf(
  split: SplitFooter,
  { start, end }: Bounds,
  bytes: SliceBytes,
  buffer: ExtractBuffer,
): Pick<SplitFooter, 'heads' | 'headStarts' | 'headCodes'> {
  const first = bytes.firstAtLeast(split.headStarts, start + 1) - 1;
  const last = bytes.firstAtLeast(split.headStarts, end);
  const starts = bytes.unsigned32(split.headStarts, first, last);
  const codes = bytes.unsigned32(split.headCodes, first, last);
  const met = distinctOf(codes);
  return {
    heads: addBlock(joinedTexts(bytes.texts(split.heads, met)), buffer),
    headStarts: buffer.add(starts.map((entry) => Math.max(0, entry - start))),
    headCodes: buffer.add(codes.map((code) => firstAtLeast(met, 0, met.length, code))),
  };
}

function addBlock({ bytes, offsets }: StringBlock, buffer: ExtractBuffer): BlockFooter {
  return { count: offsets.length - 1, bytes: buffer.add(bytes), offsets: buffer.add(offsets) };
}

function partsOf(split: SplitFooter, { start, end }: Bounds, bytes: SliceBytes) {
  assert(start % PART_BLOCK_ENTRIES === 0, 'it is known where the parts of the first entry begin');
  const { partSizes: sizes, partSizeWidth: width } = split;
  const [from, to] = [start / PART_BLOCK_ENTRIES, Math.ceil(end / PART_BLOCK_ENTRIES)];
  const partSizes = bytes.unsigned(sizes, width, start, end);
  const partStarts = bytes.unsigned32(split.partStarts, from, to);
  const first = must(partStarts[0]);
  return {
    partSizes,
    partStarts: less(partStarts, first),
    parts: bytes.bytes(split.parts, first, first + sumOf(partSizes)),
  };
}

/** The entries that hold each word, and those with text that is in no table. */
function indexOf(
  strings: {
    readonly shapes: StringBlock;
    readonly shapeCodes: Uint8Array;
    readonly parts: Uint8Array;
  },
  wordCount: number,
) {
  const { shapes, shapeCodes, parts } = strings;
  const holes = Array.from({ length: shapes.offsets.length - 1 }, (_, shape) =>
    shapes.bytes.subarray(shapes.offsets[shape], shapes.offsets[shape + 1]).filter(isHole),
  );
  const postings = new Postings();
  const textEntries: number[] = [];
  const reader = new PartReader();
  for (const [entry, shape] of shapeCodes.entries()) {
    const ofShape = must(holes[shape]);
    if (ofShape.some(isInline)) textEntries.push(entry);
    for (const hole of ofShape) {
      if (hole === WORD) postings.add(reader.count(parts), entry);
      else reader.skip(hole, parts);
    }
  }
  return { ...postings.lists(wordCount), textEntries: Uint32Array.from(textEntries) };
}

type SkeletonsFrom = {
  readonly bytes: SliceBytes;
  readonly buffer: ExtractBuffer;
  readonly values: ValuesExtract;
  readonly rows: Bounds;
};

export type ExtractedSkeletons = Pick<SealedFooter, 'skeletons' | 'rowSkeletons'>;

/** Those skeletons alone that some rows have, numbered anew: a segment may have thousands, each of some hundred bytes. */
export function extractSkeletons(
  { bytes, buffer, values, rows }: SkeletonsFrom,
  { skeletons, rowSkeletons }: SealedFooter,
): ExtractedSkeletons {
  const count = rows.end - rows.start;
  const all = Int32Array.from({ length: count }, (_, row) => row);
  const taken = new NumberValues(buffer.source, values.numbers(rowSkeletons, rows));
  const ofRow = taken.gatherIntegers(all, count);
  const met = Int32Array.from(new Set(ofRow)).sort();
  const numberOf = new Map(Array.from(met, (skeleton, number) => [skeleton, number]));
  const ends = Array.from(met, (skeleton) => ({ start: skeleton, end: skeleton + 2 }));
  bytes.expect([...partsAt(skeletons.starts, ends, 4), ...partsAt(skeletons.slotStarts, ends, 4)]);
  const tokens = listBounds(bytes, skeletons.starts, met);
  const slots = listBounds(bytes, skeletons.slotStarts, met);
  bytes.expect([
    ...partsAt(skeletons.tokens, tokens, 4),
    ...partsAt(skeletons.slotColumns, slots, 2),
  ]);
  return {
    skeletons: {
      tokens: buffer.add(joined(bytes, skeletons.tokens, tokens, 4)),
      starts: buffer.add(startsOf(tokens)),
      slotStarts: buffer.add(startsOf(slots)),
      slotColumns: buffer.add(joined(bytes, skeletons.slotColumns, slots, 2)),
      slotOrdinals: values.numbersOf(skeletons.slotOrdinals, slots),
    },
    rowSkeletons: numbers(
      buffer,
      Uint32Array.from(ofRow, (skeleton) => must(numberOf.get(skeleton))),
      met.length,
    ),
  };
}

/** Where some of many lists lie, of which `starts` has the first entry of each, and the end. */
function listBounds(bytes: SliceBytes, starts: Slice, lists: Int32Array): Bounds[] {
  return Array.from(lists, (list) => {
    const [start, end] = bytes.pair32(starts, list);
    return { start, end };
  });
}

/** Parts of an array with elements of so many bytes. */
function partsAt([offset]: Slice, lists: readonly Bounds[], width: number): Slice[] {
  return lists.map(({ start, end }) => [offset + width * start, width * (end - start)]);
}

function startsOf(lists: readonly Bounds[]): Uint32Array {
  const starts = new Uint32Array(lists.length + 1);
  for (const [index, { start, end }] of lists.entries()) {
    starts[index + 1] = must(starts[index]) + end - start;
  }
  return starts;
}

function joined(bytes: SliceBytes, slice: Slice, lists: readonly Bounds[], width: number): Buffer {
  return Buffer.concat(
    lists.map(({ start, end }) => bytes.bytes(slice, width * start, width * end)),
  );
}

/** Integers below `limit`. */
function numbers(buffer: ExtractBuffer, values: Uint32Array, limit: number): NumbersFooter {
  const range = { base: 0, step: 1, min: 0, max: limit - 1 };
  if (limit === 1) return { ...range, encoding: 'constant', width: 0, slice: null };
  return { ...range, encoding: 'unsigned', width: 4, slice: buffer.add(values) };
}

/**
 * Entries that are packed together, in deflated strings and in the parts of others, begin at multiples of it: so does
 * what is taken out of a column.
 */
export const ENTRY_ALIGNMENT = 64;

/** Where the values of some rows are: in the segment they were taken out of, and among the values taken out. */
export type ExtractedPositions = { readonly bounds: Bounds; readonly footer: PositionsFooter };

/** `rows` begin at a multiple of ENTRY_ALIGNMENT. Values are taken from such a multiple on: those of the rows may begin behind it. */
export function extractPositions(
  from: { readonly bytes: SliceBytes; readonly buffer: ExtractBuffer; readonly rows: Bounds },
  footer: PositionsFooter,
): ExtractedPositions {
  switch (footer.kind) {
    case 'every-row':
      return { footer, bounds: from.rows };
    case 'bitmap':
      return bitmapOf(from, footer);
    case 'sparse':
      return ofSparse(from, footer);
    case 'offsets':
      return ofOffsets(
        from,
        from.bytes.unsigned32(footer.offsets, from.rows.start, from.rows.end + 1),
      );
    default:
      return unreachable(footer);
  }
}

type From = Parameters<typeof extractPositions>[0];

/** What is taken so that the values [first, end) are there: nothing where there are none. */
function boundsOf(first: number, end: number): Bounds {
  return { start: first === end ? first : first - (first % ENTRY_ALIGNMENT), end };
}

function ofOffsets({ buffer }: From, offsets: Uint32Array): ExtractedPositions {
  const bounds = boundsOf(offsets[0]!, offsets.at(-1)!);
  const footer = { kind: 'offsets', offsets: buffer.add(less(offsets, bounds.start)) } as const;
  return { footer, bounds };
}

function bitmapOf(
  { bytes, buffer, rows }: From,
  footer: Extract<PositionsFooter, { readonly kind: 'bitmap' }>,
): ExtractedPositions {
  const wordBounds = [rows.start >>> 5, (rows.end >>> 5) + 1] as const;
  const words = bytes.unsigned32(footer.words, ...wordBounds);
  const ranks = bytes.unsigned32(footer.ranks, ...wordBounds);
  const below = words.at(-1)! & ((1 << (rows.end & 31)) - 1);
  const bounds = boundsOf(ranks[0]!, ranks.at(-1)! + bitCount(below));
  return { footer: bitmap(buffer, words, less(ranks, bounds.start)), bounds };
}

/** As a bitmap, which has room for what lies before the first value; where a row has several, as offsets. */
function ofSparse(
  from: From,
  footer: Extract<PositionsFooter, { readonly kind: 'sparse' }>,
): ExtractedPositions {
  const { bytes, buffer, rows } = from;
  const first = bytes.firstAtLeast(footer.rows, rows.start);
  const end = bytes.firstAtLeast(footer.rows, rows.end);
  const held = bytes.unsigned32(footer.rows, first, end);
  const hasSeveral = held.some((row, index) => index > 0 && row === held[index - 1]);
  if (hasSeveral) return ofOffsets(from, offsetsOf(held, rows, first));
  const bounds = boundsOf(first, end);
  const words = new Uint32Array(((rows.end - rows.start) >>> 5) + 1);
  for (const row of held) words[(row - rows.start) >>> 5]! |= 1 << ((row - rows.start) & 31);
  const ranks = new Uint32Array(words.length);
  ranks[0] = first - bounds.start;
  for (let i = 1; i < words.length; i++) ranks[i] = ranks[i - 1]! + bitCount(words[i - 1]!);
  return { footer: bitmap(buffer, words, ranks), bounds };
}

function bitmap(buffer: ExtractBuffer, words: Uint32Array, ranks: Uint32Array): PositionsFooter {
  return { kind: 'bitmap', words: buffer.add(words), ranks: buffer.add(ranks) };
}

function offsetsOf(held: Uint32Array, { start, end }: Bounds, first: number): Uint32Array {
  let position = 0;
  return Uint32Array.from({ length: end - start + 1 }, (_, index) => {
    while (position < held.length && held[position]! < start + index) position++;
    return first + position;
  });
}
