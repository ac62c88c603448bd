import { type ColumnWords, type WordOrder, wordOrderOf } from '../../column/word-order.ts';
import { type ByteDfa, GAVE_UP } from '../../function/regex/byte-dfa.ts';

/** Where the words of a column lead from one state. */
export type WordSteps = {
  readonly reached: readonly number[];
  /** Where those of most strings lead. */
  readonly usual: number;
  /** The words that lead elsewhere; `undefined`: they are many. */
  readonly unusual: readonly number[] | undefined;
};

/** Of more words the strings are not looked up one word after the other. */
const UNUSUAL_WORDS_MAX = 256;

/** So few words are not looked at byte by byte together. */
const FEW_WORDS_MAX = 4;

/** Words at places [start, end) of their order, of which the first `depth` bytes are the same. */
type AlikeWords = { readonly start: number; readonly end: number; readonly depth: number };

/** Words at places [start, end) of their order that all lead to one state. */
type Landing = { readonly state: number; readonly start: number; readonly end: number };

/**
 * Where an automaton comes to behind the words of a column. It is led through their first bytes, one byte for all
 * words that begin alike, up to states that no byte of a word leads away from: of a text to be found that is most of
 * them after a byte, and the words are not looked at. The slow form steps over each word.
 *
 * Invariant: what is remembered is of one generation of the automaton.
 */
export class WordLandings {
  readonly #dfa: ByteDfa;
  readonly #split: ColumnWords;
  #order: WordOrder | undefined;
  #generation = -1;
  readonly #known = new Map<number, WordSteps>();
  /** By state: whether all bytes that words have lead back to it. */
  readonly #isFinal = new Map<number, boolean>();
  /** Bytes that stand for all that words have. */
  #bytes: Uint8Array | undefined;
  /** Those of the state at hand, in the order of their places. */
  #landings: Landing[] = [];

  constructor(dfa: ByteDfa, split: ColumnWords) {
    this.#dfa = dfa;
    this.#split = split;
  }

  /** `undefined` where the automaton cannot tell, or began anew, and where no string holds a word. */
  from(state: number): WordSteps | undefined {
    if (this.#generation !== this.#dfa.generation) {
      this.#generation = this.#dfa.generation;
      this.#known.clear();
      this.#isFinal.clear();
    }
    let steps = this.#known.get(state);
    if (steps === undefined) {
      steps = this.#newSteps(state);
      if (steps !== undefined) this.#known.set(state, steps);
    }
    return steps;
  }

  #newSteps(state: number): WordSteps | undefined {
    this.#order ??= wordOrderOf(this.#split);
    const order = this.#order;
    this.#landings = [];
    if (order.words.length === 0) return undefined;
    if (!this.#lead(order, state, { start: 0, end: order.words.length, depth: 0 })) {
      return undefined;
    }
    const stringCounts = new Map<number, number>();
    for (const { state, start, end } of this.#landings) {
      const count = order.stringCount(start, end);
      stringCounts.set(state, (stringCounts.get(state) ?? 0) + count);
    }
    const reached = [...stringCounts.keys()];
    const usual = reached.reduce((most, state) =>
      stringCounts.get(state)! > stringCounts.get(most)! ? state : most,
    );
    return { reached, usual, unusual: this.#unusual(order, usual) };
  }

  #unusual({ words }: WordOrder, usual: number): readonly number[] | undefined {
    const unusual: number[] = [];
    for (const { state, start, end } of this.#landings) {
      if (state === usual) continue;
      if (unusual.length + end - start > UNUSUAL_WORDS_MAX) return undefined;
      for (let place = start; place < end; place++) unusual.push(words[place]!);
    }
    return unusual;
  }

  /**
   * Adds the landings of words at places [start, end), of which the first `depth` bytes are alike and lead to
   * `state`; false where the automaton cannot tell. No deeper than a word is long: WORD_SIZE_MAX.
   */
  #lead(order: WordOrder, state: number, words: AlikeWords): boolean {
    const { start, end, depth } = words;
    const staysThere = this.#staysThere(order, state);
    if (staysThere === undefined) return false;
    if (staysThere) {
      this.#add(state, start, end);
      return true;
    }
    if (end - start <= FEW_WORDS_MAX) return this.#stepEach(order, state, words);
    let from = start;
    if (order.size(from) === depth) this.#add(state, from, ++from);
    while (from < end) {
      const to = order.endOfSame(from, end, depth);
      const at = order.start(from) + depth;
      const next = this.#dfa.step(state, this.#split.words.bytes, at, at + 1);
      if (!this.#isKnown(next)) return false;
      if (!this.#lead(order, next, { start: from, end: to, depth: depth + 1 })) return false;
      from = to;
    }
    return true;
  }

  #stepEach(order: WordOrder, state: number, { start, end, depth }: AlikeWords): boolean {
    for (let place = start; place < end; place++) {
      const from = order.start(place);
      const next = this.#dfa.step(
        state,
        this.#split.words.bytes,
        from + depth,
        from + order.size(place),
      );
      if (!this.#isKnown(next)) return false;
      this.#add(next, place, place + 1);
    }
    return true;
  }

  #isKnown(state: number): boolean {
    return state !== GAVE_UP && this.#dfa.generation === this.#generation;
  }

  #add(state: number, start: number, end: number): void {
    const last = this.#landings.at(-1);
    if (last?.state !== state) this.#landings.push({ state, start, end });
    else this.#landings[this.#landings.length - 1] = { state, start: last.start, end };
  }

  /** Whether all bytes that words have lead back to a state; `undefined` where the automaton cannot tell. */
  #staysThere({ hasByte }: WordOrder, state: number): boolean | undefined {
    if (state < 0) return true;
    const known = this.#isFinal.get(state);
    if (known !== undefined) return known;
    this.#bytes ??= this.#dfa.standingFor(hasByte);
    const bytes = this.#bytes;
    let isFinal = true;
    for (let at = 0; at < bytes.length && isFinal; at++) {
      const next = this.#dfa.step(state, bytes, at, at + 1);
      if (!this.#isKnown(next)) return undefined;
      isFinal = next === state;
    }
    this.#isFinal.set(state, isFinal);
    return isFinal;
  }
}
