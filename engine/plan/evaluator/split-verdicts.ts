import { must } from '../../assert.ts';
import { ANY, bytesInHole, isHole, isInline, WORD } from '../../column/split-shape.ts';
import { FALSE, type SplitBlock, type StringBlock, TRUE } from '../../column/vector.ts';
import { ACCEPTED, type ByteDfa, DEAD, GAVE_UP } from '../../function/regex/byte-dfa.ts';
import { SPLIT_STATES_MAX, SPLIT_WORDS_MAX } from '../../limits.ts';

/** Whatever fills the holes of a shape, the string matches. */
export const ALWAYS = 1;
/** … it does not. */
export const NEVER = 2;
/** What fills the holes decides. */
export const OPEN = 3;

/** Not asked for yet. */
export const UNSET = 0;

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
  readonly #behindWords = new Map<number, States>();
  #wordsGeneration = -1;

  /** `holes`: of the same automaton. */
  constructor(dfa: ByteDfa, split: SplitBlock, holes: HoleSteps) {
    this.#dfa = dfa;
    this.#split = split;
    this.#holes = holes;
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
      truths = new ShapeTruths(verdicts, this.#split.shapes);
      this.#ofShapes.set(verdicts, truths);
    }
    return truths;
  }

  /** The verdict on strings of a head and a shape: OPEN where the automaton cannot tell. */
  judge(head: number, shape: number): number {
    const verdict = this.#judge(this.#headState(head), shape);
    const verdicts = must(this.#ofHeads[head], 'a head is begun before its shapes');
    // What is so stays so, also when the automaton begins anew.
    verdicts[shape] = verdict;
    return verdict;
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

  /** The verdict on strings that go on from a state with `[start, end)` of the bytes of shapes. */
  judgeFrom(state: number, start: number, end: number): number {
    const { generation } = this.#dfa;
    const { bytes } = this.#split.shapes;
    let states: States = [state];
    for (let at = start; at < end; ) {
      if (isSure(states)) break;
      if (isHole(bytes[at]!)) {
        const behind = this.behindHole(states, bytes[at]!);
        if (behind === undefined || this.#dfa.generation !== generation) return OPEN;
        states = behind;
        at++;
        continue;
      }
      const from = at;
      while (at < end && !isHole(bytes[at]!)) at++;
      states = distinct(this.#stepAll(states, from, at));
      if (states.includes(GAVE_UP) || this.#dfa.generation !== generation) return OPEN;
    }
    const ends = states.map((state) => this.#dfa.matchesAtEnd(state));
    if (ends.every((matches) => matches === true)) return ALWAYS;
    return ends.every((matches) => matches === false) ? NEVER : OPEN;
  }

  /** Where what fills a hole may lead; `undefined`: too many to tell. */
  behindHole(states: States, hole: number): States | undefined {
    const { words } = this.#split;
    const wordCount = words.offsets.length - 1;
    if (hole !== WORD || wordCount === 0 || wordCount > SPLIT_WORDS_MAX) {
      return this.#holes.behind(states, hole);
    }
    if (this.#wordsGeneration !== this.#dfa.generation) this.#behindWords.clear();
    this.#wordsGeneration = this.#dfa.generation;
    const behind = states.flatMap((state) => this.#behindWord(state));
    return behind.includes(GAVE_UP) ? undefined : distinct(behind);
  }

  /** Where any of the words of the column lead. */
  #behindWord(state: number): States {
    let behind = this.#behindWords.get(state);
    if (behind === undefined) {
      const { generation } = this.#dfa;
      const { bytes, offsets } = this.#split.words;
      const reached = new Set<number>();
      for (let word = 0; word + 1 < offsets.length; word++) {
        reached.add(this.#dfa.step(state, bytes, offsets[word]!, offsets[word + 1]!));
        if (this.#dfa.generation !== generation) return [GAVE_UP];
      }
      behind = [...reached];
      this.#behindWords.set(state, behind);
    }
    return behind;
  }

  /** Where constant bytes of shapes lead; of no use when the automaton begins anew meanwhile. */
  #stepAll(states: States, from: number, to: number): States {
    const { generation } = this.#dfa;
    const { bytes } = this.#split.shapes;
    const behind: number[] = [];
    for (const state of states) {
      if (this.#dfa.generation !== generation) return [GAVE_UP];
      behind.push(this.#dfa.step(state, bytes, from, to));
    }
    return behind;
  }
}

/** What the shapes alone say of strings whose heads lead to one state. */
export class ShapeTruths {
  /** TRUE or FALSE for each shape; FALSE for one that is open. */
  readonly truths: Uint8Array;
  /** 1 for each shape that is open; `undefined`: none is. */
  readonly isOpen: Uint8Array | undefined;
  /** Whether all open ones have a hole for text that is in no table. */
  readonly areOpenInline: boolean;
  /** What all shapes say; `undefined` where some say otherwise, or are open. */
  readonly same: boolean | undefined;

  constructor(verdicts: Readonly<Uint8Array>, { bytes, offsets }: StringBlock) {
    this.truths = verdicts.map((verdict) => (verdict === ALWAYS ? TRUE : FALSE));
    const isOpen = verdicts.map((verdict) => (verdict === OPEN ? 1 : 0));
    this.isOpen = isOpen.includes(1) ? isOpen : undefined;
    this.areOpenInline = isOpen.every(
      (open, shape) =>
        open === 0 || bytes.subarray(offsets[shape]!, offsets[shape + 1]!).some(isInline),
    );
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
  return states.length < 2 ? states : [...new Set(states)].sort((left, right) => left - right);
}

/** To which states what fills a hole may lead: the same for all shapes. */
export class HoleSteps {
  readonly #dfa: ByteDfa;
  #generation = -1;
  /** By the hole and the states before it. */
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
    }
    const key = `${hole}:${states.join()}`;
    if (this.#known.has(key)) return this.#known.get(key);
    const behind = this.#reach(states, hole);
    if (this.#generation !== this.#dfa.generation) return undefined;
    this.#known.set(key, behind);
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
