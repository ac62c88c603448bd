import { firstAtLeast } from '../../column/positions.ts';
import { type SplitBlock, TRUE } from '../../column/vector.ts';
import type { ShapeTruths } from './split-verdicts.ts';
import { OPEN } from './verdict.ts';

/** Of a string, one byte each: not looked at yet. */
const UNSET = 0;
/** … its shape, or what is usual of it, says what is so. */
const AS_SHAPE = 1;
/** … it is otherwise. */
const EXCEPTION = 2;
/** … it is looked for elsewhere. */
const ELSEWHERE = 3;

/** Some strings, [start, end). */
type StringRange = { readonly start: number; readonly end: number };

/** The test of one string, for those that nothing else decides. */
type StringTest = (code: number) => boolean;

export type FoundExceptions = {
  /** Ascending, counted from the first string of the range. */
  readonly rows: Int32Array;
  /** How many of the strings have a shape that says nothing. */
  readonly openCount: number;
};

/**
 * Which strings are other than their shape says: those with text that is in no table, and those with some
 * words. What was found of one is remembered, a byte each: saved queries ask for the same again and again.
 */
export class ShapeExceptions {
  readonly #split: SplitBlock;
  readonly #shapes: ShapeTruths;
  /** By the place among strings with text. */
  #ofTexts: Uint8Array | undefined;
  /** By word: by the place among its strings. */
  readonly #ofWords = new Map<number, Uint8Array>();

  constructor(split: SplitBlock, shapes: ShapeTruths) {
    this.#split = split;
    this.#shapes = shapes;
  }

  within(range: StringRange, test: StringTest): FoundExceptions {
    const rows: number[] = [];
    const openCount = this.#addOpen(range, test, rows);
    for (const word of this.#shapes.byWord.words) this.#addByWord(word, range, test, rows);
    return { rows: ascending(rows), openCount };
  }

  #addOpen(range: StringRange, test: StringTest, rows: number[]): number {
    const { isOpen, areOpenInline } = this.#shapes;
    if (isOpen === undefined) return 0;
    if (areOpenInline) return this.#addWithText(range, test, rows);
    const { shapeCodes } = this.#split;
    let openCount = 0;
    for (let code = range.start; code < range.end; code++) {
      if (isOpen[shapeCodes[code]!] === 0) continue;
      openCount++;
      if (this.#isWrong(code, test)) rows.push(code - range.start);
    }
    return openCount;
  }

  /** Where all strings of open shapes have text that is in no table. */
  #addWithText({ start, end }: StringRange, test: StringTest, rows: number[]): number {
    const { textEntries, shapeCodes } = this.#split;
    this.#ofTexts ??= new Uint8Array(textEntries.length);
    const known = this.#ofTexts;
    let openCount = 0;
    let at = firstAtLeast(textEntries, 0, textEntries.length, start);
    for (; at < textEntries.length && textEntries[at]! < end; at++) {
      const code = textEntries[at]!;
      if (known[at] === UNSET) {
        const isOpen = this.#shapes.isOpen?.[shapeCodes[code]!] === 1;
        known[at] = isOpen ? this.#look(code, test) : ELSEWHERE;
      }
      if (known[at] !== ELSEWHERE) openCount++;
      if (known[at] === EXCEPTION) rows.push(code - start);
    }
    return openCount;
  }

  #addByWord(word: number, { start, end }: StringRange, test: StringTest, rows: number[]): void {
    const { wordStarts, wordEntries } = this.#split;
    const first = wordStarts[word]!;
    const count = wordStarts[word + 1]! - first;
    let at = firstAtLeast(wordEntries, first, count, start);
    if (at === count || wordEntries[first + at]! >= end) return;
    const known = this.#ofWords.get(word) ?? new Uint8Array(count);
    this.#ofWords.set(word, known);
    for (; at < count && wordEntries[first + at]! < end; at++) {
      const code = wordEntries[first + at]!;
      if (known[at] === UNSET) known[at] = this.#lookByWord(word, code, test);
      if (known[at] === EXCEPTION) rows.push(code - start);
    }
  }

  #lookByWord(word: number, code: number, test: StringTest): number {
    const { byWord } = this.#shapes;
    const shape = this.#split.shapeCodes[code]!;
    const usual = byWord.usual[shape]!;
    if (usual === OPEN) return ELSEWHERE;
    const verdict = byWord.verdictWith(word, shape);
    if (verdict === OPEN) return this.#look(code, test);
    return verdict === usual ? AS_SHAPE : EXCEPTION;
  }

  #look(code: number, test: StringTest): number {
    return this.#isWrong(code, test) ? EXCEPTION : AS_SHAPE;
  }

  /** Whether a string is other than its shape says; of an open one that is FALSE. */
  #isWrong(code: number, test: StringTest): boolean {
    const isTrue = this.#shapes.truths[this.#split.shapeCodes[code]!] === TRUE;
    return test(code) !== isTrue;
  }
}

/** Each once: a string may have several of the words. */
function ascending(rows: readonly number[]): Int32Array {
  const sorted = new Int32Array(rows).sort();
  let count = 0;
  for (let at = 0; at < sorted.length; at++) {
    if (at === 0 || sorted[at] !== sorted[at - 1]) sorted[count++] = sorted[at]!;
  }
  return sorted.subarray(0, count);
}
