import { carvedUint8 } from '../../column/arrays.ts';
import { cacheGeneration } from '../../column/caches.ts';
import { firstAtLeast, partitionPoint, type RowRanges } from '../../column/positions.ts';
import { type ToldStrings, toldStringsWith, wordsWith } from '../../column/split-index.ts';
import { isInline } from '../../column/split-shape.ts';
import type { SoughtText } from '../../column/text-signature.ts';
import {
  constantVector,
  FALSE,
  type SplitBlock,
  TRUE,
  UNKNOWN,
  type Vector,
} from '../../column/vector.ts';
import { spendSteps } from '../../function/work-meter.ts';

/** Of a shape, if it is not 0, for it was not looked at yet: its constant bytes hold the text. */
const HOLDS = 1;
/** Its text that is in no table may hold it. */
const HAS_TEXT = 2;
/** Only words of a string may hold it. */
const LACKS = 3;

/** Bytes looked through in the time of a step. */
const BYTES_PER_STEP = 4;

/** More words are not looked up one by one for each string. */
const WORDS_MAX = 16;

/**
 * The test of a word, or a part of one, on strings taken apart. It is whole in a head, in a shape, in a numbered
 * word or in text (`splitStringsWith`), so no string is read but for its text.
 */
export class WordSearch {
  readonly #sought: SoughtText;
  /** Of the strings that were last: a scan is done with a segment before the next. */
  #last: SoughtInSplit | undefined;
  #generation = cacheGeneration();

  /** `sought`: of a word. */
  constructor(sought: SoughtText) {
    this.#sought = sought;
  }

  /** As `TextSearch.testSplit`; `undefined` where too many words hold the text. */
  test(split: SplitBlock, codes: Int32Array, count: number): Uint8Array | undefined {
    const told = toldStringsWith(split, this.#sought);
    const toldTruths = told && testTold(told, codes, count);
    if (toldTruths !== undefined) return toldTruths;
    const sought = this.#soughtIn(split);
    if (!sought.hasFewWords) return undefined;
    const truths = carvedUint8(count);
    spendSteps(count);
    for (let i = 0; i < count; i++) {
      const code = codes[i]!;
      if (code < 0) truths[i] = UNKNOWN;
      else truths[i] = sought.isIn(code) ? TRUE : FALSE;
    }
    return truths;
  }

  /** As `TextSearch.testRange`, where all heads of the range hold the text; else `undefined`. */
  testRange(split: SplitBlock, start: number, count: number): Vector | undefined {
    const sought = this.#soughtIn(split);
    const { headStarts } = split;
    let run = split.headRun(start);
    for (; run < headStarts.length && headStarts[run]! < start + count; run++) {
      if (!sought.isInHeadOf(run)) return undefined;
    }
    return constantVector(true, count);
  }

  #soughtIn(split: SplitBlock): SoughtInSplit {
    const isKnown = this.#last?.split === split && this.#generation === cacheGeneration();
    if (!isKnown) {
      this.#last = new SoughtInSplit(this.#sought, split);
      this.#generation = cacheGeneration();
    }
    return this.#last!;
  }
}

/** The same by what a scan was told of the strings; `undefined` where it was not told of all of them. */
function testTold(
  { ranges, among, isExact }: ToldStrings,
  codes: Int32Array,
  count: number,
): Uint8Array | undefined {
  if (!isExact) return undefined;
  const truths = carvedUint8(count);
  spendSteps(count);
  // The first range that ends behind the string before.
  let at = 0;
  for (let i = 0; i < count; i++) {
    const code = codes[i]!;
    if (code < 0) {
      truths[i] = UNKNOWN;
      continue;
    }
    if (code < among.start || code >= among.end) return undefined;
    if (at > 0 && ranges[at - 1]! > code) at = 0;
    if (at < ranges.length && ranges[at + 1]! <= code) at = firstEndingBehind(ranges, at + 2, code);
    truths[i] = at < ranges.length && ranges[at]! <= code ? TRUE : FALSE;
  }
  return truths;
}

/** Where the first range from `from` on is that ends behind a string; it is mostly the first. */
function firstEndingBehind(ranges: RowRanges, from: number, code: number): number {
  if (from >= ranges.length || ranges[from + 1]! > code) return from;
  return 2 * partitionPoint(from / 2, ranges.length / 2, (range) => ranges[2 * range + 1]! <= code);
}

/** A text in the strings of one block. */
class SoughtInSplit {
  readonly split: SplitBlock;
  readonly #sought: SoughtText;
  readonly #shapes: Uint8Array;
  #words: readonly number[] | undefined;
  /** For each word the place behind which its next string is likely to be. */
  readonly #places: number[] = [];
  /** The strings of the run that was last, [start, end), and whether its head holds the text. */
  #start = 0;
  #end = 0;
  #isInHead = false;

  constructor(sought: SoughtText, split: SplitBlock) {
    this.split = split;
    this.#sought = sought;
    this.#shapes = new Uint8Array(split.shapes.offsets.length - 1);
  }

  get hasFewWords(): boolean {
    this.#words ??= wordsWith(this.split, this.#sought);
    return this.#words.length <= WORDS_MAX;
  }

  isIn(code: number): boolean {
    const isInWord = this.#hasWord(code);
    const { hasWordsCutOff, shapeCodes } = this.split;
    if (isInWord && hasWordsCutOff === undefined) return true;
    if (code < this.#start || code >= this.#end) this.#enterRun(code);
    if (this.#isInHead) return true;
    const shape = shapeCodes[code]!;
    const said = this.#shapes[shape]! || this.#lookAt(shape);
    if (said === HOLDS) return true;
    const isCutOff = isInWord && hasWordsCutOff?.[shape] === 1;
    if (isInWord && !isCutOff) return true;
    return (isCutOff || said === HAS_TEXT) && this.#isInRest(code);
  }

  isInHeadOf(run: number): boolean {
    const { bytes, offsets } = this.split.heads;
    const head = this.split.headCodes[run]!;
    return this.#sought.needle.find(bytes, offsets[head]!, offsets[head + 1]!) >= 0;
  }

  #enterRun(code: number): void {
    const { headStarts, shapeCodes } = this.split;
    const run = this.split.headRun(code);
    this.#start = headStarts[run]!;
    this.#end = headStarts[run + 1] ?? shapeCodes.length;
    this.#isInHead = this.isInHeadOf(run);
  }

  #lookAt(shape: number): number {
    const { bytes, offsets } = this.split.shapes;
    const start = offsets[shape]!;
    const end = offsets[shape + 1]!;
    let said = LACKS;
    if (this.#sought.needle.find(bytes, start, end) >= 0) said = HOLDS;
    else if (bytes.subarray(start, end).some(isInline)) said = HAS_TEXT;
    this.#shapes[shape] = said;
    return said;
  }

  /** Whether a string has a numbered word that holds the text; quick where the strings ascend. */
  #hasWord(code: number): boolean {
    const words = this.#words ?? [];
    const { wordStarts, wordEntries } = this.split;
    for (let index = 0; index < words.length; index++) {
      const start = wordStarts[words[index]!]!;
      const end = wordStarts[words[index]! + 1]!;
      let at = this.#places[index] ?? start;
      if (at > start && wordEntries[at - 1]! >= code) at = start;
      if (at < end && wordEntries[at]! < code) {
        at++;
        if (at < end && wordEntries[at]! < code) {
          at += firstAtLeast(wordEntries, at, end - at, code);
        }
      }
      this.#places[index] = at;
      if (at < end && wordEntries[at] === code) return true;
    }
    return false;
  }

  #isInRest(code: number): boolean {
    const { bytes, start, end } = this.split.rest(code);
    spendSteps(Math.floor((end - start) / BYTES_PER_STEP));
    return this.#sought.needle.find(bytes, start, end) >= 0;
  }
}
