import { type ByteTable, HASH_START, hashNext } from './byte-table.ts';
import { UUID_LENGTH } from './packed-digits.ts';
import { WORD_SIZE_MAX, WORDS_MAX } from './split-footer.ts';
import {
  ANY,
  holeOfWord,
  IS_WORD_BYTE,
  isInline,
  isUuidAt,
  PART_BYTES_PER_BYTE_MAX,
  TEXT,
  UUID,
  WORD,
  writeCount,
  writePart,
} from './split-shape.ts';

/** Takes strings apart into shape and parts, by the words that are to stand in shapes. */
export class Template {
  /** The shape of the string taken last: `shape[0, shapeSize)`. */
  shape = new Uint8Array(1024);
  shapeSize = 0;
  shapeHash = 0;
  /** Its parts: `parts[0, partsSize)`. */
  parts = new Uint8Array(1024);
  partsSize = 0;
  /** The words in its holes, by their numbers: `words[0, wordCount)`. */
  words = new Uint32Array(512);
  wordCount = 0;
  /** Whether a hole holds text that is in no table. */
  hasInlineText = false;
  readonly #constants: ByteTable;
  readonly #table: ByteTable | undefined;

  /**
   * `constants`: the words that stand in shapes. `table`: where all others are numbered; `undefined`
   * when they are rather kept as they come.
   */
  constructor(constants: ByteTable, table: ByteTable | undefined) {
    this.#constants = constants;
    this.#table = table;
  }

  /** Takes `bytes[start, end)` apart. */
  take(bytes: Uint8Array, start: number, end: number): void {
    this.#begin(end - start);
    const { shape } = this;
    let hash = HASH_START;
    for (let at = start; at < end; ) {
      let wordEnd = at;
      let wordHash = HASH_START;
      while (wordEnd < end && IS_WORD_BYTE[bytes[wordEnd]!] === 1) {
        wordHash = hashNext(wordHash, bytes[wordEnd++]!);
      }
      if (wordEnd === at) {
        hash = hashNext(hash, bytes[at]!);
        shape[this.shapeSize++] = bytes[at++]!;
      } else if (wordEnd - at === UUID_FIRST_DIGITS && isUuidAt(bytes, at, end)) {
        hash = hashNext(hash, UUID);
        this.#addPart(UUID, bytes, at, at + UUID_LENGTH);
        at += UUID_LENGTH;
      } else if (this.#constants.find(bytes, at, wordEnd, wordHash) >= 0) {
        for (; at < wordEnd; at++) {
          hash = hashNext(hash, bytes[at]!);
          shape[this.shapeSize++] = bytes[at]!;
        }
      } else {
        const hole = holeOfWord(bytes, at, wordEnd);
        const filled =
          hole === WORD
            ? this.#addWord(bytes, at, wordEnd, wordHash)
            : this.#addPart(hole, bytes, at, wordEnd);
        hash = hashNext(hash, filled);
        at = wordEnd;
      }
    }
    this.shapeHash = hash;
  }

  /** The shape that fits every string: one hole for all of it. */
  takeWhole(bytes: Uint8Array, start: number, end: number): void {
    this.#begin(end - start);
    this.#addPart(ANY, bytes, start, end);
    this.shapeHash = hashNext(HASH_START, ANY);
  }

  #begin(size: number): void {
    if (this.shape.length < size + 1) {
      this.shape = new Uint8Array(2 * size);
      this.parts = new Uint8Array(2 * size * PART_BYTES_PER_BYTE_MAX);
      this.words = new Uint32Array(size);
    }
    this.shapeSize = 0;
    this.partsSize = 0;
    this.wordCount = 0;
    this.hasInlineText = false;
  }

  /** This and the next give the hole. */
  #addWord(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const table = this.#table;
    if (table === undefined || end - start > WORD_SIZE_MAX) {
      return this.#addPart(TEXT, bytes, start, end);
    }
    const isFull = table.count >= WORDS_MAX;
    const word = isFull ? table.find(bytes, start, end, hash) : table.add(bytes, start, end, hash);
    if (word < 0) return this.#addPart(TEXT, bytes, start, end);
    this.words[this.wordCount++] = word;
    this.shape[this.shapeSize++] = WORD;
    this.partsSize = writeCount(word, this.parts, this.partsSize);
    return WORD;
  }

  #addPart(hole: number, bytes: Uint8Array, start: number, end: number): number {
    this.shape[this.shapeSize++] = hole;
    if (isInline(hole)) this.hasInlineText = true;
    this.partsSize = writePart(hole, { bytes, start, end }, this.parts, this.partsSize);
    return hole;
  }
}

/** The template that made one of the shapes of a string, and which. */
export function takeKnown(
  templates: readonly Template[],
  shapes: ByteTable,
  bytes: Uint8Array,
  start: number,
  end: number,
): { readonly template: Template; readonly shape: number } {
  for (const template of templates) {
    template.take(bytes, start, end);
    const shape = shapes.find(template.shape, 0, template.shapeSize, template.shapeHash);
    if (shape >= 0) return { template, shape };
  }
  const template = templates[0]!;
  template.takeWhole(bytes, start, end);
  return { template, shape: 0 };
}

const UUID_FIRST_DIGITS = 8;

/** Calls back for each word of `bytes[start, end)`, UUIDs left out. */
export function forEachWord(
  bytes: Uint8Array,
  start: number,
  end: number,
  call: (start: number, end: number, hash: number) => void,
): void {
  for (let at = start; at < end; ) {
    let wordEnd = at;
    let hash = HASH_START;
    while (wordEnd < end && IS_WORD_BYTE[bytes[wordEnd]!] === 1) {
      hash = hashNext(hash, bytes[wordEnd++]!);
    }
    if (wordEnd === at) at++;
    else if (wordEnd - at === UUID_FIRST_DIGITS && isUuidAt(bytes, at, end)) at += UUID_LENGTH;
    else {
      call(at, wordEnd, hash);
      at = wordEnd;
    }
  }
}
