import { carvedUint8 } from '../../column/arrays.ts';
import { keepRecent, ObjectCache } from '../../column/caches.ts';
import { CodedTruths, IntegerCoding, PackedNumbers } from '../../column/number-vectors.ts';
import { firstAtLeast } from '../../column/positions.ts';
import { SHAPES_MAX } from '../../column/split-shape.ts';
import {
  constantVector,
  FALSE,
  type SplitBlock,
  TRUE,
  UNKNOWN,
  type Vector,
} from '../../column/vector.ts';
import { decodeWtf8 } from '../../column/wtf8.ts';
import type { ByteDfa } from '../../function/regex/byte-dfa.ts';
import { DigitSteps } from '../../function/regex/digit-steps.ts';
import type { TextMatcher } from '../../function/regex/text-matcher.ts';
import { spendSteps } from '../../function/work-meter.ts';
import {
  ALWAYS,
  HoleSteps,
  NEVER,
  OPEN,
  type ShapesByWord,
  type ShapeTruths,
  SplitVerdicts,
  UNSET,
} from './split-verdicts.ts';
import { LEFT, MATCHES, SplitWalk } from './split-walk.ts';

/**
 * Patterns of which a thread remembers what heads and shapes of open segments say: a saved query has a
 * handful, and each takes some 40 KB for a segment, and a byte for each string of which a word or text in no table
 * decides.
 */
const SPLIT_PATTERNS_MAX = 16;

/** Bytes an automaton takes in the time of a step. */
const BYTES_PER_STEP = 4;

/**
 * Fewer strings have fewer shapes than a column has, all of which are judged for a range: of a pattern that is new
 * that takes as long as to look up so many.
 */
export const RANGE_MIN = 16 * SHAPES_MAX;

/** So few strings are read sooner than what they are made of is judged, where nothing is known of it. */
const READ_MAX = 16;

/** Of the codes of shapes as integers; one for all, so that what is counted by it is known again. */
const SHAPE_CODING = IntegerCoding.inSteps(0, 1, SHAPES_MAX - 1);

/** The test of a pattern on strings taken apart: read are only those whose shape does not decide. */
export class SplitSearch {
  readonly #matcher: TextMatcher;
  readonly #dfa: ByteDfa | undefined;
  readonly #cache: SplitCache | undefined;
  readonly #rangeMin: number;
  /** Of the strings that were last: a scan is done with a segment before the next. */
  #marks: { readonly split: SplitBlock; readonly marks: WordMarks } | undefined;

  /** `rangeMin`: fewer strings are not tested by their range. */
  constructor(matcher: TextMatcher, rangeMin = RANGE_MIN) {
    this.#matcher = matcher;
    this.#rangeMin = rangeMin;
    this.#dfa = matcher.automaton();
    this.#cache = this.#dfa && cacheOf(this.#dfa);
  }

  /** As `TextSearch.testSplit`. */
  test(split: SplitBlock, codes: Int32Array, count: number): Uint8Array {
    const truths = carvedUint8(count);
    const known = count < READ_MAX ? this.#cache?.peek(split) : this.#cache?.knownOf(split);
    spendSteps(count);
    for (let from = 0; from < count; ) {
      const code = codes[from]!;
      if (code < 0) truths[from++] = UNKNOWN;
      else if (known !== undefined)
        from = this.#testHead(known, { codes, from, to: count }, truths);
      else truths[from++] = this.#read(split, code) ? TRUE : FALSE;
    }
    if (known !== undefined) spendReading(known);
    return truths;
  }

  /** Tests the strings that have the head of the first of some; gives where these end. */
  #testHead(
    known: SplitFacts,
    some: Pick<Stretch, 'codes' | 'from' | 'to'>,
    truths: Uint8Array,
  ): number {
    const { split, verdicts } = known;
    const { headStarts, headCodes, shapeCodes } = split;
    const { codes, to } = some;
    const run = split.headRun(codes[some.from]!);
    const start = headStarts[run]!;
    const end = headStarts[run + 1] ?? shapeCodes.length;
    const head = headCodes[run]!;
    // To judge all shapes repays where a head has many strings.
    const isWorthIt = Math.min(end - start, to - some.from) >= this.#rangeMin;
    const shapes = isWorthIt ? verdicts.ofShapes(head) : verdicts.findShapes(head);
    const marks = this.#marksOf(split);
    const marked = shapes && marks.marksOf(shapes.byWord);
    const ofHead = (marked && shapes?.verdicts) ?? verdicts.ofHead(head);
    let from = some.from;
    for (;;) {
      from = decideByShapes({ codes, from, to, start, end }, split, ofHead, marked, truths);
      const code = from < to ? codes[from]! : end;
      if (code < start || code >= end) return from;
      const shape = shapeCodes[code]!;
      let verdict = ofHead[shape]!;
      if (verdict === UNSET) verdict = verdicts.judge(head, shape);
      else if (marked?.[code] === 1 && shapes?.byWord.usual[shape] !== OPEN) verdict = OPEN;
      if (verdict === OPEN) marks.countWalk();
      const passes = verdict === OPEN ? this.#walk(known, code, head) : verdict === ALWAYS;
      truths[from++] = passes ? TRUE : FALSE;
    }
  }

  #marksOf(split: SplitBlock): WordMarks {
    if (this.#marks?.split !== split) this.#marks = { split, marks: new WordMarks(split) };
    return this.#marks.marks;
  }

  /** The test of a string that its shape does not decide. */
  #walk(known: SplitFacts, code: number, head: number): boolean {
    const result = known.walk.test(code, head);
    return result === LEFT ? this.#read(known.split, code) : result === MATCHES;
  }

  /**
   * As `TextSearch.testRange`: by the shapes alone, where they tell the same behind all heads of the
   * range, and by reading the strings whose shape is open.
   */
  testRange(split: SplitBlock, start: number, count: number): Vector | undefined {
    if (count < this.#rangeMin) return undefined;
    const known = this.#cache?.knownOf(split);
    const shapes = known && shapesOf(known, start, start + count);
    if (known === undefined || shapes === undefined) return undefined;
    if (shapes.same !== undefined) return constantVector(shapes.same, count);
    const test = (code: number) => this.#walk(known, code, headOf(split, code));
    const found = known.exceptionsOf(shapes).within({ start, end: start + count }, test);
    spendSteps(count);
    spendReading(known);
    if (areAllTrue(split, { start, count }, shapes, found)) {
      return constantVector(true, count);
    }
    const numbers = new PackedNumbers(
      split.shapeCodes,
      { start, count, isAscending: false },
      SHAPE_CODING,
    );
    return new CodedTruths(numbers, shapes.truths, found.rows);
  }

  /** The test of a string that is read. */
  #read(split: SplitBlock, code: number): boolean {
    const { bytes, start, end } = split.range(code);
    spendSteps(Math.floor((end - start) / BYTES_PER_STEP));
    return this.#dfa?.test(bytes, start, end) ?? this.#matcher.test(decodeWtf8(bytes, start, end));
  }
}

/** What shapes say behind each of the heads of strings [start, end). */
function shapesOf(
  { split, verdicts }: SplitFacts,
  start: number,
  end: number,
): ShapeTruths | undefined {
  const { headStarts, headCodes } = split;
  let run = split.headRun(start);
  const shapes = verdicts.ofShapes(headCodes[run]!);
  for (run++; run < headStarts.length && headStarts[run]! < end; run++) {
    if (verdicts.ofShapes(headCodes[run]!) !== shapes) return undefined;
  }
  return shapes;
}

function headOf(split: SplitBlock, code: number): number {
  return split.headCodes[split.headRun(code)]!;
}

/** Whether all strings of a range pass: those that their shape is wrong of are given. */
function areAllTrue(
  { shapeCodes }: SplitBlock,
  { start, count }: { readonly start: number; readonly count: number },
  { truths, areOthersTrue, byWord }: ShapeTruths,
  { rows: exceptions, openCount }: FoundExceptions,
): boolean {
  // Then only open ones are FALSE by their shape, and all of these are to be exceptions.
  if (areOthersTrue && byWord.words.length === 0) return exceptions.length === openCount;
  let next = 0;
  for (let row = 0; row < count; row++) {
    const isException = exceptions[next] === row;
    if (isException === (truths[shapeCodes[start + row]!] === TRUE)) return false;
    if (isException) next++;
  }
  return true;
}

/** What is known of strings taken apart, for one automaton. */
class SplitFacts {
  readonly split: SplitBlock;
  readonly verdicts: SplitVerdicts;
  readonly #newWalk: () => SplitWalk;
  /** Made for the first string that its shape does not decide. */
  #walk: SplitWalk | undefined;
  readonly #exceptions = new Map<ShapeTruths, ShapeExceptions>();

  constructor(
    split: SplitBlock,
    { verdicts, newWalk }: { verdicts: SplitVerdicts; newWalk: () => SplitWalk },
  ) {
    this.split = split;
    this.verdicts = verdicts;
    this.#newWalk = newWalk;
  }

  get walk(): SplitWalk {
    this.#walk ??= this.#newWalk();
    return this.#walk;
  }

  /** Bytes that were read of strings since this was last asked. */
  takeReadCount(): number {
    return this.#walk?.takeReadCount() ?? 0;
  }

  exceptionsOf(shapes: ShapeTruths): ShapeExceptions {
    let exceptions = this.#exceptions.get(shapes);
    if (exceptions === undefined) {
      exceptions = new ShapeExceptions(this.split, shapes);
      this.#exceptions.set(shapes, exceptions);
    }
    return exceptions;
  }
}

function spendReading(known: SplitFacts): void {
  spendSteps(Math.floor(known.takeReadCount() / BYTES_PER_STEP));
}

/** What is known of one automaton and strings taken apart, as long as these are open. */
class SplitCache {
  readonly #dfa: ByteDfa;
  readonly #holes: HoleSteps;
  readonly #digits: DigitSteps;
  readonly #known = new ObjectCache((split: SplitBlock) => this.#factsOf(split));

  constructor(dfa: ByteDfa) {
    this.#dfa = dfa;
    this.#holes = new HoleSteps(dfa);
    this.#digits = new DigitSteps(dfa);
  }

  /** What is known already. */
  peek(split: SplitBlock): SplitFacts | undefined {
    return this.#known.find(split);
  }

  knownOf(split: SplitBlock): SplitFacts {
    return this.#known.get(split);
  }

  #factsOf(split: SplitBlock): SplitFacts {
    const verdicts = new SplitVerdicts(this.#dfa, split, this.#holes);
    const newWalk = () => new SplitWalk(this.#dfa, split, { verdicts, digits: this.#digits });
    return new SplitFacts(split, { verdicts, newWalk });
  }
}

/** Saved queries ask for the same automata again and again. */
const cacheOf = keepRecent(SPLIT_PATTERNS_MAX, (dfa: ByteDfa) => new SplitCache(dfa));

/** Of a string, one byte each: not looked at yet. */
const NOT_LOOKED_AT = 0;
/** Its shape, or what is usual of the shape, decides. */
const AS_SHAPE = 1;
/** It is not what its shape says. */
const EXCEPTION = 2;
/** It is looked for elsewhere. */
const ELSEWHERE = 3;

/** Some strings, [start, end). */
type StringRange = { readonly start: number; readonly end: number };

/** The test of one string, for those that nothing else decides. */
type StringTest = (code: number) => boolean;

type FoundExceptions = {
  /** Ascending, counted from the first string of the range. */
  readonly rows: Int32Array;
  /** How many of the strings have a shape that says nothing. */
  readonly openCount: number;
};

/**
 * Which strings are other than their shape says: those with text that is in no table, and those with some
 * words. What was found of one is remembered, a byte each: saved queries ask for the same again and again.
 */
class ShapeExceptions {
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
      if (known[at] === NOT_LOOKED_AT) {
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
      if (known[at] === NOT_LOOKED_AT) known[at] = this.#lookByWord(word, code, test);
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

/** Some strings of one head: `codes[from, to)`. */
type Stretch = {
  readonly codes: Int32Array;
  readonly from: number;
  readonly to: number;
  /** The strings of the head are [start, end). */
  readonly start: number;
  readonly end: number;
};

/**
 * Writes the truths of strings as long as they are of one head and their shapes decide; gives the place of
 * the first that is not, or that is marked.
 */
function decideByShapes(
  stretch: Stretch,
  { shapeCodes }: { readonly shapeCodes: Uint8Array },
  verdicts: Readonly<Uint8Array>,
  marks: Uint8Array | undefined,
  truths: Uint8Array,
): number {
  return marks === undefined
    ? decideAll(stretch, shapeCodes, verdicts, truths)
    : decideUnmarked(stretch, shapeCodes, verdicts, marks, truths);
}

function decideAll(
  { codes, from, to, start, end }: Stretch,
  shapeCodes: Uint8Array,
  verdicts: Readonly<Uint8Array>,
  truths: Uint8Array,
): number {
  let i = from;
  for (; i < to; i++) {
    const code = codes[i]!;
    if (code < start || code >= end) break;
    const verdict = verdicts[shapeCodes[code]!]!;
    if (verdict !== ALWAYS && verdict !== NEVER) break;
    // ALWAYS is TRUE, and NEVER has no bit of it.
    truths[i] = verdict & TRUE;
  }
  return i;
}

function decideUnmarked(
  { codes, from, to, start, end }: Stretch,
  shapeCodes: Uint8Array,
  verdicts: Readonly<Uint8Array>,
  marks: Uint8Array,
  truths: Uint8Array,
): number {
  let i = from;
  for (; i < to; i++) {
    const code = codes[i]!;
    if (code < start || code >= end || marks[code] === 1) break;
    const verdict = verdicts[shapeCodes[code]!]!;
    if (verdict !== ALWAYS && verdict !== NEVER) break;
    truths[i] = verdict & TRUE;
  }
  return i;
}

/**
 * Strings that are walked through before it repays to mark, one for so many: a mark takes a nanosecond or
 * two, a walk some hundred.
 */
const STRINGS_PER_WALK = 128;

/** Which strings taken apart have a word of which their shape says nothing. */
class WordMarks {
  readonly #split: SplitBlock;
  readonly #marked = new Set<ShapesByWord>();
  /** By string, 1 for those with such a word; made with the first. */
  #marks: Uint8Array | undefined;
  #walkCount = 0;

  constructor(split: SplitBlock) {
    this.#split = split;
  }

  /** Counts a string that was walked through. */
  countWalk(): void {
    this.#walkCount++;
  }

  /**
   * 1 for each string that has one of these words, or one of those given before; `undefined` where there
   * are none, and as long as few strings were walked through.
   */
  marksOf(byWord: ShapesByWord): Uint8Array | undefined {
    const { length } = this.#split.shapeCodes;
    if (byWord.words.length === 0 || this.#walkCount * STRINGS_PER_WALK < length) return undefined;
    this.#marks ??= new Uint8Array(length);
    if (!this.#marked.has(byWord)) this.#mark(byWord, this.#marks);
    return this.#marks;
  }

  #mark(byWord: ShapesByWord, marks: Uint8Array): void {
    const { wordStarts, wordEntries } = this.#split;
    this.#marked.add(byWord);
    for (const word of byWord.words) {
      const end = wordStarts[word + 1]!;
      for (let at = wordStarts[word]!; at < end; at++) marks[wordEntries[at]!] = 1;
    }
  }
}
