import { ByteTable, HASH_START, hashBytes, hashNext } from './byte-table.ts';
import { UUID_LENGTH } from './number-vectors.ts';
import {
  ANY,
  headEnd,
  holeOfWord,
  IS_WORD_BYTE,
  isInline,
  isUuidAt,
  PART_BYTES_PER_BYTE_MAX,
  SHAPES_MAX,
  TEXT,
  UUID,
  WORD,
  WORD_SIZE_MAX,
  WORDS_MAX,
  writeCount,
  writePart,
} from './split-shape.ts';
import type { StringBlock } from './vector.ts';

/**
 * Strings that are looked at to choose words and shapes. With four times as many, choosing takes longer than splitting the
 * strings of a small segment, and the segment is 0.3 % smaller.
 */
export const SAMPLE_ENTRIES = 1024;
/** Distinct words of the sample that are counted: all but random ones are among the first. */
const WORDS_COUNTED_MAX = 32_768;
/**
 * Shares of the sample in which a word must occur to stand in the shapes of each template. Shapes with
 * many words are many and save most; of those with none there are so few that they fit nearly all strings.
 * Other words are found by their number.
 */
const WORD_SHARES = [1 / 256, 1 / 64, 1 / 16, 1 / 4, 2] as const;
/** Digits need more: numbers below a hundred are often, and none of them says what a string is. */
const DIGITS_SHARE = 1 / 64;
/** Bytes of a string that is listed among those with a word, or among those with text. */
const LISTED_SIZE = 4;
/** Words that come so often take fewer bytes by their number than as they are. */
const USES_PER_WORD_SURE = 4;
/** Bytes of a word beside its text: its offset, and the start of its list. */
const WORD_OVERHEAD = 8;

/** How strings are taken apart: by the first template whose shape is among the shapes. */
export type Choice = Shapes & {
  /** Of the strings of the sample. */
  readonly entryCount: number;
  readonly partsSize: number;
};

type Shapes = {
  /** The words in the shapes of each template, which are more in the first ones. */
  readonly constants: readonly ByteTable[];
  /** Whether other words are numbered. */
  readonly hasTable: boolean;
  /** Shape 0 is one hole for all. */
  readonly shapes: ByteTable;
};

export type ChooseShapes = (strings: SplitInput, hasHeads: boolean) => Choice;

/** The words and shapes with which the strings of a sample take the fewest bytes. */
export function chooseShapes(strings: SplitInput, hasHeads: boolean): Choice {
  const sample = sampleOf(strings);
  const constants = frequentWords(countWords(strings, sample, hasHeads), sample.length);
  const input = { strings, sample, hasHeads, constants };
  const numbered = shapesOf(input, true);
  if (numbered.usesPerWord >= USES_PER_WORD_SURE) return numbered.choice;
  const { choice } = shapesOf(input, false);
  return choice.partsSize < numbered.choice.partsSize ? choice : numbered.choice;
}

/** Every so many-th string; `isOther`: those half way between. */
function sampleOf({ count }: SplitInput, isOther = false): readonly number[] {
  const step = Math.max(1, Math.floor(count / SAMPLE_ENTRIES));
  const sample: number[] = [];
  for (let entry = isOther ? step >> 1 : 0; entry < count; entry += step) sample.push(entry);
  return sample;
}

type CountedWords = { readonly words: ByteTable; readonly counts: Uint32Array };

function countWords(
  strings: SplitInput,
  sample: readonly number[],
  hasHeads: boolean,
): CountedWords {
  const words = new ByteTable();
  const counts = new Uint32Array(WORDS_COUNTED_MAX);
  const { bytes } = strings;
  for (const entry of sample) {
    forEachWord(bytes, strings.rest(entry, hasHeads), strings.end(entry), (start, end, hash) => {
      const isFull = words.count === WORDS_COUNTED_MAX;
      const word = isFull
        ? words.find(bytes, start, end, hash)
        : words.add(bytes, start, end, hash);
      if (word >= 0) counts[word]!++;
    });
  }
  return { words, counts };
}

/** For each share the words that have it; where two shares have the same words only one of them. */
function frequentWords({ words, counts }: CountedWords, entryCount: number): readonly ByteTable[] {
  const tables: ByteTable[] = [];
  for (const share of WORD_SHARES) {
    const frequent = new ByteTable();
    for (let word = 0; word < words.count; word++) {
      const start = words.offsets[word]!;
      const end = words.offsets[word + 1]!;
      const least = areDigits(words.bytes, start, end) ? Math.max(share, DIGITS_SHARE) : share;
      if (counts[word]! >= Math.max(2, least * entryCount)) {
        frequent.add(words.bytes, start, end, hashBytes(words.bytes, start, end));
      }
    }
    if (tables.at(-1)?.count !== frequent.count) tables.push(frequent);
  }
  return tables;
}

function areDigits(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at]! < 0x30 || bytes[at]! > 0x39) return false;
  return true;
}

type ChoiceInput = {
  readonly strings: SplitInput;
  readonly sample: readonly number[];
  readonly hasHeads: boolean;
  readonly constants: readonly ByteTable[];
};

/** The best shapes, and how often each of the words that are in none of them comes. */
function shapesOf(
  input: ChoiceInput,
  hasTable: boolean,
): { readonly choice: Choice; readonly usesPerWord: number } {
  const { strings, sample, hasHeads, constants } = input;
  const words = new ByteTable();
  const templates = constants.map((some) => new Template(some, hasTable ? words : undefined));
  const picker = new ShapePicker(sample.length, templates.length);
  const { bytes } = strings;
  for (const [index, entry] of sample.entries()) {
    const start = strings.rest(entry, hasHeads);
    const end = strings.end(entry);
    picker.addWhole(index, end - start + LISTED_SIZE);
    for (const [level, template] of templates.entries()) {
      template.take(bytes, start, end);
      picker.add(index, level, template, sizeOf(template));
    }
  }
  const shapes = picker.pick(SHAPES_MAX);
  const parts = { constants, hasTable, shapes };
  const { usesPerWord, ...sizes } = measureSample(input, parts, (templates, index, start, end) => {
    const level = picker.levelOf(index);
    const template = templates[level ?? 0]!;
    if (level === undefined) template.takeWhole(bytes, start, end);
    else template.take(bytes, start, end);
    return template;
  });
  return { choice: { ...parts, ...sizes }, usesPerWord };
}

/** What some of the strings take with words and shapes that were not chosen for them, but for others like them. */
export function measureChoice(
  strings: SplitInput,
  hasHeads: boolean,
  choice: Shapes,
): Pick<Choice, 'entryCount' | 'partsSize'> {
  const { bytes } = strings;
  const input = { strings, sample: sampleOf(strings, true), hasHeads };
  const take: Take = (templates, _, start, end) =>
    takeKnown(templates, choice.shapes, bytes, start, end).template;
  const { entryCount, partsSize } = measureSample(input, choice, take);
  return { entryCount, partsSize };
}

/** Takes one string of a sample apart; gives the template that did. */
type Take = (templates: readonly Template[], index: number, start: number, end: number) => Template;

function measureSample(
  { strings, sample, hasHeads }: Omit<ChoiceInput, 'constants'>,
  { constants, hasTable }: Shapes,
  take: Take,
) {
  const words = new ByteTable();
  const templates = constants.map((some) => new Template(some, hasTable ? words : undefined));
  let partsSize = 0;
  let useCount = 0;
  for (const [index, entry] of sample.entries()) {
    const start = strings.rest(entry, hasHeads);
    const taken = take(templates, index, start, strings.end(entry));
    partsSize += sizeOf(taken);
    useCount += taken.wordCount;
  }
  partsSize += words.offsets[words.count]! + WORD_OVERHEAD * words.count;
  const usesPerWord = useCount / Math.max(1, words.count);
  return { entryCount: sample.length, partsSize, usesPerWord };
}

/** Bytes of a string's parts, and of the lists that it is in. */
function sizeOf({ partsSize, wordCount, hasInlineText }: Template): number {
  return partsSize + LISTED_SIZE * (wordCount + (hasInlineText ? 1 : 0));
}

/** Shapes of fewer strings of a sample are by chance. */
const STRINGS_MIN = 2;

/**
 * Picks shapes for the strings of a sample. Several templates give each string a shape, and a string is
 * taken apart by the first of these that is picked, which is the one with the fewest bytes of parts.
 */
export class ShapePicker {
  readonly #found = new ByteTable();
  readonly #levelCount: number;
  /** By string and level: the shape, or -1 if it is that of the level before, and the string's bytes with it. */
  readonly #shapes: Int32Array;
  readonly #sizes: Int32Array;
  /** The shape added last. */
  #lastShape = -1;
  /** By string: its bytes with the shapes picked, and the level of its shape; -1 for none. */
  readonly #sizesNow: Int32Array;
  readonly #levels: Int8Array;

  constructor(stringCount: number, levelCount: number) {
    this.#levelCount = levelCount;
    this.#shapes = new Int32Array(stringCount * levelCount);
    this.#sizes = new Int32Array(stringCount * levelCount);
    this.#sizesNow = new Int32Array(stringCount);
    this.#levels = new Int8Array(stringCount).fill(-1);
  }

  /** Of a string its bytes where none of its shapes is picked. */
  addWhole(index: number, size: number): void {
    this.#sizesNow[index] = size;
  }

  /** Of a string the shape that the template of a level just gave it, and its bytes with that. */
  add(index: number, level: number, { shape, shapeSize, shapeHash }: Template, size: number): void {
    const place = index * this.#levelCount + level;
    const found = this.#found.add(shape, 0, shapeSize, shapeHash);
    this.#shapes[place] = level > 0 && found === this.#lastShape ? -1 : found;
    this.#lastShape = found;
    this.#sizes[place] = size;
  }

  /** Up to `countMax` shapes, the one that fits all among them as shape 0. To be called once. */
  pick(countMax: number): ByteTable {
    const picked = new ByteTable();
    picked.add(Uint8Array.of(ANY), 0, 1, hashNext(HASH_START, ANY));
    const strings = this.#stringsOfShapes();
    const gains = this.#firstGains();
    while (picked.count < countMax) {
      const shape = indexOfMax(gains);
      if (shape < 0) break;
      const { bytes, offsets } = this.#found;
      const start = offsets[shape]!;
      const end = offsets[shape + 1]!;
      picked.add(bytes, start, end, hashBytes(bytes, start, end));
      for (const place of strings[shape]!) this.#take(place, gains);
    }
    return picked;
  }

  /** The level of a string's shape among those picked; `undefined` if none of its shapes is. */
  levelOf(index: number): number | undefined {
    const level = this.#levels[index]!;
    return level < 0 ? undefined : level;
  }

  /** For each shape the places of the strings that have it. */
  #stringsOfShapes(): readonly (readonly number[])[] {
    const strings: number[][] = Array.from({ length: this.#found.count }, () => []);
    for (const [place, shape] of this.#shapes.entries())
      if (shape >= 0) strings[shape]!.push(place);
    return strings;
  }

  /** For each shape the bytes that it saves as the first; 0 of those by chance. */
  #firstGains(): Float64Array {
    const gains = new Float64Array(this.#found.count);
    const counts = new Uint32Array(this.#found.count);
    for (const [place, shape] of this.#shapes.entries()) {
      if (shape < 0) continue;
      counts[shape]!++;
      gains[shape]! += this.#gain(place);
    }
    return gains.map((gain, shape) => (counts[shape]! < STRINGS_MIN ? 0 : gain));
  }

  /** Bytes saved of a string by a shape of it. */
  #gain(place: number): number {
    const index = Math.floor(place / this.#levelCount);
    return Math.max(0, this.#sizesNow[index]! - this.#sizes[place]!);
  }

  /** Gives a string a shape that was picked, if that is better; all others now gain less by it. */
  #take(place: number, gains: Float64Array): void {
    const gain = this.#gain(place);
    if (gain === 0) return;
    const index = Math.floor(place / this.#levelCount);
    const from = index * this.#levelCount;
    const before = this.#sizesNow[index]!;
    const now = this.#sizes[place]!;
    for (let other = from; other < from + this.#levelCount; other++) {
      if (this.#shapes[other]! < 0) continue;
      const size = this.#sizes[other]!;
      gains[this.#shapes[other]!]! -= Math.max(0, before - size) - Math.max(0, now - size);
    }
    this.#sizesNow[index] = now;
    this.#levels[index] = place - from;
  }
}

/** -1 when none is greater than 0. */
function indexOfMax(gains: Float64Array): number {
  let best = -1;
  let most = 0;
  for (let shape = 0; shape < gains.length; shape++) {
    if (gains[shape]! > most) {
      most = gains[shape]!;
      best = shape;
    }
  }
  return best;
}

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
function forEachWord(
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

/** The strings to be split, entry by entry. */
export class SplitInput {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly #offsets: Uint32Array;
  readonly #codes: Int32Array;

  constructor({ bytes, offsets }: StringBlock, codes: Int32Array) {
    this.bytes = bytes;
    this.#offsets = offsets;
    this.#codes = codes;
    this.count = codes.length;
  }

  get size(): number {
    let size = 0;
    for (let entry = 0; entry < this.count; entry++) size += this.end(entry) - this.start(entry);
    return size;
  }

  start(entry: number): number {
    return this.#offsets[this.#codes[entry]!]!;
  }

  end(entry: number): number {
    return this.#offsets[this.#codes[entry]! + 1]!;
  }

  /** Where the rest behind the head begins. */
  rest(entry: number, hasHeads: boolean): number {
    const start = this.start(entry);
    return hasHeads ? headEnd(this.bytes, start, this.end(entry)) : start;
  }
}
