import { lengthened, NO_UINT8, threadArrays } from './arrays.ts';
import { firstAtLeast } from './positions.ts';
import type { ByteRange } from './skeleton.ts';
import { type SliceSource, type UnsignedArray, whenAsked } from './slice.ts';
import {
  countedHoles,
  isHole,
  isWhole,
  NOT_COUNTED,
  noCountedHoles,
  PART_BLOCK_ENTRIES,
  PartReader,
  SHAPES_MAX,
  type SplitFooter,
  TEXT_BYTES_PER_PART_BYTE_MAX,
  WORD_SIZE_MAX,
} from './split-shape.ts';
import { StringColumn } from './string-footer.ts';
import type { SplitBlock, StringBlock } from './vector.ts';
import { copyWords, viewed } from './wtf8.ts';

/** To step over an entry takes an eighth of the time to find where one begins. */
const STEPS_PER_CODE_MAX = 8;

/** A byte at 2^40 is the last that leaves a number exact. */
const KEY_SCALE_END = 2 ** 48;

/** Strings as heads, shapes and parts, read in place: see `SplitFooter`. */
export class SplitStrings extends StringColumn implements SplitBlock {
  readonly heads: StringBlock;
  readonly headStarts: Uint32Array;
  readonly headCodes: Uint32Array;
  readonly hasHeads: boolean;
  readonly shapes: StringBlock;
  readonly shapeCodes: Uint8Array;
  readonly words: StringBlock;
  readonly wordStarts: Uint32Array;
  readonly wordEntries: Uint32Array;
  readonly wordPlaces: Uint8Array | undefined;
  readonly textEntries: Uint32Array;
  readonly parts: Uint8Array;
  readonly #partSizes: UnsignedArray;
  readonly #partStarts: Uint32Array;
  /** Counted when first asked for: whoever writes strings does not. */
  readonly #holeCounts: () => Readonly<Int16Array>;
  /** Heads and shapes as they are copied, and for each byte of the shapes the first hole from it on. */
  readonly #constants = whenAsked(() => ({
    heads: viewed(this.heads.bytes),
    shapes: viewed(this.shapes.bytes),
    holes: firstHoles(this.shapes.bytes),
  }));
  /** Made when first asked for. */
  #texts: { readonly made: SplitTexts | undefined } | undefined;
  readonly #reader = new PartReader();
  /** The string that was put together last: read at once, and not kept. */
  #text = viewed(NO_UINT8);
  /** The run that was found last: the next string is often of the same. */
  #lastRun = 0;
  /** An entry, and where its parts begin: those found last, for the next is often soon after it. */
  #lastEntry = 0;
  #lastStart = 0;

  constructor(source: SliceSource, footer: SplitFooter, size: number, isDistinct: boolean) {
    const { heads, shapes, words } = footer;
    super({ size, isDistinct, isPerValue: true });
    this.heads = { bytes: source.bytes(heads.bytes), offsets: source.unsigned32(heads.offsets) };
    this.headStarts = source.unsigned32(footer.headStarts);
    this.headCodes = source.unsigned32(footer.headCodes);
    this.hasHeads = footer.hasHeads;
    this.shapes = { bytes: source.bytes(shapes.bytes), offsets: source.unsigned32(shapes.offsets) };
    this.shapeCodes = source.bytes(footer.shapeCodes);
    this.words = { bytes: source.bytes(words.bytes), offsets: source.unsigned32(words.offsets) };
    this.wordStarts = source.unsigned32(footer.wordStarts);
    this.wordEntries = source.unsigned32(footer.wordEntries);
    this.wordPlaces = footer.wordPlaces && source.bytes(footer.wordPlaces);
    this.textEntries = source.unsigned32(footer.textEntries);
    this.parts = source.bytes(footer.parts);
    this.#partSizes = source.unsigned(footer.partSizes, footer.partSizeWidth);
    this.#partStarts = source.unsigned32(footer.partStarts);
    this.#holeCounts = whenAsked(() => {
      const isOfOneHead = this.heads.offsets.length === 2;
      return isOfOneHead ? countedHoles(this.shapes) : noCountedHoles(this.shapes);
    });
  }

  get holeCounts(): Readonly<Int16Array> {
    return this.#holeCounts();
  }

  get split(): SplitBlock {
    return this;
  }

  range(code: number): ByteRange {
    const head = this.headCodes[this.headRun(code)]!;
    const { offsets } = this.heads;
    const headStart = offsets[head]!;
    const headEnd = offsets[head + 1]!;
    this.#makeRoom(code, headEnd - headStart);
    copyWords(this.#constants().heads.view, headStart, headEnd, this.#text.view, 0);
    const end = this.#fillShape(code, headEnd - headStart);
    return { bytes: this.#text.bytes, start: 0, end };
  }

  get texts(): SplitTexts | undefined {
    this.#texts ??= { made: SplitTexts.of(this.textEntries, (code) => this.#readRest(code)) };
    return this.#texts.made;
  }

  rest(code: number): ByteRange {
    const isText = isWhole(this.shapes, this.shapeCodes[code]!);
    return (isText && this.texts?.find(code)) || this.#readRest(code);
  }

  #readRest(code: number): ByteRange {
    if (isWhole(this.shapes, this.shapeCodes[code]!)) {
      this.#reader.at = this.partStart(code);
      const size = this.#reader.count(this.parts);
      return { bytes: this.parts, start: this.#reader.at, end: this.#reader.at + size };
    }
    this.#makeRoom(code, 0);
    const end = this.#fillShape(code, 0);
    return { bytes: this.#text.bytes, start: 0, end };
  }

  headRun(code: number): number {
    const starts = this.headStarts;
    const last = this.#lastRun;
    if (starts[last]! <= code && (last + 1 === starts.length || code < starts[last + 1]!)) {
      return last;
    }
    this.#lastRun = firstAtLeast(starts, 0, starts.length, code + 1) - 1;
    return this.#lastRun;
  }

  shortKey(code: number): number {
    const partCount = this.holeCounts[this.shapeCodes[code]!]!;
    return partCount === NOT_COUNTED ? NOT_COUNTED : this.partsKey(code, partCount);
  }

  partsKey(code: number, partCount: number): number {
    const parts = this.parts;
    let key = this.shapeCodes[code]!;
    let scale = SHAPES_MAX;
    let at = partCount === 0 ? 0 : this.partStart(code);
    for (let part = 0; part < partCount; part++) {
      // Counts tell by themselves where they end, so their bytes tell all.
      for (let isMore = true; isMore; at++) {
        if (scale === KEY_SCALE_END) return NOT_COUNTED;
        key += scale * parts[at]!;
        scale *= 256;
        isMore = parts[at]! >= 0x80;
      }
    }
    return key;
  }

  #makeRoom(code: number, headSize: number): void {
    const shape = this.shapeCodes[code]!;
    const { offsets } = this.shapes;
    const shapeSize = offsets[shape + 1]! - offsets[shape]!;
    const partsRoom = TEXT_BYTES_PER_PART_BYTE_MAX * this.#partSizes[code]!;
    const room = headSize + shapeSize * (1 + WORD_SIZE_MAX) + partsRoom;
    if (room > this.#text.bytes.length) this.#text = viewed(new Uint8Array(2 * room));
  }

  /** Writes the rest of a string at `to` of `#text`; gives where it ends. */
  #fillShape(code: number, to: number): number {
    const { bytes, offsets } = this.shapes;
    const { shapes, holes } = this.#constants();
    const shape = this.shapeCodes[code]!;
    const shapeEnd = offsets[shape + 1]!;
    const filling = { parts: this.parts, words: this.words };
    this.#reader.at = this.partStart(code);
    let end = to;
    for (let at = offsets[shape]!; at < shapeEnd; ) {
      const hole = Math.min(holes[at]!, shapeEnd);
      copyWords(shapes.view, at, hole, this.#text.view, end);
      end += hole - at;
      if (hole < shapeEnd) end = this.#reader.fill(bytes[hole]!, filling, this.#text.bytes, end);
      at = hole + 1;
    }
    return end;
  }

  partStart(code: number): number {
    const last = this.#lastEntry;
    let start = this.#lastStart;
    if (code >= last && code - last < PART_BLOCK_ENTRIES) {
      for (let entry = last; entry < code; entry++) start += this.#partSizes[entry]!;
    } else start = this.#startInBlock(code);
    this.#lastEntry = code;
    this.#lastStart = start;
    return start;
  }

  partStarts(codes: Int32Array, count: number, starts: Int32Array): void {
    let low = this.size;
    let high = -1;
    for (let row = 0; row < count; row++) {
      const code = codes[row]!;
      if (code >= 0 && code < low) low = code;
      if (code > high) high = code;
    }
    const isDense = high - low < STEPS_PER_CODE_MAX * count;
    const ofEach = threadArrays.borrow(Int32Array, isDense ? high - low + 1 : 0);
    if (isDense) this.#writeStarts(low, high, ofEach);
    for (let row = 0; row < count; row++) {
      const code = codes[row]!;
      starts[row] = code < 0 ? 0 : isDense ? ofEach[code - low]! : this.partStart(code);
    }
    threadArrays.giveBack(ofEach);
  }

  /** Writes where the parts of each entry from `low` to `high` begin. */
  #writeStarts(low: number, high: number, starts: Int32Array): void {
    let start = this.#startInBlock(low);
    for (let entry = low; entry <= high; entry++) {
      starts[entry - low] = start;
      start += this.#partSizes[entry]!;
    }
  }

  #startInBlock(code: number): number {
    const block = Math.floor(code / PART_BLOCK_ENTRIES);
    let start = this.#partStarts[block]!;
    for (let entry = block * PART_BLOCK_ENTRIES; entry < code; entry++) {
      start += this.#partSizes[entry]!;
    }
    return start;
  }
}

function firstHoles(shapes: Uint8Array): Uint32Array {
  const holes = new Uint32Array(shapes.length);
  let hole = shapes.length;
  for (let at = shapes.length - 1; at >= 0; at--) {
    if (isHole(shapes[at]!)) hole = at;
    holes[at] = hole;
  }
  return holes;
}

/**
 * Strings of a column with text in no table that a thread keeps end to end, and their bytes: a thousandth of the
 * strings of a large segment. More are read where they lie.
 */
export const SPLIT_TEXTS_MAX = 4_096;

export const SPLIT_TEXTS_BYTES_MAX = 1_048_576;

/**
 * Strings with text that is in no table, end to end: a column has few, far apart, and who looks for a word or a
 * pattern reads all of them.
 */
export class SplitTexts {
  readonly block: StringBlock;
  readonly #entries: Uint32Array;
  /** The one that was found last: the next is often the one after it. */
  #last = -1;

  private constructor(entries: Uint32Array, block: StringBlock) {
    this.#entries = entries;
    this.block = block;
  }

  /** `entries` ascend; `read` gives what to keep of each. `undefined` where that is too much. */
  static of(entries: Uint32Array, read: (code: number) => ByteRange): SplitTexts | undefined {
    if (entries.length > SPLIT_TEXTS_MAX) return undefined;
    const offsets = new Uint32Array(entries.length + 1);
    let bytes = new Uint8Array(BYTES_EACH * entries.length);
    let size = 0;
    for (let index = 0; index < entries.length; index++) {
      const range = read(entries[index]!);
      const end = size + range.end - range.start;
      if (end > SPLIT_TEXTS_BYTES_MAX) return undefined;
      if (end > bytes.length) bytes = lengthened(bytes, end);
      bytes.set(range.bytes.subarray(range.start, range.end), size);
      offsets[index + 1] = end;
      size = end;
    }
    return new SplitTexts(entries, { bytes: bytes.slice(0, size), offsets });
  }

  /** That of a string among `entries`. */
  find(code: number): ByteRange {
    const entries = this.#entries;
    let index = this.#last + 1;
    if (entries[index] !== code) index = firstAtLeast(entries, 0, entries.length, code);
    this.#last = index;
    const { bytes, offsets } = this.block;
    return { bytes, start: offsets[index]!, end: offsets[index + 1]! };
  }
}

/** Room for each at first. */
const BYTES_EACH = 128;
