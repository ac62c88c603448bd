import { ByteTable, hashBytes } from './byte-table.ts';
import { SHAPES_MAX } from './split-footer.ts';
import type { SplitInput } from './split-input.ts';
import { ShapePicker } from './split-picker.ts';
import { forEachWord, Template } from './split-template.ts';

/**
 * Strings that are looked at to choose words and shapes. With four times as many, choosing takes longer than splitting the
 * strings of a small segment, and the segment is 0.3 % smaller.
 */
const SAMPLE_ENTRIES = 1024;
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
export type Choice = {
  /** The words in the shapes of each template, which are more in the first ones. */
  readonly constants: readonly ByteTable[];
  /** Whether other words are numbered. */
  readonly hasTable: boolean;
  /** Shape 0 is one hole for all. */
  readonly shapes: ByteTable;
  /** Of the strings of the sample. */
  readonly entryCount: number;
  readonly partsSize: number;
};

/** The words and shapes with which the strings of a sample take the fewest bytes. */
export function chooseShapes(strings: SplitInput, hasHeads: boolean): Choice {
  const step = Math.max(1, Math.floor(strings.count / SAMPLE_ENTRIES));
  const sample: number[] = [];
  for (let entry = 0; entry < strings.count; entry += step) sample.push(entry);
  const constants = frequentWords(countWords(strings, sample, hasHeads), sample.length);
  const input = { strings, sample, hasHeads, constants };
  const numbered = shapesOf(input, true);
  if (numbered.usesPerWord >= USES_PER_WORD_SURE) return numbered.choice;
  const { choice } = shapesOf(input, false);
  return choice.partsSize < numbered.choice.partsSize ? choice : numbered.choice;
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
  { strings, sample, hasHeads, constants }: ChoiceInput,
  hasTable: boolean,
): { readonly choice: Choice; readonly usesPerWord: number } {
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
  const used = new ByteTable();
  const takers = constants.map((some) => new Template(some, hasTable ? used : undefined));
  let partsSize = 0;
  let useCount = 0;
  for (const [index, entry] of sample.entries()) {
    const level = picker.levelOf(index);
    const taker = takers[level ?? 0]!;
    const start = strings.rest(entry, hasHeads);
    if (level === undefined) taker.takeWhole(bytes, start, strings.end(entry));
    else taker.take(bytes, start, strings.end(entry));
    partsSize += sizeOf(taker);
    useCount += taker.wordCount;
  }
  partsSize += used.offsets[used.count]! + WORD_OVERHEAD * used.count;
  return {
    choice: { constants, hasTable, shapes, entryCount: sample.length, partsSize },
    usesPerWord: useCount / Math.max(1, used.count),
  };
}

/** Bytes of a string's parts, and of the lists that it is in. */
function sizeOf({ partsSize, wordCount, hasInlineText }: Template): number {
  return partsSize + LISTED_SIZE * (wordCount + (hasInlineText ? 1 : 0));
}
