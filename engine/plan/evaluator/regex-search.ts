import { decodeWtf8 } from '../../column/wtf8.ts';
import type { ByteDfa } from '../../function/regex/byte-dfa.ts';
import type { TextMatcher } from '../../function/regex/text-matcher.ts';
import { spendSteps } from '../../function/work-meter.ts';
import { SEARCHED_TEXT_LENGTH_MAX } from '../../limits.ts';
import { ByteSearch } from './byte-search.ts';
import { MatcherSearch } from './matcher-search.ts';

/** Bytes an automaton takes in the time of a step. */
const BYTES_PER_STEP = 4;

/** After so many strings it is known whether looking for a text first repays. */
const FILTER_TRIALS = 1024;
/** It does when no more of them than this share hold the text. */
const FILTER_SHARE_MAX = 0.5;

/** Shorter texts are in too many strings, and take as long to look for as the pattern. */
const FILTER_LENGTH_MIN = 3;

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
