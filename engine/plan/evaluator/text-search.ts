import { carvedUint8 } from '../../column/arrays.ts';
import { cacheGeneration } from '../../column/caches.ts';
import { firstAtLeast, partitionPoint, type RowRanges } from '../../column/positions.ts';
import { type ToldStrings, toldStringsWith, wordsWith } from '../../column/split-index.ts';
import { isInline } from '../../column/split-shape.ts';
import { ByteNeedle, SoughtText } from '../../column/text-signature.ts';
import { BOOL } from '../../column/type.ts';
import {
  constantVector,
  FALSE,
  type SplitBlock,
  type StringBlock,
  TRUE,
  UNKNOWN,
  type Vector,
} from '../../column/vector.ts';
import { decodeWtf8, encodeWtf8, LONE_SURROGATE } from '../../column/wtf8.ts';
import type { ByteDfa } from '../../function/regex/byte-dfa.ts';
import type { TextMatcher } from '../../function/regex/text-matcher.ts';
import type { TextTest } from '../../function/scalar-function.ts';
import { literalMatcher } from '../../function/text/regular-expression.ts';
import { holdsText } from '../../function/text/text-units.ts';
import { spendSteps } from '../../function/work-meter.ts';
import { SEARCHED_TEXT_LENGTH_MAX } from '../../limits.ts';
import { QueryError } from '../../query-error.ts';
import { type Call, factsOf } from '../call-facts.ts';
import type { Expression } from '../expression.ts';
import type { LiftedFunction } from './lift.ts';
import { RANGE_MIN, SplitSearch } from './split-search.ts';

/** A test of strings, made on their bytes where they lie in their block. */
export interface TextSearch {
  /** Whether the string `bytes[start, end)` passes. */
  test(bytes: Uint8Array, start: number, end: number): boolean;
  /** The test of the strings `codes[0, count)` of the block, as truths; UNKNOWN for a code of -1. */
  testAll(block: StringBlock, codes: Int32Array, count: number): Uint8Array;
  /** The same for strings taken apart. */
  testSplit(split: SplitBlock, codes: Int32Array, count: number): Uint8Array;
  /** The same for strings [start, start + count); `undefined` where that is no quicker than by codes. */
  testRange(split: SplitBlock, start: number, count: number): Vector | undefined;
}

/** A test of one string, which can be made where it lies. */
type StringTest = { readonly input: Expression; readonly test: LiftedFunction };

/** `undefined` for a call that tests no string, or not for what is known beforehand. */
export function stringTest(call: Call): StringTest | undefined {
  const known = knownTest(call);
  if (known === undefined) return undefined;
  const { input, test } = known;
  if (test.kind === 'contains') return { input, test: containsTest(test.text) };
  const matcher = matcherOf(test);
  return matcher && { input, test: matcherTest(matcher, test.pieces) };
}

function containsTest(text: string): LiftedFunction {
  return {
    type: BOOL,
    nulls: 'propagate',
    evaluate: (value) => holdsText(value as string, text), // `input` is a STRING.
    ...(text.length <= SEARCHED_TEXT_LENGTH_MAX && { search: new ByteSearch(text) }),
  };
}

function matcherTest(matcher: TextMatcher, pieces: TextTest['pieces']): LiftedFunction {
  const isSought = pieces?.every((piece) => piece.length <= SEARCHED_TEXT_LENGTH_MAX);
  return {
    type: BOOL,
    nulls: 'propagate',
    evaluate: (value) => matcher.test(value as string), // `input` is a STRING.
    search: isSought ? new PiecesSearch(pieces!, matcher) : new RegexSearch(matcher),
  };
}

/** A STRING, and what a call tests of it. */
type KnownTest = { readonly input: Expression; readonly test: TextTest };

/**
 * `LIKE`, `REGEXP_CONTAINS` and whatever else tests a string for a text known beforehand; `STRPOS(input, 'text') > 0` is
 * one. `undefined` for all others, and for a wrong pattern: it is wrong when a live row meets it.
 */
export function knownTest(call: Call): KnownTest | undefined {
  const [input, sought] = call.arguments;
  if (input === undefined || sought?.op !== 'literal') return undefined;
  const { value } = sought;
  if (call.name === '>') {
    return value === 0 && input.op === 'call' ? testOfPosition(input) : undefined;
  }
  if (input.type.kind !== 'STRING' || typeof value !== 'string') return undefined;
  const { textTest } = factsOf(call);
  const test = textTest && ignoringErrors(() => textTest(value));
  return test && { input, test };
}

function testOfPosition(call: Call): KnownTest | undefined {
  const [input, sought] = call.arguments;
  if (input?.type.kind !== 'STRING' || sought?.op !== 'literal') return undefined;
  const { value: text } = sought;
  if (typeof text !== 'string' || factsOf(call).isPosition !== true) return undefined;
  // Half a surrogate pair has no UTF-8 to search for.
  if (LONE_SURROGATE.test(text)) return undefined;
  return { input, test: { kind: 'contains', text, matcher: () => undefined } };
}

/** The test for strings where they lie, where there is one. */
export function matcherOf({ matcher }: TextTest): TextMatcher | undefined {
  return ignoringErrors(matcher);
}

function ignoringErrors<T>(find: () => T | undefined): T | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}

/** Bytes that an automaton takes, or a search looks through, in the time of a step. */
const BYTES_PER_STEP = 4;

/** After so many strings it is known whether looking for a text first repays. */
const FILTER_TRIALS = 1024;
/** It does when no more of them than this share hold the text. */
const FILTER_SHARE_MAX = 0.5;

/** Shorter texts are in too many strings, and take as long to look for as the pattern. */
const FILTER_LENGTH_MIN = 3;

/** A search that has its own way with strings that lie whole, and a matcher's with those taken apart. */
abstract class MatcherSearch implements TextSearch {
  /** Made when the first strings taken apart are met. */
  #split: SplitSearch | undefined;

  abstract test(bytes: Uint8Array, start: number, end: number): boolean;

  /** The matcher of the same test; asked for once. */
  protected abstract matcher(): TextMatcher;

  testAll({ bytes, offsets }: StringBlock, codes: Int32Array, count: number): Uint8Array {
    const truths = carvedUint8(count);
    for (let i = 0; i < count; i++) {
      const code = codes[i]!;
      if (code < 0) truths[i] = UNKNOWN;
      else truths[i] = this.test(bytes, offsets[code]!, offsets[code + 1]!) ? TRUE : FALSE;
    }
    return truths;
  }

  testSplit(split: SplitBlock, codes: Int32Array, count: number): Uint8Array {
    return this.#splitSearch().test(split, codes, count);
  }

  testRange(split: SplitBlock, start: number, count: number): Vector | undefined {
    // To make an automaton takes longer than to test few strings, which may not need one.
    return count < RANGE_MIN ? undefined : this.#splitSearch().testRange(split, start, count);
  }

  #splitSearch(): SplitSearch {
    this.#split ??= new SplitSearch(this.matcher());
    return this.#split;
  }
}

/**
 * The test of a pattern on strings where they lie, by its automaton; by `matcher.test` for those that it
 * cannot tell.
 */
export class RegexSearch extends MatcherSearch {
  readonly #matcher: TextMatcher;
  /** `undefined` until the first string. */
  #automaton: { readonly dfa: ByteDfa | undefined } | undefined;
  /** A text that each match holds: looked for first as long as that repays. */
  #filter: ByteSearch | undefined;
  #filterTrials = 0;
  #filterPasses = 0;

  constructor(matcher: TextMatcher) {
    super();
    this.#matcher = matcher;
  }

  override test(bytes: Uint8Array, start: number, end: number): boolean {
    const { dfa } = this.#automaton ?? this.#begin();
    if (this.#filter !== undefined && !this.#passes(this.#filter.test(bytes, start, end))) {
      return false;
    }
    spendSteps(1 + Math.floor((end - start) / BYTES_PER_STEP));
    return dfa?.test(bytes, start, end) ?? this.#matcher.test(decodeWtf8(bytes, start, end));
  }

  protected override matcher(): TextMatcher {
    return this.#matcher;
  }

  #begin(): { readonly dfa: ByteDfa | undefined } {
    const dfa = this.#matcher.automaton();
    this.#automaton = { dfa };
    const text = this.#matcher.needed.find((texts) => texts.length === 1)?.[0];
    // What matches at the start only is decided there.
    const isFilter =
      text !== undefined &&
      text.length >= FILTER_LENGTH_MIN &&
      text.length <= SEARCHED_TEXT_LENGTH_MAX;
    if (isFilter && dfa?.isAtStartOnly === false) {
      this.#filter = new ByteSearch(text);
    }
    return this.#automaton;
  }

  /** Counts what the filter said of a string. */
  #passes(passes: boolean): boolean {
    this.#filterTrials++;
    if (passes) this.#filterPasses++;
    if (this.#filterTrials === FILTER_TRIALS) {
      if (this.#filterPasses > FILTER_SHARE_MAX * FILTER_TRIALS) this.#filter = undefined;
      this.#filterTrials = 0;
      this.#filterPasses = 0;
    }
    return passes;
  }
}

/**
 * The test `value.includes(text)` for strings where they lie, as UTF-8, without making JavaScript
 * strings of them. A string is first looked at where the one before had its hit: the URLs of a project
 * mostly share their beginning.
 *
 * Measured: 19 ns for a URL of 137 bytes, where `Buffer.indexOf` over all URLs end to end takes 34,
 * for that begins anew after each hit.
 */
export class ByteSearch extends MatcherSearch {
  readonly #text: string;
  readonly #needle: ByteNeedle;
  /** For strings taken apart, where the text is of a word. */
  readonly #words: WordSearch | undefined;
  /** Where in its string the last hit began. */
  #hitBefore = 0;

  /** `text` has no lone surrogates: UTF-8 would not tell them apart. */
  constructor(text: string) {
    super();
    this.#text = text;
    const sought = new SoughtText(text);
    this.#needle = sought.needle;
    this.#words = sought.isOfWord ? new WordSearch(sought) : undefined;
  }

  override test(bytes: Uint8Array, start: number, end: number): boolean {
    const needle = this.#needle;
    if (needle.isAt(bytes, start + this.#hitBefore, end)) return true;
    const at = needle.find(bytes, start, end);
    if (at < 0) return false;
    this.#hitBefore = at - start;
    return true;
  }

  override testSplit(split: SplitBlock, codes: Int32Array, count: number): Uint8Array {
    return this.#words?.test(split, codes, count) ?? super.testSplit(split, codes, count);
  }

  override testRange(split: SplitBlock, start: number, count: number): Vector | undefined {
    return this.#words?.testRange(split, start, count) ?? super.testRange(split, start, count);
  }

  protected override matcher(): TextMatcher {
    return literalMatcher(this.#text);
  }
}

/** The test whether strings have some texts in their order (`TextTest.pieces`), by looking for one behind the other. */
export class PiecesSearch extends MatcherSearch {
  readonly #matcher: TextMatcher;
  readonly #first: ByteNeedle;
  readonly #middle: readonly ByteNeedle[];
  /** `undefined`: the string is the first, and no more. */
  readonly #last: ByteNeedle | undefined;

  /** `pieces`: at least one. `matcher`: of the same test. */
  constructor(pieces: readonly string[], matcher: TextMatcher) {
    super();
    const [first, ...others] = pieces.map(
      (text) => new ByteNeedle(new Uint8Array(encodeWtf8(text))),
    );
    this.#matcher = matcher;
    this.#first = first!;
    this.#last = others.pop();
    this.#middle = others;
  }

  override test(bytes: Uint8Array, start: number, end: number): boolean {
    const first = this.#first;
    const last = this.#last;
    if (!first.isAt(bytes, start, end)) return false;
    let at = start + first.bytes.length;
    if (last === undefined) return at === end;
    const behind = end - last.bytes.length;
    if (behind < at || !last.isAt(bytes, behind, end)) return false;
    // The leftmost place for a piece leaves most room for the others.
    for (const piece of this.#middle) {
      const found = piece.find(bytes, at, behind);
      if (found < 0) return false;
      at = found + piece.bytes.length;
    }
    return true;
  }

  protected override matcher(): TextMatcher {
    return this.#matcher;
  }
}

/** Of a shape, if it is not 0, for it was not looked at yet: its constant bytes hold the text. */
const HOLDS = 1;
/** Its text that is in no table may hold it. */
const HAS_TEXT = 2;
/** Only words of a string may hold it. */
const LACKS = 3;

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
