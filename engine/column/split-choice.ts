import { ByteTable, hashBytes } from './byte-table.ts';
import { SHAPES_MAX } from './split-footer.ts';
import type { SplitInput } from './split-input.ts';
import { ShapePicker } from './split-picker.ts';
import { forEachWord, Template, takeKnown } from './split-template.ts';

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
