import { lengthened } from '../../column/arrays.ts';
import { REGEX_DFA_MEMBERS_MAX, REGEX_DFA_TABLE_MAX, REGEX_DFA_WORK_MAX } from '../../limits.ts';
import {
  BEGIN_LINE,
  BEGIN_TEXT,
  type ByteClasses,
  type ByteProgram,
  byteClassesOf,
  contextBehind,
  flagsBetween,
  KNOWN_BEFORE,
  TEXT_END,
} from './byte-program.ts';

/** Classes of bytes from which an automaton takes bytes one by one: a row of all pairs has 4 KiB here. */
const REGEX_PAIR_CLASSES_MAX = 32;

/** Bytes of texts for each state of a full table that make it worth beginning another, as in RE2. */
const REGEX_DFA_PROGRESS_MIN = 10;

/** Among states: no text that goes on from here matches. */
export const DEAD = -2;
/** Among states: every text matches, whatever comes. */
export const ACCEPTED = -3;
/** Among states: it is not known, as too many states would be needed. */
export const GAVE_UP = -4;

/** In the table: not computed yet. */
const UNKNOWN = -1;

/** Room for so many states at first; most patterns need fewer. */
const STATES_FIRST = 16;
/** Bounds of an automaton; those of `limits.ts` where left out. */
export type ByteDfaLimits = {
  readonly tableMax: number;
  readonly membersMax: number;
  readonly workMax: number;
  readonly progressMin: number;
};

const LIMITS: ByteDfaLimits = {
  tableMax: REGEX_DFA_TABLE_MAX,
  membersMax: REGEX_DFA_MEMBERS_MAX,
  workMax: REGEX_DFA_WORK_MAX,
  progressMin: REGEX_DFA_PROGRESS_MIN,
};

/**
 * A program as a deterministic automaton, its states made when a text first gets there, so that each
 * byte costs one look into a table: the method of RE2 (Cox, "Regular Expression Matching in the Wild").
 * Where the classes of bytes are few, a look takes two bytes at once: one look waits for the one before.
 *
 * ```
 *  row of a state
 * ┌──────────────────────────────────────────────┬───────────────────────────┐
 * │ the state behind each pair of classes: count²│ … behind each class: count│
 * └──────────────────────────────────────────────┴───────────────────────────┘
 * ```
 *
 * Invariant: a state is the place of its row in the table, and `#sets` has its set. When the table is
 * full all states go and it begins anew; one that fills it again within a few bytes has given up, for
 * ever.
 *
 * Measured over URLs of 115 bytes that are read to their ends: 1.1 to 1.5 ns a byte, and 2.1 to 2.3 with
 * a look for each byte.
 */
export class ByteDfa {
  readonly #classes: ByteClasses;
  readonly #walk: PlaceWalk;
  /** Whether a match begins with the text, if there is one. */
  readonly isAtStartOnly: boolean;
  readonly #limits: ByteDfaLimits;
  /** For each byte where the pairs begin of which it is the first. */
  readonly #pairs: Uint16Array;
  /** Where in a row the single classes begin; 0 where there are no pairs. */
  readonly #singles: number;
  /** Entries of a row. */
  readonly #width: number;
  #table: Int32Array<ArrayBuffer>;
  readonly #sets: PlaceSet[] = [];
  readonly #states = new Map<string, number>();
  /** Of each state: whether a text that ends there matches, once it was asked. */
  readonly #matchesAtEnd: (boolean | undefined)[] = [];
  #memberCount = 0;
  #generation = 0;
  /** Bytes of texts handed in since all states went. */
  #byteCount = 0;
  #workLeft: number;
  #hasGivenUp = false;
  #start: number | undefined;

  constructor(program: ByteProgram, limits: ByteDfaLimits = LIMITS) {
    this.#limits = limits;
    this.#workLeft = limits.workMax;
    this.#classes = byteClassesOf(program);
    this.#walk = new PlaceWalk(program);
    this.isAtStartOnly = program.isAtStartOnly;
    const { count, ofByte } = this.#classes;
    this.#pairs = Uint16Array.from(ofByte, (byteClass) => byteClass * count);
    this.#singles = count <= REGEX_PAIR_CLASSES_MAX ? count * count : 0;
    this.#width = this.#singles + count;
    this.#table = new Int32Array(STATES_FIRST * this.#width);
  }

  /** Changes when states known before are none any more. */
  get generation(): number {
    return this.#generation;
  }

  /** The state before a text. */
  start(): number {
    if (this.#hasGivenUp) return GAVE_UP;
    if (this.#start === undefined) {
      this.#start = this.#stateOf(this.#walk.start());
    }
    return this.#start;
  }

  /**
   * The state behind `bytes[from, to)`, coming from `state`: a state of this generation, or one of the
   * constants above, which stay what they are. The bytes are WTF-8, and may end amid a character.
   */
  step(state: number, bytes: Uint8Array, from: number, to: number): number {
    this.#byteCount += to - from;
    if (this.#singles === 0) return this.#stepSingles(state, bytes, from, to);
    const paired = this.#stepPairs(state, bytes, from, to);
    return ((to - from) & 1) === 0 ? paired : this.#stepSingles(paired, bytes, to - 1, to);
  }

  /** The state behind as many whole pairs of bytes as there are. */
  #stepPairs(state: number, bytes: Uint8Array, from: number, to: number): number {
    if (state < 0) return state;
    const classOf = this.#classes.ofByte;
    const pairs = this.#pairs;
    let table = this.#table;
    let current = state;
    for (let at = from; at < to - 1; at += 2) {
      let next = table[current + pairs[bytes[at]!]! + classOf[bytes[at + 1]!]!]!;
      // Where the state stays the same, which is foreseen, the next look need not wait for this one.
      if (next === current) continue;
      if (next === UNKNOWN) {
        next = this.#makePair(current, bytes[at]!, bytes[at + 1]!);
        table = this.#table;
      }
      if (next < 0) return next;
      current = next;
    }
    return current;
  }

  #stepSingles(state: number, bytes: Uint8Array, from: number, to: number): number {
    const classOf = this.#classes.ofByte;
    const singles = this.#singles;
    let table = this.#table;
    let current = state;
    for (let at = from; at < to && current >= 0; at++) {
      let next = table[current + singles + classOf[bytes[at]!]!]!;
      if (next === UNKNOWN) {
        next = this.#after(current, bytes[at]!);
        table = this.#table;
      }
      current = next;
    }
    return current;
  }

  /** The number of a state: those of one generation are numbered from 0. */
  rowOf(state: number): number {
    return state / this.#width;
  }

  /** The state of a number that `rowOf` gave in this generation. */
  stateOf(row: number): number {
    return row * this.#width;
  }

  /** One byte of each class that some of these are of: they lead wherever any of these lead. */
  standingFor(isAmong: Uint8Array): Uint8Array {
    const { count, ofByte } = this.#classes;
    const isOfClass = new Uint8Array(count);
    const standing: number[] = [];
    for (let byte = 0; byte < isAmong.length; byte++) {
      const byteClass = ofByte[byte]!;
      if (isAmong[byte] !== 1 || isOfClass[byteClass] === 1) continue;
      isOfClass[byteClass] = 1;
      standing.push(byte);
    }
    return Uint8Array.from(standing);
  }

  /** Whether a text that ends in this state matches; `undefined`: not known. */
  matchesAtEnd(state: number): boolean | undefined {
    if (state < 0) return state === GAVE_UP ? undefined : state === ACCEPTED;
    const row = state / this.#width;
    let matches = this.#matchesAtEnd[row];
    if (matches === undefined) {
      matches = this.#walk.matchesAtEnd(this.#sets[row]!);
      this.#matchesAtEnd[row] = matches;
    }
    return matches;
  }

  /** Whether some part of the text `bytes[from, to)` matches; `undefined`: not known. */
  test(bytes: Uint8Array, from: number, to: number): boolean | undefined {
    return this.matchesAtEnd(this.step(this.start(), bytes, from, to));
  }

  #makePair(state: number, first: number, second: number): number {
    const generation = this.#generation;
    const between = this.#after(state, first);
    const next = between < 0 ? between : this.#after(between, second);
    if (generation === this.#generation) {
      this.#table[state + this.#pairs[first]! + this.#classes.ofByte[second]!] = next;
    }
    return next;
  }

  /** The state behind one more byte. */
  #after(state: number, byte: number): number {
    const place = state + this.#singles + this.#classes.ofByte[byte]!;
    const known = this.#table[place]!;
    if (known !== UNKNOWN) return known;
    const set = this.#walk.over(this.#sets[state / this.#width]!, byte);
    this.#workLeft -= this.#walk.takeWork();
    if (set !== 'match' && this.#isFull(set)) {
      return this.#beginAnew() ? this.#stateOf(set) : GAVE_UP;
    }
    const next = this.#stateOf(set);
    this.#table[place] = next;
    return next;
  }

  #stateOf(set: PlaceSet | 'match'): number {
    if (set === 'match') return ACCEPTED;
    if (set.members.length === 0) return DEAD;
    const key = keyOf(set);
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const width = this.#width;
    const state = this.#sets.length * width;
    if (state === this.#table.length) this.#table = lengthened(this.#table, 2 * state);
    this.#table.fill(UNKNOWN, state, state + width);
    this.#sets.push(set);
    this.#memberCount += set.members.length;
    this.#states.set(key, state);
    return state;
  }

  #isFull({ members }: PlaceSet): boolean {
    if (this.#workLeft < 0) return true;
    if (this.#memberCount + members.length > this.#limits.membersMax) return true;
    return (this.#sets.length + 1) * this.#width > this.#limits.tableMax;
  }

  /** Lets all states go; false when that was no use the last time. */
  #beginAnew(): boolean {
    const isWorthIt = this.#byteCount >= this.#limits.progressMin * this.#sets.length;
    this.#generation++;
    this.#sets.length = 0;
    this.#matchesAtEnd.length = 0;
    this.#states.clear();
    this.#memberCount = 0;
    this.#byteCount = 0;
    this.#workLeft = this.#limits.workMax;
    this.#start = undefined;
    this.#hasGivenUp = !isWorthIt;
    return isWorthIt;
  }
}

function keyOf({ members, context }: PlaceSet): string {
  return `${context}:${members.join()}`;
}

/**
 * A set of places that a program may be at: one of them at `match` is a match. `members` ascend.
 * Assertions that the next byte decides are members themselves, and `context` is what they need to know
 * of the byte before; 0 where there is none.
 */
type PlaceSet = { readonly members: Int32Array; readonly context: number };

/** Walks of a program from set to set. */
class PlaceWalk {
  readonly #program: ByteProgram;
  /** Round in which a place was last met. */
  readonly #met: Int32Array;
  #round = 0;
  /** What holds at the place between two bytes that the walk is at. */
  #flags = 0;
  /** Whether `#flags` has all that can be known, or that of the byte before alone. */
  #isDecided = false;
  #context = 0;
  #isMatch = false;
  #isWaiting = false;
  #members: number[] = [];
  readonly #pending: number[] = [];
  #work = 0;

  constructor(program: ByteProgram) {
    this.#program = program;
    this.#met = new Int32Array(program.instructions.length + program.lows.length);
  }

  /** Places looked at since this was last asked. */
  takeWork(): number {
    const work = this.#work;
    this.#work = 0;
    return work;
  }

  /** The set before a text. */
  start(): PlaceSet | 'match' {
    this.#begin(BEGIN_TEXT | BEGIN_LINE);
    this.#enter(this.#program.start);
    return this.#end();
  }

  /** The set behind one more byte. */
  over(set: PlaceSet, byte: number): PlaceSet | 'match' {
    const before = this.#decided(set, byte);
    if (before === 'match') return 'match';
    this.#begin(contextBehind(byte));
    for (const place of before) this.#stepOver(place, byte);
    return this.#end();
  }

  matchesAtEnd(set: PlaceSet): boolean {
    return this.#decided(set, TEXT_END) === 'match';
  }

  /** Begins a set between two bytes of which the one before is known. */
  #begin(context: number): void {
    this.#clear();
    this.#context = context;
    this.#flags = context & KNOWN_BEFORE;
    this.#isDecided = false;
  }

  /** Adds a place, and those that come of it without a byte. */
  #enter(place: number): void {
    const { instructions } = this.#program;
    const met = this.#met;
    const pending = this.#pending;
    pending.push(place);
    while (pending.length > 0) {
      const next = pending.pop()!;
      if (met[next] === this.#round) continue;
      met[next] = this.#round;
      this.#work++;
      const instruction = instructions[next];
      if (instruction === undefined || instruction.op === 'point') this.#members.push(next);
      else if (instruction.op === 'match') this.#isMatch = true;
      else if (instruction.op === 'jump') pending.push(instruction.out);
      else if (instruction.op === 'split') pending.push(instruction.out, instruction.other);
      else if (instruction.op === 'assert') {
        const missing = instruction.flags & ~this.#flags;
        if (missing === 0) pending.push(instruction.out);
        else if (!this.#isDecided && (missing & KNOWN_BEFORE) === 0) {
          this.#members.push(next);
          this.#isWaiting = true;
        }
      }
    }
  }

  #end(): PlaceSet | 'match' {
    if (this.#isMatch) return 'match';
    const members = new Int32Array(this.#members);
    if (members.length > 1) members.sort();
    return { members, context: this.#isWaiting ? this.#context : 0 };
  }

  /** The members of a set when it is known what comes behind it. */
  #decided({ members, context }: PlaceSet, next: number): Iterable<number> | 'match' {
    const { instructions } = this.#program;
    if (!members.some((place) => instructions[place]?.op === 'assert')) return members;
    this.#clear();
    this.#flags = flagsBetween(context, next);
    this.#isDecided = true;
    for (const place of members) this.#enter(place);
    return this.#isMatch ? 'match' : this.#members;
  }

  #stepOver(place: number, byte: number): void {
    const { instructions, entries } = this.#program;
    if (place >= instructions.length) this.#takeStep(place, byte);
    else for (const entry of entries[place]!) this.#takeStep(entry, byte);
  }

  #takeStep(step: number, byte: number): void {
    const { instructions, lows, highs, nexts } = this.#program;
    const index = step - instructions.length;
    this.#work++;
    if (lows[index]! <= byte && byte <= highs[index]!) this.#enter(nexts[index]!);
  }

  #clear(): void {
    this.#round++;
    this.#members = [];
    this.#isMatch = false;
    this.#isWaiting = false;
  }
}
