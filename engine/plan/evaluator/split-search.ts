import { CodedTruths } from '../../column/coded-truths.ts';
import { IntegerCoding, PackedNumbers } from '../../column/packed-numbers.ts';
import { firstAtLeast } from '../../column/positions.ts';
import { SHAPES_MAX } from '../../column/split-footer.ts';
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
import { SPLIT_PATTERNS_MAX } from '../../limits.ts';
import { decideByShapes, type Stretch } from './shape-kernels.ts';
import {
  ALWAYS,
  HoleSteps,
  OPEN,
  type ShapesByWord,
  type ShapeTruths,
  SplitVerdicts,
  UNSET,
} from './split-verdicts.ts';
import { LEFT, MATCHES, SplitWalk } from './split-walk.ts';
import { WordMarks } from './word-marks.ts';

/** Bytes an automaton takes in the time of a step. */
const BYTES_PER_STEP = 4;

type KnownOfSplit = {
  readonly split: SplitBlock;
  readonly verdicts: SplitVerdicts;
  readonly walk: SplitWalk;
  readonly marks: WordMarks;
};

const NO_STRINGS = new Int32Array(0);

/** Fewer strings have fewer shapes than a column has, all of which are judged for a range. */
const RANGE_MIN = 4 * SHAPES_MAX;

/** Of the codes of shapes as integers; one for all, so that what is counted by it is known again. */
const SHAPE_CODING = new IntegerCoding(0, 1, SHAPES_MAX - 1);

/** The test of a pattern on strings taken apart: read are only those whose shape does not decide. */
export class SplitSearch {
  readonly #matcher: TextMatcher;
  readonly #dfa: ByteDfa | undefined;
  readonly #memory: SplitMemory | undefined;
  /** What is known of the strings that were last: a scan is done with a segment before the next. */
  #last: KnownOfSplit | undefined;

  constructor(matcher: TextMatcher) {
    this.#matcher = matcher;
    this.#dfa = matcher.automaton();
    this.#memory = this.#dfa && memoryOf(this.#dfa);
  }

  /** As `TextSearch.testSplit`. */
  test(split: SplitBlock, codes: Int32Array, count: number): Uint8Array {
    const truths = new Uint8Array(count);
    const known = this.#knownOf(split);
    spendSteps(count);
    for (let from = 0; from < count; ) {
      const code = codes[from]!;
      if (code < 0) truths[from++] = UNKNOWN;
      else if (known !== undefined)
        from = this.#testHead(known, { codes, from, to: count }, truths);
      else truths[from++] = this.#read(split, code) ? TRUE : FALSE;
    }
    if (known !== undefined) spendSteps(Math.floor(known.walk.takeReadCount() / BYTES_PER_STEP));
    return truths;
  }

  /** Tests the strings that have the head of the first of some; gives where these end. */
  #testHead(
    { split, verdicts, marks }: KnownOfSplit,
    some: Pick<Stretch, 'codes' | 'from' | 'to'>,
    truths: Uint8Array,
  ): number {
    const { headStarts, headCodes, shapeCodes } = split;
    const { codes, to } = some;
    const run = split.headRun(codes[some.from]!);
    const start = headStarts[run]!;
    const end = headStarts[run + 1] ?? shapeCodes.length;
    const head = headCodes[run]!;
    // To judge all shapes repays where a head has many strings.
    const isWorthIt = Math.min(end - start, to - some.from) >= RANGE_MIN;
    const shapes = isWorthIt ? verdicts.ofShapes(head) : verdicts.findShapes(head);
    const ofHead = shapes?.verdicts ?? verdicts.ofHead(head);
    const marked = shapes && marks.marksOf(shapes.byWord);
    let from = some.from;
    for (;;) {
      from = decideByShapes({ codes, from, to, start, end }, split, ofHead, marked, truths);
      const code = from < to ? codes[from]! : end;
      if (code < start || code >= end) return from;
      const shape = shapeCodes[code]!;
      let verdict = ofHead[shape]!;
      if (verdict === UNSET) verdict = verdicts.judge(head, shape);
      else if (marked?.[code] === 1 && shapes?.byWord.usual[shape] !== OPEN) verdict = OPEN;
      const passes = verdict === OPEN ? this.#walk(split, code, head) : verdict === ALWAYS;
      truths[from++] = passes ? TRUE : FALSE;
    }
  }

  #knownOf(split: SplitBlock): KnownOfSplit | undefined {
    if (this.#dfa === undefined || this.#memory === undefined) return undefined;
    if (this.#last?.split !== split) {
      const verdicts = this.#memory.verdictsOf(split);
      this.#last = {
        split,
        verdicts,
        walk: new SplitWalk(this.#dfa, split, { verdicts, digits: this.#memory.digits }),
        marks: new WordMarks(split),
      };
    }
    return this.#last;
  }

  /** The test of a string that its shape does not decide; its strings were asked for last. */
  #walk(split: SplitBlock, code: number, head: number): boolean {
    const result = this.#last?.walk.test(code, head) ?? LEFT;
    return result === LEFT ? this.#read(split, code) : result === MATCHES;
  }

  /**
   * As `TextSearch.testRange`: by the shapes alone, where they tell the same behind all heads of the
   * range, and by reading the strings whose shape is open.
   */
  testRange(split: SplitBlock, start: number, count: number): Vector | undefined {
    if (count < RANGE_MIN) return undefined;
    const shapes = this.#shapesOf(split, start, start + count);
    if (shapes === undefined) return undefined;
    if (shapes.same !== undefined) return constantVector(shapes.same, count);
    const exceptions = this.#exceptionsOf(split, shapes, start, count);
    spendSteps(count);
    if (areAllTrue(split.shapeCodes, start, count, shapes.truths, exceptions)) {
      return constantVector(true, count);
    }
    const numbers = new PackedNumbers(
      split.shapeCodes,
      { start, count, isAscending: false },
      SHAPE_CODING,
    );
    return new CodedTruths(numbers, shapes.truths, exceptions);
  }

  /** What shapes say behind each of the heads of strings [start, end). */
  #shapesOf(split: SplitBlock, start: number, end: number): ShapeTruths | undefined {
    const verdicts = this.#memory?.verdictsOf(split);
    if (verdicts === undefined) return undefined;
    const { headStarts, headCodes } = split;
    let run = split.headRun(start);
    const shapes = verdicts.ofShapes(headCodes[run]!);
    for (run++; run < headStarts.length && headStarts[run]! < end; run++) {
      if (verdicts.ofShapes(headCodes[run]!) !== shapes) return undefined;
    }
    return shapes;
  }

  /** Of strings [start, start + count) those that their shape is wrong of, counted from the first. */
  #exceptionsOf(split: SplitBlock, shapes: ShapeTruths, start: number, count: number): Int32Array {
    const codes = openStrings(split, shapes, start, start + count);
    if (codes.length === 0) return codes;
    this.#knownOf(split);
    const { truths } = shapes;
    const { shapeCodes } = split;
    let exceptions = 0;
    for (const code of codes) {
      const truth = this.#walk(split, code, headOf(split, code)) ? TRUE : FALSE;
      if (truth !== truths[shapeCodes[code]!]!) codes[exceptions++] = code - start;
    }
    const readCount = this.#last?.walk.takeReadCount() ?? 0;
    spendSteps(Math.floor(readCount / BYTES_PER_STEP));
    return codes.slice(0, exceptions);
  }

  /** The test of a string that is read. */
  #read(split: SplitBlock, code: number): boolean {
    const { bytes, start, end } = split.range(code);
    spendSteps(Math.floor((end - start) / BYTES_PER_STEP));
    return this.#dfa?.test(bytes, start, end) ?? this.#matcher.test(decodeWtf8(bytes, start, end));
  }
}

/** Of strings [start, end) those that may be other than their shape says, ascending. */
function openStrings(
  split: SplitBlock,
  shapes: ShapeTruths,
  start: number,
  end: number,
): Int32Array {
  const open = stringsOfOpenShapes(split, shapes, start, end);
  const byWord = stringsByWord(split, shapes.byWord, start, end);
  if (byWord.length === 0) return open;
  const both = new Int32Array(open.length + byWord.length);
  both.set(open);
  both.set(byWord, open.length);
  return both.sort();
}

function stringsOfOpenShapes(
  { shapeCodes, textEntries }: SplitBlock,
  { isOpen, areOpenInline }: ShapeTruths,
  start: number,
  end: number,
): Int32Array {
  if (isOpen === undefined) return NO_STRINGS;
  let count = 0;
  if (areOpenInline) {
    const first = firstAtLeast(textEntries, 0, textEntries.length, start);
    const last = firstAtLeast(textEntries, 0, textEntries.length, end);
    const codes = new Int32Array(last - first);
    for (let at = first; at < last; at++) {
      codes[count] = textEntries[at]!;
      count += isOpen[shapeCodes[textEntries[at]!]!]!;
    }
    return codes.subarray(0, count);
  }
  const codes = new Int32Array(end - start);
  for (let code = start; code < end; code++) {
    codes[count] = code;
    count += isOpen[shapeCodes[code]!]!;
  }
  return codes.subarray(0, count);
}

/** Of shapes that some words make an exception of, the strings with one: each once. */
function stringsByWord(
  { shapeCodes, wordStarts, wordEntries }: SplitBlock,
  { usual, words }: ShapesByWord,
  start: number,
  end: number,
): readonly number[] {
  const codes = new Set<number>();
  for (const word of words) {
    const wordStart = wordStarts[word]!;
    const wordEnd = wordStarts[word + 1]!;
    let at = wordStart + firstAtLeast(wordEntries, wordStart, wordEnd - wordStart, start);
    for (; at < wordEnd && wordEntries[at]! < end; at++) {
      const code = wordEntries[at]!;
      if (usual[shapeCodes[code]!] !== OPEN) codes.add(code);
    }
  }
  return [...codes];
}

function headOf(split: SplitBlock, code: number): number {
  return split.headCodes[split.headRun(code)]!;
}

/** Whether all strings of a range pass: those that their shape is wrong of are given. */
function areAllTrue(
  shapeCodes: Uint8Array,
  start: number,
  count: number,
  truths: Uint8Array,
  exceptions: Int32Array,
): boolean {
  let next = 0;
  for (let row = 0; row < count; row++) {
    const isException = exceptions[next] === row;
    if (isException === (truths[shapeCodes[start + row]!] === TRUE)) return false;
    if (isException) next++;
  }
  return true;
}

/** What is known of one automaton and strings taken apart, as long as these are open. */
class SplitMemory {
  readonly #dfa: ByteDfa;
  readonly #holes: HoleSteps;
  readonly digits: DigitSteps;
  readonly #verdicts = new WeakMap<SplitBlock, SplitVerdicts>();

  constructor(dfa: ByteDfa) {
    this.#dfa = dfa;
    this.#holes = new HoleSteps(dfa);
    this.digits = new DigitSteps(dfa);
  }

  verdictsOf(split: SplitBlock): SplitVerdicts {
    let verdicts = this.#verdicts.get(split);
    if (verdicts === undefined) {
      verdicts = new SplitVerdicts(this.#dfa, split, this.#holes);
      this.#verdicts.set(split, verdicts);
    }
    return verdicts;
  }
}

/** Of the automata asked for last, in that order: saved queries ask for the same again and again. */
const memories = new Map<ByteDfa, SplitMemory>();

function memoryOf(dfa: ByteDfa): SplitMemory {
  const memory = memories.get(dfa) ?? new SplitMemory(dfa);
  memories.delete(dfa);
  memories.set(dfa, memory);
  if (memories.size > SPLIT_PATTERNS_MAX) {
    for (const oldest of memories.keys()) {
      memories.delete(oldest);
      break;
    }
  }
  return memory;
}
