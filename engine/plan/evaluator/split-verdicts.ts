import { must } from '../../assert.ts';
import { type ColumnWords, type WordOrder, wordOrderOf } from '../../column/split-index.ts';
import { ANY, bytesInHole, isHole, isInline, WORD } from '../../column/split-shape.ts';
import { FALSE, type SplitBlock, type StringBlock, TRUE } from '../../column/vector.ts';
import { ACCEPTED, type ByteDfa, DEAD, GAVE_UP } from '../../function/regex/byte-dfa.ts';
import { SPLIT_STATES_MAX } from '../../limits.ts';

/** What a pattern comes to for all strings of one kind, one byte each. Whatever fills the holes, they match. */
export const ALWAYS = 1;
/** Whatever fills the holes, they do not match. */
export const NEVER = 2;
/** What fills the holes decides. */
export const OPEN = 3;

/** Not asked for yet. */
export const UNSET = 0;

/**
 * Most words of a column for which an automaton is run over each word, some 20 ns each, to find the states where they end.
 * For more words it uses the bytes that they may have.
 */
const SPLIT_WORDS_MAX = 8_192;

/** States, ascending, that an automaton may be in. */
type States = readonly number[];

/**
 * What an automaton says of strings that were taken apart, by their heads and shapes: through the
 * constant bytes of a shape it steps, and behind a hole it may be in any state to which bytes of that
 * hole lead.
 */
export class SplitVerdicts {
  readonly #dfa: ByteDfa;
  readonly #split: SplitBlock;
  readonly #holes: HoleSteps;
  /** By head: one verdict for each shape, or UNSET; heads that lead to one state share theirs. */
  readonly #ofHeads: (Uint8Array | undefined)[] = [];
  readonly #ofStates = new Map<number, Uint8Array>();
  readonly #ofShapes = new Map<Readonly<Uint8Array>, ShapeTruths>();
  #generation = -1;
  readonly #words: WordLandings;

  /** `holes`: of the same automaton. */
  constructor(dfa: ByteDfa, split: SplitBlock, holes: HoleSteps) {
    this.#dfa = dfa;
    this.#split = split;
    this.#holes = holes;
    this.#words = new WordLandings(dfa, split);
  }

  /** For each shape the verdict on strings of it with this head, as far as `judge` was asked. */
  ofHead(head: number): Readonly<Uint8Array> {
    return this.#ofHeads[head] ?? this.#begin(head, this.#headState(head));
  }

  /** The verdicts on strings with this head, all shapes judged. */
  ofShapes(head: number): ShapeTruths {
    const verdicts = this.ofHead(head);
    let truths = this.#ofShapes.get(verdicts);
    if (truths === undefined) {
      for (let shape = 0; shape < verdicts.length; shape++) {
        if (verdicts[shape] === UNSET) this.judge(head, shape);
      }
      truths = new ShapeTruths(verdicts, this.#split.shapes, this.#shapesByWord(head, verdicts));
      this.#ofShapes.set(verdicts, truths);
    }
    return truths;
  }

  /** The same if somebody has asked for them, behind a head that leads where this one does. */
  findShapes(head: number): ShapeTruths | undefined {
    return this.#ofShapes.get(this.ofHead(head));
  }

  /** The verdict on strings of a head and a shape: OPEN where the automaton cannot tell. */
  judge(head: number, shape: number): number {
    const verdicts = must(this.#ofHeads[head], 'a head is begun before its shapes');
    const first = this.#firstAlike(shape);
    const known = first === shape ? UNSET : verdicts[first]!;
    const verdict = known === UNSET ? this.#judge(this.#headState(head), shape) : known;
    // What is so stays so, also when the automaton begins anew.
    verdicts[shape] = verdict;
    return verdict;
  }

  /** The first shape with the same bytes. */
  #firstAlike(shape: number): number {
    return this.#split.shapesAlike?.[shape] ?? shape;
  }

  #headState(head: number): number {
    const { bytes, offsets } = this.#split.heads;
    return this.#dfa.step(this.#dfa.start(), bytes, offsets[head]!, offsets[head + 1]!);
  }

  #begin(head: number, state: number): Uint8Array {
    if (this.#generation !== this.#dfa.generation) this.#ofStates.clear();
    this.#generation = this.#dfa.generation;
    let verdicts = this.#ofStates.get(state);
    if (verdicts === undefined) {
      verdicts = new Uint8Array(this.#split.shapes.offsets.length - 1);
      if (state === GAVE_UP) verdicts.fill(OPEN);
      this.#ofStates.set(state, verdicts);
    }
    this.#ofHeads[head] = verdicts;
    return verdicts;
  }

  #judge(headState: number, shape: number): number {
    const { offsets } = this.#split.shapes;
    return this.judgeFrom(headState, offsets[shape]!, offsets[shape + 1]!);
  }

  /** Of the open shapes those that only some words make an exception of, if these are in few strings. */
  #shapesByWord(head: number, verdicts: Readonly<Uint8Array>): ShapesByWord {
    const { offsets } = this.#split.shapes;
    const usual = new Uint8Array(verdicts.length).fill(OPEN);
    const words = new Set<number>();
    for (let shape = 0; shape < verdicts.length; shape++) {
      if (verdicts[shape] !== OPEN) continue;
      const first = this.#firstAlike(shape);
      if (first < shape && verdicts[first] === OPEN) {
        usual[shape] = usual[first]!;
        continue;
      }
      const own = new Set<number>();
      const verdict = this.#through(
        this.#headState(head),
        { start: offsets[shape]!, end: offsets[shape + 1]! },
        (states, hole) => this.#usuallyBehind(states, hole, own),
      );
      if (verdict === OPEN || !this.#areInFewStrings(own)) continue;
      usual[shape] = verdict;
      for (const word of own) words.add(word);
    }
    return new ShapesByWord(usual, Int32Array.from(words), (shape, word) =>
      this.#judgeWith(head, shape, word),
    );
  }

  /**
   * The verdict on strings of a head and a shape that have a word in some hole, and any in others: what it
   * comes to in each of the holes, where that is the same.
   */
  #judgeWith(head: number, shape: number, word: number): number {
    const { bytes, offsets } = this.#split.shapes;
    const range = { start: offsets[shape]!, end: offsets[shape + 1]! };
    if (this.#split.hasWordsCutOff?.[shape] === 1) return OPEN;
    let verdict = UNSET;
    for (let at = range.start; at < range.end; at++) {
      if (bytes[at] !== WORD) continue;
      const withWordHere = this.#through(this.#headState(head), range, (states, hole, place) =>
        place === at ? this.#behindWord(states, word) : this.behindHole(states, hole),
      );
      if (verdict !== UNSET && verdict !== withWordHere) return OPEN;
      verdict = withWordHere;
    }
    return verdict === UNSET ? OPEN : verdict;
  }

  #areInFewStrings(words: ReadonlySet<number>): boolean {
    const { wordStarts, shapeCodes } = this.#split;
    let count = 0;
    for (const word of words) count += wordStarts[word + 1]! - wordStarts[word]!;
    return count * STRINGS_PER_WORD_HIT_MIN <= shapeCodes.length;
  }

  /** The verdict on strings that go on from a state with `[start, end)` of the bytes of shapes. */
  judgeFrom(state: number, start: number, end: number): number {
    return this.#through(state, { start, end }, (states, hole) => this.behindHole(states, hole));
  }

  /**
   * `behindHole`: where what fills the hole at a place in the bytes of shapes leads, of the strings that the
   * verdict is on.
   */
  #through(
    state: number,
    { start, end }: { readonly start: number; readonly end: number },
    behindHole: (states: States, hole: number, place: number) => States | undefined,
  ): number {
    const { generation } = this.#dfa;
    const { bytes } = this.#split.shapes;
    let states: States = [state];
    for (let at = start; at < end; ) {
      if (isSure(states)) break;
      if (isHole(bytes[at]!)) {
        const behind = behindHole(states, bytes[at]!, at);
        if (behind === undefined || this.#dfa.generation !== generation) return OPEN;
        states = behind;
        at++;
        continue;
      }
      const from = at;
      while (at < end && !isHole(bytes[at]!)) at++;
      states = this.#stepAll(states, bytes, from, at);
      if (states.includes(GAVE_UP) || this.#dfa.generation !== generation) return OPEN;
    }
    return this.#verdictAtEnd(states);
  }

  #verdictAtEnd(states: States): number {
    const matches = this.#dfa.matchesAtEnd(states[0]!);
    for (let index = 1; index < states.length; index++) {
      if (this.#dfa.matchesAtEnd(states[index]!) !== matches) return OPEN;
    }
    if (matches === undefined) return OPEN;
    return matches ? ALWAYS : NEVER;
  }

  /** Where what fills a hole may lead; `undefined`: too many to tell. */
  behindHole(states: States, hole: number): States | undefined {
    if (!this.#isOfKnownWords(hole)) return this.#holes.behind(states, hole);
    if (states.length === 1) return this.#words.from(states[0]!)?.reached;
    const behind: number[] = [];
    for (const state of states) {
      const steps = this.#words.from(state);
      if (steps === undefined) return undefined;
      behind.push(...steps.reached);
    }
    return distinct(behind);
  }

  /** The same without words that lead elsewhere than most do from a state: these are added to `unusual`. */
  #usuallyBehind(states: States, hole: number, unusual: Set<number>): States | undefined {
    if (!this.#isOfKnownWords(hole)) return this.#holes.behind(states, hole);
    const behind: number[] = [];
    for (const state of states) {
      const steps = this.#words.from(state);
      if (steps === undefined) return undefined;
      if (steps.unusual === undefined) behind.push(...steps.reached);
      else behind.push(steps.usual);
      for (const word of steps.unusual ?? []) unusual.add(word);
    }
    return distinct(behind);
  }

  /** Whether a hole is filled by words of the column, few enough to look at each. */
  #isOfKnownWords(hole: number): boolean {
    const wordCount = this.#split.words.offsets.length - 1;
    return hole === WORD && wordCount > 0 && wordCount <= SPLIT_WORDS_MAX;
  }

  /** Where one word leads; `undefined` where the automaton cannot tell. */
  #behindWord(states: States, word: number): States | undefined {
    const { bytes, offsets } = this.#split.words;
    const behind = this.#stepAll(states, bytes, offsets[word]!, offsets[word + 1]!);
    return behind.includes(GAVE_UP) ? undefined : behind;
  }

  /** Where some bytes lead; of no use when the automaton begins anew meanwhile. */
  #stepAll(states: States, bytes: Uint8Array, from: number, to: number): States {
    if (states.length === 1) return this.#stepOne(states, bytes, from, to);
    const { generation } = this.#dfa;
    const behind: number[] = [];
    for (const state of states) {
      if (this.#dfa.generation !== generation) return [GAVE_UP];
      behind.push(this.#dfa.step(state, bytes, from, to));
    }
    return distinct(behind);
  }

  /** The same of one state, which is mostly all there is. */
  #stepOne(states: States, bytes: Uint8Array, from: number, to: number): States {
    const state = states[0]!;
    const behind = this.#dfa.step(state, bytes, from, to);
    return behind === state ? states : [behind];
  }
}

/** Fewer strings for each that has one of the words are as quickly looked at in their order. */
const STRINGS_PER_WORD_HIT_MIN = 16;

/** What the shapes alone say of strings whose heads lead to one state. */
export class ShapeTruths {
  /** For each shape the verdict on its strings without one of `byWord.words`. */
  readonly verdicts: Readonly<Uint8Array>;
  /** The same as TRUE or FALSE; FALSE for one that is open all the same. */
  readonly truths: Uint8Array;
  /** 1 for each shape that is open all the same; `undefined`: none is. */
  readonly isOpen: Uint8Array | undefined;
  /** Whether all open ones have a hole for text that is in no table. */
  readonly areOpenInline: boolean;
  /** The shapes of which a string with one of some words may be an exception. */
  readonly byWord: ShapesByWord;
  /** What all shapes say; `undefined` where some say otherwise, or not of all of their strings. */
  readonly same: boolean | undefined;
  /** Whether all shapes but the open ones say TRUE. */
  readonly areOthersTrue: boolean;

  constructor(
    verdicts: Readonly<Uint8Array>,
    { bytes, offsets }: StringBlock,
    byWord: ShapesByWord,
  ) {
    this.byWord = byWord;
    const shapeCount = verdicts.length;
    const usual = new Uint8Array(shapeCount);
    const isOpen = new Uint8Array(shapeCount);
    this.truths = new Uint8Array(shapeCount).fill(FALSE);
    let areOpenInline = true;
    for (let shape = 0; shape < shapeCount; shape++) {
      const verdict = verdicts[shape] === OPEN ? byWord.usual[shape]! : verdicts[shape]!;
      usual[shape] = verdict;
      if (verdict === ALWAYS) this.truths[shape] = TRUE;
      if (verdict !== OPEN) continue;
      isOpen[shape] = 1;
      areOpenInline &&= bytes.subarray(offsets[shape]!, offsets[shape + 1]!).some(isInline);
    }
    this.verdicts = usual;
    this.isOpen = isOpen.includes(1) ? isOpen : undefined;
    this.areOthersTrue = !usual.includes(NEVER);
    this.areOpenInline = areOpenInline;
    const first = verdicts[0];
    if (first !== OPEN && verdicts.every((verdict) => verdict === first)) {
      this.same = first === ALWAYS;
    }
  }
}

/** Nothing that comes changes them any more. */
function isSure(states: States): boolean {
  return states.length === 1 && (states[0] === DEAD || states[0] === ACCEPTED);
}

function distinct(states: States): States {
  if (states.length < 2) return states;
  if (states.length > 2) return [...new Set(states)].sort((left, right) => left - right);
  // Two are mostly all there are.
  const [left, right] = states as [number, number];
  if (left === right) return [left];
  return left < right ? states : [right, left];
}

/** A hole is a byte. */
const HOLES = 256;

/** To which states what fills a hole may lead: the same for all shapes. */
export class HoleSteps {
  readonly #dfa: ByteDfa;
  #generation = -1;
  /** By the hole and the state before it. */
  readonly #knownOfOne = new Map<number, States | undefined>();
  /** By the hole and the states before it, where these are several. */
  readonly #known = new Map<string, States | undefined>();
  /** By the hole: bytes that stand for all that it may have. */
  readonly #bytes = new Map<number, Uint8Array>();

  constructor(dfa: ByteDfa) {
    this.#dfa = dfa;
  }

  /** `undefined`: too many to tell. */
  behind(states: States, hole: number): States | undefined {
    if (this.#generation !== this.#dfa.generation) {
      this.#generation = this.#dfa.generation;
      this.#known.clear();
      this.#knownOfOne.clear();
    }
    if (states.length > 1) return this.#find(this.#known, `${hole}:${states.join()}`, states, hole);
    return this.#find(this.#knownOfOne, states[0]! * HOLES + hole, states, hole);
  }

  #find<Key>(
    known: Map<Key, States | undefined>,
    key: Key,
    states: States,
    hole: number,
  ): States | undefined {
    const found = known.get(key);
    if (found !== undefined || known.has(key)) return found;
    const behind = this.#reach(states, hole);
    if (this.#generation !== this.#dfa.generation) return undefined;
    known.set(key, behind);
    return behind;
  }

  /** All states that one byte or more lead to; of an ANY hole, which may be empty, those before it too. */
  #reach(states: States, hole: number): States | undefined {
    const bytes = this.#bytesOf(hole);
    const reached = new Set<number>(hole === ANY ? states : []);
    const from = [...states];
    for (let state = from.pop(); state !== undefined; state = from.pop()) {
      for (let at = 0; at < bytes.length; at++) {
        if (this.#generation !== this.#dfa.generation) return undefined;
        const next = this.#dfa.step(state, bytes, at, at + 1);
        if (next === GAVE_UP || reached.size > SPLIT_STATES_MAX) return undefined;
        if (reached.has(next)) continue;
        reached.add(next);
        from.push(next);
      }
    }
    return [...reached].sort((left, right) => left - right);
  }

  #bytesOf(hole: number): Uint8Array {
    let bytes = this.#bytes.get(hole);
    if (bytes === undefined) {
      bytes = this.#dfa.standingFor(bytesInHole(hole));
      this.#bytes.set(hole, bytes);
    }
    return bytes;
  }
}

/** Open shapes whose strings are alike but for those with some words: behind heads that lead to one state. */
export class ShapesByWord {
  /** For each shape the verdict on its strings without one of `words`; OPEN where that is not known. */
  readonly usual: Readonly<Uint8Array>;
  readonly words: Int32Array;
  readonly #judge: (shape: number, word: number) => number;
  /** By word: for each shape the verdict on its strings with that word, or UNSET. */
  readonly #verdicts = new Map<number, Uint8Array>();

  /** `judge`: the verdict on the strings of a shape that have a word somewhere. */
  constructor(
    usual: Readonly<Uint8Array>,
    words: Int32Array,
    judge: (shape: number, word: number) => number,
  ) {
    this.usual = usual;
    this.words = words;
    this.#judge = judge;
  }

  /** The verdict on the strings of a shape that have one of `words`. */
  verdictWith(word: number, shape: number): number {
    let verdicts = this.#verdicts.get(word);
    if (verdicts === undefined) {
      verdicts = new Uint8Array(this.usual.length).fill(UNSET);
      this.#verdicts.set(word, verdicts);
    }
    if (verdicts[shape] === UNSET) verdicts[shape] = this.#judge(shape, word);
    return verdicts[shape]!;
  }
}

/** Where the words of a column lead from one state. */
type WordSteps = {
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
