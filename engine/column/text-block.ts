import { CHUNK_ROWS_MAX } from '../limits.ts';
import { lengthened } from './arrays.ts';
import { keepLastWeakly } from './caches.ts';
import { consecutivePositions } from './chunk.ts';
import { PlainStrings } from './string-values.ts';
import {
  type DictionaryVector,
  dictionaryVector,
  isOfStrings,
  type StringBlock,
  type StringDictionary,
  type Vector,
} from './vector.ts';
import { encodeWtf8, isSurrogateAt, type ViewedBytes, viewed, WORD_SIZE } from './wtf8.ts';

/** Strings end to end, in the order in which they come. */
export class TextBlock {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #offsets: Uint32Array<ArrayBuffer>;
  #count = 0;

  /** Begins with room for so many strings. */
  constructor(countMin: number) {
    this.#offsets = new Uint32Array(countMin + 1);
  }

  get count(): number {
    return this.#count;
  }

  /** All strings, where they lie: to be read before the next is added. */
  get block(): StringBlock {
    return { bytes: this.#bytes, offsets: this.#offsets };
  }

  /** Gives the code of the string `bytes[start, end)`. */
  add(bytes: Uint8Array, start: number, end: number): number {
    let to = this.#offsets[this.#count]!;
    if (to + end - start > this.#bytes.length) {
      // Texts of eight bytes each, before it is known how long they are.
      const size = Math.max(to + end - start, 8 * this.#offsets.length);
      this.#bytes = lengthened(this.#bytes, size);
    }
    if (this.#count + 2 > this.#offsets.length) {
      this.#offsets = lengthened(this.#offsets, this.#count + 2);
    }
    const own = this.#bytes;
    for (let at = start; at < end; at++, to++) own[to] = bytes[at]!;
    this.#offsets[this.#count + 1] = to;
    return this.#count++;
  }

  addText(text: string): number {
    const bytes = encodeWtf8(text);
    return this.add(bytes, 0, bytes.length);
  }

  /** The strings by their codes; none is added any more. */
  dictionary(): PlainStrings {
    const facts = { size: this.#count, isDistinct: false, isPerValue: true };
    return new PlainStrings(this.block, facts);
  }
}

/** Strings, or NULL, of some rows. */
export type TextVector = DictionaryVector & { readonly dictionary: StringDictionary };

export function isOfTexts(vector: Vector): vector is TextVector {
  return vector.kind === 'dictionary' && isOfStrings(vector.dictionary);
}

/** The strings of a vector as bytes; `undefined` where they lie otherwise, or are no strings. */
function textsOf(vector: Vector): TextVector | undefined {
  if (vector.kind !== 'constant') return isOfTexts(vector) ? vector : undefined;
  if (typeof vector.value !== 'string') return undefined;
  const block = new TextBlock(1);
  block.addText(vector.value);
  const codes = new Int32Array(vector.count);
  return { kind: 'dictionary', count: vector.count, codes, dictionary: block.dictionary() };
}

/** The same of several vectors; `undefined` where one has none. */
export function textsOfEach(vectors: readonly Vector[]): readonly TextVector[] | undefined {
  const columns = vectors.flatMap((vector) => textsOf(vector) ?? []);
  return columns.length === vectors.length ? columns : undefined;
}

/**
 * Strings of the rows of a chunk that lie end to end, in the order of the rows: each has its row as its code. Of those that
 * are NULL no byte is there.
 */
class FlatStrings extends PlainStrings {
  /** Whether no byte is beyond ASCII. */
  readonly isAscii: boolean;

  constructor(strings: StringBlock, size: number, isAscii: boolean) {
    super(strings, { size, isDistinct: false, isPerValue: true });
    this.isAscii = isAscii;
  }
}

export type FlatTexts = DictionaryVector & { readonly dictionary: FlatStrings };

/** Bytes of the strings of a chunk, at most, that are put end to end: they stay within the second-level cache, as all of it. */
export const FLAT_BYTES_MAX = 1_048_576;

/** Of the vector that was asked for last. */
const flattened = keepLastWeakly((vector: TextVector) =>
  vector.count > CHUNK_ROWS_MAX ? undefined : flatten(vector),
);

/**
 * The strings of a vector end to end, which is done once for all functions of one column; `undefined` where these are too
 * many bytes.
 */
export function flatTextsOf(vector: TextVector): FlatTexts | undefined {
  if (vector.dictionary instanceof FlatStrings) return vector as FlatTexts;
  return flattened(vector);
}

/** Strings of rows, none of them NULL, that somebody has put end to end. */
export function flatTextsIn({ bytes, offsets }: StringBlock): FlatTexts {
  const count = offsets.length - 1;
  let bits = 0;
  for (let at = 0; at < offsets[count]!; at++) bits |= bytes[at]!;
  const strings = new FlatStrings({ bytes, offsets }, count, (bits & NOT_ASCII) === 0);
  return dictionaryVector(consecutivePositions(0, count), count, strings) as FlatTexts;
}

/** The same rows with other strings of the same sizes. */
export function withBytes({ codes, count, dictionary }: FlatTexts, bytes: Uint8Array): FlatTexts {
  const { strings, isAscii } = dictionary;
  const own = new FlatStrings({ bytes, offsets: strings.offsets }, count, isAscii);
  return dictionaryVector(codes, count, own) as FlatTexts;
}

function flatten({ codes: given, count, dictionary }: TextVector): FlatTexts | undefined {
  const room = new TextRoom(count, 1);
  const codes = new Int32Array(count).fill(-1);
  for (let row = 0; row < count; row++) {
    if (given[row]! >= 0) {
      const { bytes, start, end } = dictionary.range(given[row]!);
      if (!room.write(0, bytes, start, end)) return undefined;
      codes[row] = row;
    }
    room.end(row);
  }
  return dictionaryVector(codes, count, room.strings(count)) as FlatTexts;
}

/**
 * The strings of several columns put together, row by row; NULL where one of them is. `undefined` where these are too many
 * bytes, or halves of surrogate pairs meet, which have other bytes together.
 */
export function joinedTexts(columns: readonly TextVector[], count: number): FlatTexts | undefined {
  if (count > CHUNK_ROWS_MAX) return undefined;
  const room = new TextRoom(count, columns.length);
  const codes = new Int32Array(count).fill(-1);
  for (let row = 0; row < count; row++) {
    let column = 0;
    while (column < columns.length && columns[column]!.codes[row]! >= 0) column++;
    if (column === columns.length) {
      for (column = 0; column < columns.length; column++) {
        const { codes: own, dictionary } = columns[column]!;
        const { bytes, start, end } = dictionary.range(own[row]!);
        if (!room.write(column, bytes, start, end)) return undefined;
        if (room.hasHalvesAt(end - start)) return undefined;
      }
      codes[row] = row;
    }
    room.end(row);
  }
  return dictionaryVector(codes, count, room.strings(count)) as FlatTexts;
}

/** Bytes of a string, before it is known how long they are. */
const BYTES_EACH = 128;

/** Where strings are written end to end. */
class TextRoom {
  #own: ViewedBytes;
  /** What was last read of each column. */
  readonly #sources: ViewedBytes[];
  readonly #offsets: Uint32Array;
  #size = 0;
  /** All bits that some byte has. */
  #bits = 0;

  constructor(count: number, columnCount: number) {
    this.#own = viewed(new Uint8Array(BYTES_EACH * count));
    this.#sources = Array.from({ length: columnCount }, () => this.#own);
    this.#offsets = new Uint32Array(count + 1);
  }

  /** Of a column; false where there is no room for it. */
  write(column: number, bytes: Uint8Array, start: number, end: number): boolean {
    const size = this.#size + end - start;
    if (size > FLAT_BYTES_MAX) return false;
    if (size > this.#own.bytes.length) this.#grow(size);
    if (bytes !== this.#sources[column]!.bytes) this.#sources[column] = viewed(bytes);
    const from = this.#sources[column]!.view;
    const { bytes: own, view } = this.#own;
    let to = this.#size;
    let at = start;
    let bits = this.#bits;
    for (; at + WORD_SIZE <= end; at += WORD_SIZE, to += WORD_SIZE) {
      const word = from.getInt32(at);
      bits |= word;
      view.setInt32(to, word);
    }
    for (; at < end; at++) {
      bits |= bytes[at]!;
      own[to++] = bytes[at]!;
    }
    this.#size = to;
    this.#bits = bits;
    return true;
  }

  /** Whether a half of a surrogate pair is on both sides of the start of the last bytes, so many of them. */
  hasHalvesAt(size: number): boolean {
    const at = this.#size - size;
    if ((this.#bits & NOT_ASCII) === 0 || at < SURROGATE_SIZE) return false;
    const { bytes } = this.#own;
    return isSurrogateAt(bytes, at - SURROGATE_SIZE, at) && isSurrogateAt(bytes, at, this.#size);
  }

  /** The string of a row ends here. */
  end(row: number): void {
    this.#offsets[row + 1] = this.#size;
  }

  strings(count: number): FlatStrings {
    const block = { bytes: this.#own.bytes, offsets: this.#offsets };
    return new FlatStrings(block, count, (this.#bits & NOT_ASCII) === 0);
  }

  #grow(size: number): void {
    const { bytes } = this.#own;
    this.#own = viewed(new Uint8Array(Math.max(size, 2 * bytes.length)));
    this.#own.bytes.set(bytes.subarray(0, this.#size));
  }
}

/** Bytes of half of a surrogate pair. */
const SURROGATE_SIZE = 3;

/** The highest bit of each byte of a word. */
const NOT_ASCII = 0x80808080;
