import { ByteTable, hashBytes } from './byte-table.ts';
import type { ByteRange } from './skeleton.ts';
import {
  ANY,
  countedHoles,
  IN_PATH,
  IN_QUERY,
  isHole,
  isWhole,
  NOT_COUNTED,
  noCountedHoles,
  PartReader,
  WORD,
} from './split-shape.ts';
import { SplitTexts } from './split-strings.ts';
import { StringColumn } from './string-footer.ts';
import type { SplitBlock, StringBlock } from './vector.ts';

/**
 * Which bytes of a string behind its head are meant:
 *
 * - `path`: those before the first `?` or `#`, or all.
 * - `query`: from the first `?` on, unless a `#` stands before it, up to the first `#`; or none.
 */
export type Cut = 'path' | 'query';

export const CUTS: readonly Cut[] = ['path', 'query'];

/** The part of `bytes[start, end)` that is meant; no head is among them. */
export function cutRange(cut: Cut, { bytes, start, end }: ByteRange): ByteRange {
  let question = start;
  while (question < end && bytes[question] !== QUESTION && bytes[question] !== HASH) question++;
  if (cut === 'path') return { bytes, start, end: question };
  if (bytes[question] !== QUESTION) return { bytes, start: question, end: question };
  let hash = question;
  while (hash < end && bytes[hash] !== HASH) hash++;
  return { bytes, start: question, end: hash };
}

/** The paths, or the queries, of strings that are kept apart: they take no bytes of their own. */
export class ExcerptStrings extends StringColumn implements SplitBlock {
  readonly heads = NO_HEADS;
  readonly headStarts = FIRST;
  readonly headCodes = FIRST;
  readonly shapes: StringBlock;
  readonly shapesAlike: Readonly<Uint8Array>;
  readonly shapeCodes: Uint8Array;
  readonly parts: Uint8Array;
  readonly words: StringBlock;
  readonly wordStarts: Uint32Array;
  readonly wordEntries: Uint32Array;
  readonly textEntries: Uint32Array;
  readonly isWordHeld: Readonly<Uint8Array> | undefined;
  readonly hasWordsCutOff: Readonly<Uint8Array>;
  /** Made when first asked for. */
  #texts: { readonly made: SplitTexts | undefined } | undefined;
  readonly #whole: SplitBlock;
  readonly #cut: Cut;
  readonly #reader = new PartReader();
  readonly holeCounts: Readonly<Int16Array>;

  constructor(whole: SplitBlock, cut: Cut) {
    super({ size: whole.shapeCodes.length, isDistinct: false, isPerValue: true });
    this.#whole = whole;
    this.#cut = cut;
    this.shapes = cutShapes(cut, whole.shapes);
    this.shapesAlike = firstAlike(this.shapes);
    this.shapeCodes = whole.shapeCodes;
    this.parts = whole.parts;
    this.words = whole.words;
    this.wordStarts = whole.wordStarts;
    this.wordEntries = whole.wordEntries;
    this.textEntries = whole.textEntries;
    const place = cut === 'path' ? IN_PATH : IN_QUERY;
    this.isWordHeld = whole.wordPlaces?.map((places) => ((places & place) === 0 ? 0 : 1));
    const wordCounts = wordHoles(this.shapes);
    this.hasWordsCutOff = wordHoles(whole.shapes).map((count, shape) =>
      count > wordCounts[shape]! ? 1 : 0,
    );
    // The parts of a path are the first of its URL, those of a query are not.
    this.holeCounts = cut === 'path' ? countedHoles(this.shapes) : noCountedHoles(this.shapes);
  }

  get split(): SplitBlock {
    return this;
  }

  range(code: number): ByteRange {
    return cutRange(this.#cut, this.#whole.rest(code));
  }

  get texts(): SplitTexts | undefined {
    this.#texts ??= { made: SplitTexts.of(this.textEntries, (code) => this.range(code)) };
    return this.#texts.made;
  }

  rest(code: number): ByteRange {
    const isText = isWhole(this.#whole.shapes, this.shapeCodes[code]!);
    return (isText && this.texts?.find(code)) || this.range(code);
  }

  shortKey(code: number): number {
    const partCount = this.holeCounts[this.shapeCodes[code]!]!;
    return partCount === NOT_COUNTED ? NOT_COUNTED : this.#whole.partsKey(code, partCount);
  }

  partsKey(code: number, partCount: number): number {
    return this.#whole.partsKey(code, partCount);
  }

  headRun(): number {
    return 0;
  }

  partStart(code: number): number {
    const start = this.#whole.partStart(code);
    if (this.#cut === 'path') return start;
    const { bytes, offsets } = this.#whole.shapes;
    const shape = this.shapeCodes[code]!;
    this.#reader.at = start;
    for (let at = offsets[shape]!; at < offsets[shape + 1]!; at++) {
      const byte = bytes[at]!;
      if (byte === QUESTION || byte === HASH) break;
      if (isHole(byte)) this.#reader.skip(byte, this.parts);
    }
    return this.#reader.at;
  }

  partStarts(codes: Int32Array, count: number, starts: Int32Array): void {
    if (this.#cut === 'path') {
      this.#whole.partStarts(codes, count, starts);
      return;
    }
    for (let row = 0; row < count; row++) {
      const code = codes[row]!;
      starts[row] = code < 0 ? 0 : this.partStart(code);
    }
  }
}

const FIRST = Uint32Array.of(0);
const NO_HEADS: StringBlock = { bytes: new Uint8Array(0), offsets: Uint32Array.of(0, 0) };

/**
 * The shapes of what is cut out of strings of other shapes. Holes for words hold neither `?` nor `#`;
 * one for anything stands alone in its shape, and what is cut out of it may be anything.
 */
function cutShapes(cut: Cut, { bytes, offsets }: StringBlock): StringBlock {
  const ranges = Array.from({ length: offsets.length - 1 }, (_, shape) => {
    const range = { bytes, start: offsets[shape]!, end: offsets[shape + 1]! };
    return bytes[range.start] === ANY ? range : cutRange(cut, range);
  });
  const cutOffsets = new Uint32Array(ranges.length + 1);
  ranges.forEach(({ start, end }, shape) => {
    cutOffsets[shape + 1] = cutOffsets[shape]! + end - start;
  });
  const joined = new Uint8Array(cutOffsets[ranges.length]!);
  ranges.forEach(({ start, end }, shape) => {
    joined.set(bytes.subarray(start, end), cutOffsets[shape]!);
  });
  return { bytes: joined, offsets: cutOffsets };
}

/** For each shape the first with the same bytes: of strings that differ in their queries paths often have one shape. */
function firstAlike({ bytes, offsets }: StringBlock): Uint8Array {
  const shapeCount = offsets.length - 1;
  const table = new ByteTable();
  // The shape of each entry of the table.
  const firsts: number[] = [];
  return Uint8Array.from({ length: shapeCount }, (_, shape) => {
    const start = offsets[shape]!;
    const end = offsets[shape + 1]!;
    const entry = table.add(bytes, start, end, hashBytes(bytes, start, end));
    firsts[entry] ??= shape;
    return firsts[entry];
  });
}

/** Of each shape how many holes for words what is cut out of its strings has. */
export function wordHolesOf(cut: Cut, shapes: StringBlock): Uint8Array {
  return wordHoles(cutShapes(cut, shapes));
}

/** Of each shape how many holes for words it has. */
function wordHoles({ bytes, offsets }: StringBlock): Uint8Array {
  return Uint8Array.from(
    { length: offsets.length - 1 },
    (_, shape) =>
      bytes.subarray(offsets[shape]!, offsets[shape + 1]!).filter((byte) => byte === WORD).length,
  );
}

const QUESTION = 0x3f;
const HASH = 0x23;
