import { lengthened } from './arrays.ts';
import { ByteTable, hashBytes } from './byte-table.ts';
import { wordHolesOf } from './excerpt-strings.ts';
import { type SliceSink, unsignedArray } from './slice.ts';
import {
  type Choice,
  type ChooseShapes,
  chooseShapes,
  measureChoice,
  SAMPLE_ENTRIES,
  SplitInput,
  Template,
  takeKnown,
} from './split-choice.ts';
import { headEnd, IN_PATH, IN_QUERY, PART_BLOCK_ENTRIES, type SplitFooter } from './split-shape.ts';
import type { StringBlock } from './vector.ts';

/** Fewer strings have nothing in common that would repay the shapes. */
const ENTRIES_MIN = 256;
/** Shorter strings, on average, have no room for both a shape and parts. */
const STRING_SIZE_MIN = 12;
/** Runs of strings with one head must be this long on average, or heads are part of the rest. */
const HEAD_RUN_MIN = 8;
/** What is saved must repay that strings are put together again when they are read. */
const SIZE_SHARE_MAX = 0.8;

/** Bytes of an entry beside its parts: shape, size, and its share of the start of a block. */
const ENTRY_OVERHEAD = 2.25;

/**
 * The strings `codes` of a block as heads, shapes and parts; `undefined` where that takes not much
 * less than `sizeMax` bytes.
 */
export function encodeSplit(
  sink: SliceSink,
  block: StringBlock,
  codes: Int32Array,
  { sizeMax, choose }: { readonly sizeMax: number; readonly choose: ChooseShapes },
): SplitFooter | undefined {
  const strings = new SplitInput(block, codes);
  if (codes.length < ENTRIES_MIN || strings.size < codes.length * STRING_SIZE_MIN) return undefined;
  const heads = findHeads(strings);
  const wanted = sizeMax * SIZE_SHARE_MAX;
  const choice = choose(strings, heads.hasHeads);
  const sampled = (choice.partsSize / choice.entryCount + ENTRY_OVERHEAD) * codes.length;
  if (sampled > wanted) return undefined;
  const split = splitAll(strings, choice, heads.hasHeads);
  const { shapes } = choice;
  const { words } = split;
  const size =
    split.parts.length +
    split.sizes.byteLength +
    split.starts.byteLength +
    split.shapeCodes.length +
    4 * split.textEntries.length +
    8 * heads.starts.length +
    shapes.offsets[shapes.count]! +
    words.offsets[words.count]! +
    words.count +
    4 * (split.wordStarts.length + words.count + 1 + split.wordEntries.length);
  if (size > wanted) return undefined;
  return {
    kind: 'split',
    heads: addTable(sink, heads.table),
    headStarts: sink.add(Uint32Array.from(heads.starts)),
    headCodes: sink.add(Uint32Array.from(heads.codes)),
    hasHeads: heads.hasHeads,
    shapes: addTable(sink, shapes),
    shapeCodes: sink.add(split.shapeCodes),
    parts: sink.add(split.parts),
    partSizes: sink.add(split.sizes),
    partSizeWidth: split.sizes.BYTES_PER_ELEMENT as 1 | 2 | 4,
    partStarts: sink.add(split.starts),
    words: addTable(sink, words),
    wordStarts: sink.add(split.wordStarts),
    wordEntries: sink.add(split.wordEntries),
    wordPlaces: sink.add(split.wordPlaces),
    textEntries: sink.add(split.textEntries),
  };
}

type Heads = {
  readonly table: ByteTable;
  /** First entry of each run of one head. */
  readonly starts: readonly number[];
  /** Its head. */
  readonly codes: readonly number[];
  /** False: the one head is empty, for strings change too often between several. */
  readonly hasHeads: boolean;
};

function findHeads(strings: SplitInput): Heads {
  const { bytes, count } = strings;
  const table = new ByteTable();
  const starts: number[] = [];
  const codes: number[] = [];
  for (let entry = 0; entry < count; entry++) {
    const start = strings.start(entry);
    const end = headEnd(bytes, start, strings.end(entry));
    const last = codes.at(-1);
    if (last !== undefined && table.holds(last, bytes, start, end)) continue;
    if (starts.length * HEAD_RUN_MIN >= count) {
      const empty = new ByteTable();
      return { table: empty, starts: [0], codes: [addTo(empty, bytes, 0, 0)], hasHeads: false };
    }
    starts.push(entry);
    codes.push(addTo(table, bytes, start, end));
  }
  return { table, starts, codes, hasHeads: true };
}

function addTo(table: ByteTable, bytes: Uint8Array, start: number, end: number): number {
  return table.add(bytes, start, end, hashBytes(bytes, start, end));
}

function splitAll(strings: SplitInput, { constants, hasTable, shapes }: Choice, hasHeads: boolean) {
  const words = new ByteTable();
  const templates = constants.map((some) => new Template(some, hasTable ? words : undefined));
  const postings = new Postings();
  const places = new WordPlaces(shapes);
  const { bytes, count } = strings;
  const shapeCodes = new Uint8Array(count);
  const sizes = new Uint32Array(count);
  const starts = new Uint32Array(Math.ceil(count / PART_BLOCK_ENTRIES));
  const textEntries: number[] = [];
  let parts = new Uint8Array(16 * count);
  let to = 0;
  let sizeMax = 0;
  for (let entry = 0; entry < count; entry++) {
    const start = strings.rest(entry, hasHeads);
    const end = strings.end(entry);
    const taken = takeKnown(templates, shapes, bytes, start, end);
    const { template } = taken;
    shapeCodes[entry] = taken.shape;
    if (template.hasInlineText) textEntries.push(entry);
    for (let i = 0; i < template.wordCount; i++) postings.add(template.words[i]!, entry);
    places.add(taken.shape, template);
    const { partsSize } = template;
    if (to + partsSize > parts.length) parts = lengthened(parts, to + partsSize);
    if (entry % PART_BLOCK_ENTRIES === 0) starts[entry / PART_BLOCK_ENTRIES] = to;
    for (let at = 0; at < partsSize; at++) parts[to++] = template.parts[at]!;
    sizes[entry] = partsSize;
    if (partsSize > sizeMax) sizeMax = partsSize;
  }
  const narrow = unsignedArray(count, sizeMax + 1);
  narrow.set(sizes);
  return {
    shapeCodes,
    sizes: narrow,
    starts,
    parts: parts.subarray(0, to),
    textEntries: Uint32Array.from(textEntries),
    words,
    ...postings.lists(words.count),
    wordPlaces: places.ofWords(words.count),
  };
}

/** Which entries have which words. */
export class Postings {
  #words = new Uint32Array(1024);
  #entries = new Uint32Array(1024);
  #count = 0;

  add(word: number, entry: number): void {
    if (this.#count === this.#words.length) {
      this.#words = lengthened(this.#words, this.#count + 1);
      this.#entries = lengthened(this.#entries, this.#count + 1);
    }
    this.#words[this.#count] = word;
    this.#entries[this.#count++] = entry;
  }

  /** Sorted by word, the entries of each in the order they came. */
  lists(wordCount: number) {
    const wordStarts = new Uint32Array(wordCount + 1);
    for (let i = 0; i < this.#count; i++) wordStarts[this.#words[i]! + 1]!++;
    for (let word = 0; word < wordCount; word++) wordStarts[word + 1]! += wordStarts[word]!;
    const next = wordStarts.slice();
    const wordEntries = new Uint32Array(this.#count);
    for (let i = 0; i < this.#count; i++) wordEntries[next[this.#words[i]!]!++] = this.#entries[i]!;
    return { wordStarts, wordEntries };
  }
}

/** Where words fill holes: in paths, in queries. */
class WordPlaces {
  /** By shape: the holes for words in a path, which come first, and those in a query, which are next. */
  readonly #pathHoles: Uint8Array;
  readonly #queryHoles: Uint8Array;
  #places = new Uint8Array(1024);

  constructor(shapes: ByteTable) {
    const { bytes, offsets, count } = shapes;
    const block = { bytes, offsets: offsets.subarray(0, count + 1) };
    this.#pathHoles = wordHolesOf('path', block);
    this.#queryHoles = wordHolesOf('query', block);
  }

  /** Marks the words of a string. */
  add(shape: number, { words, wordCount }: Pick<Template, 'words' | 'wordCount'>): void {
    const pathEnd = this.#pathHoles[shape]!;
    const queryEnd = pathEnd + this.#queryHoles[shape]!;
    for (let i = 0; i < Math.min(wordCount, queryEnd); i++) {
      const word = words[i]!;
      if (word >= this.#places.length) this.#places = lengthened(this.#places, word + 1);
      this.#places[word]! |= i < pathEnd ? IN_PATH : IN_QUERY;
    }
  }

  ofWords(wordCount: number): Uint8Array {
    const places = new Uint8Array(wordCount);
    places.set(this.#places.subarray(0, wordCount));
    return places;
  }
}

function addTable(sink: SliceSink, { count, bytes, offsets }: ByteTable) {
  return {
    count,
    bytes: sink.add(bytes.slice(0, offsets[count]!)),
    offsets: sink.add(offsets.slice(0, count + 1)),
  };
}

/** Columns whose choices are kept. A source has some ten with strings that are worth choosing for. */
const COLUMNS_MAX = 64;
/** Bytes of words and shapes of a choice that is kept: a thread keeps few megabytes, whatever is sent. */
const CHOICE_BYTES_MAX = 65_536;
/** Strings may take so much more than when the choice was made. */
const MEAN_SIZE_GROWTH_MAX = 1.05;
/** Segments after which the choice is made anew, though it still fits: there may be a better one. */
const USES_MAX = 16;

type KeptChoice = {
  readonly choice: Choice;
  readonly hasHeads: boolean;
  /** Bytes that a string took on average when the choice was made: one that it was not made for. */
  readonly meanSize: number;
  useCount: number;
};

/**
 * The choices of words and shapes of the last segments, by the path of the column: the next segment of a source has
 * strings like those before. To see that a choice fits takes a tenth of the time of making it. No answer depends on it.
 */
export class ShapeCache {
  /** In the order in which they were made. */
  readonly #choices = new Map<string, KeptChoice>();

  /** A choice for the strings of a column: the last one, if it fits. */
  choose(path: string, strings: SplitInput, hasHeads: boolean): Choice {
    const kept = this.#choices.get(path);
    if (kept !== undefined && kept.hasHeads === hasHeads && kept.useCount < USES_MAX) {
      const { entryCount, partsSize } = measureChoice(strings, hasHeads, kept.choice);
      if (partsSize <= MEAN_SIZE_GROWTH_MAX * kept.meanSize * entryCount) {
        kept.useCount++;
        return { ...kept.choice, entryCount, partsSize };
      }
    }
    const choice = chooseShapes(strings, hasHeads);
    // One for a few strings would seem to fit many, which another would save more of.
    if (choice.entryCount >= SAMPLE_ENTRIES) this.#keep(path, choice, strings, hasHeads);
    return choice;
  }

  clear(): void {
    this.#choices.clear();
  }

  #keep(path: string, choice: Choice, strings: SplitInput, hasHeads: boolean): void {
    this.#choices.delete(path);
    if (measureBytes(choice) > CHOICE_BYTES_MAX) return;
    const { entryCount, partsSize } = measureChoice(strings, hasHeads, choice);
    this.#choices.set(path, { choice, hasHeads, meanSize: partsSize / entryCount, useCount: 0 });
    const [oldest] = this.#choices.keys();
    if (this.#choices.size > COLUMNS_MAX) this.#choices.delete(oldest!);
  }
}

function measureBytes({ constants, shapes }: Choice): number {
  return [shapes, ...constants].reduce((sum, { offsets, count }) => sum + offsets[count]!, 0);
}
