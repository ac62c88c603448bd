import { assert, must } from '../../assert.ts';
import { firstAtLeast } from '../positions.ts';
import type { BlockFooter } from '../slice.ts';
import { Postings } from '../split-encoding.ts';
import { PART_BLOCK_ENTRIES, SHAPES_MAX, type SplitFooter } from '../split-footer.ts';
import { isHole, isInline, PartReader, WORD } from '../split-shape.ts';
import type { StringBlock } from '../vector.ts';
import type { ExtractBuffer } from './extract-buffer.ts';
import {
  type Bounds,
  distinctOf,
  joinedTexts,
  less,
  type SliceBytes,
  sumOf,
} from './slice-bytes.ts';

/**
 * Entries [start, end) of strings taken apart, with the shapes that they have alone. Words stay those of the column; which
 * entries hold a word is found anew in the parts, which is less to read than the lists of all words.
 */
export function extractSplit(
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
