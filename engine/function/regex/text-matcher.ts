import type { RE2JS } from 're2js';
import { lengthened } from '../../column/arrays.ts';
import { REGEX_DFA_MEMBERS_MAX, REGEX_DFA_TABLE_MAX, REGEX_DFA_WORK_MAX } from '../../limits.ts';
import { ByteDfa } from './byte-dfa.ts';
import {
  BEGIN_LINE,
  BEGIN_TEXT,
  BEHIND_WORD,
  type ByteClasses,
  type ByteProgram,
  byteClassesOf,
  byteProgramOf,
  contextBehind,
  flagsBetween,
  KNOWN_BEFORE,
  NO_WORD_BOUNDARY,
  runeProgramOf,
  TEXT_END,
  WORD_BOUNDARY,
} from './byte-program.ts';

/** A pattern as it is looked for in texts, and in their bytes. */
export type TextMatcher = {
  /**
   * Whether some part of `text` matches: the meaning of all else here. May throw a QueryError for a text
   * of which the automaton cannot tell.
   */
  readonly test: (text: string) => boolean;
  /** Without these `test` is false, and throws nothing. */
  readonly needed: NeededLiterals;
  /** The pattern as an automaton over bytes, which this thread has one of; `undefined`: it has none. */
  readonly automaton: () => ByteDfa | undefined;
};

/** A pattern of which a group is looked for, too. */
export type GroupMatcher = TextMatcher & {
  /**
   * What finds the only group of the pattern, or its match if it has none; `undefined`: it has more, or no automaton. This
   * thread has one for each pattern.
   */
  readonly groupFinder: () => GroupFinder | undefined;
};

export function textMatcher(program: RE2JS, test: (text: string) => boolean): GroupMatcher {
  const automaton = onceMade(() => {
    const bytes = bytesOf(program);
    return bytes && new ByteDfa(bytes);
  });
  const groupFinder = onceMade(() => {
    const groupCount = program.groupCount();
    const bytes = groupCount > 1 ? undefined : bytesOf(program);
    return bytes && new GroupFinder(bytes, groupCount);
  });
  return { test, needed: neededLiteralsOf(program), automaton, groupFinder };
}

function onceMade<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function bytesOf(program: RE2JS): ByteProgram | undefined {
  const runes = runeProgramOf(program);
  return runes && byteProgramOf(runes);
}

/** Bytes of a text in which a group is found: a state of four bytes is noted for each, for each pattern in use. */
export const REGEX_GROUP_BYTES_MAX = 16_384;

/** What a way through the program passes between two bytes, as bits: the begin of the match, both bounds of the group. */
const MATCH_BEGINS = 1;
const GROUP_BEGINS = 2;
const GROUP_ENDS = 4;

/** In the table: not computed yet. */
const UNKNOWN = -1;
/** The state of no way at all: its row is the first. */
const DEAD = 0;

/** Ways through a program, those that RE2 prefers first: the place of each. */
type Ways = { readonly places: readonly number[]; readonly context: number };

/** From one state to the next: from which of its ways each of the next comes, and what it passed before the byte. */
type Origins = {
  readonly ways: Uint16Array;
  readonly passed: Uint8Array;
  /** The way that matches before the byte; -1: none does. */
  readonly matching: number;
  readonly matchPassed: number;
};

/** Bounds of the states of one finder. */
export type GroupFinderLimits = { readonly tableMax: number; readonly membersMax: number };

const LIMITS: GroupFinderLimits = {
  tableMax: REGEX_DFA_TABLE_MAX,
  membersMax: REGEX_DFA_MEMBERS_MAX,
};

/**
 * Where the group of the first match is, in bytes of WTF-8: the match that RE2 prefers, and of a group in a repetition
 * its last round. A deterministic automaton whose states are lists of ways in the order of preference, as in Pike's
 * simulation (Cox, "Regular Expression Matching: the Virtual Machine Approach"). It runs over a text once forward and
 * notes its states; from the end of the match it follows the one way back to the bounds of the group.
 *
 * Invariant: a state is the place of its row in the table, and `#states` has its ways. An entry of a row is twice the next
 * state, plus one where a way matches before the byte. When the table is full the finder gives up for ever.
 */
export class GroupFinder {
  /** What `find` found last; -1 and -1 for a group that took no part in the match. */
  start = -1;
  end = -1;
  readonly #program: ByteProgram;
  readonly #group: number;
  readonly #classes: ByteClasses;
  readonly #limits: GroupFinderLimits;
  /** Entries of a row: one for each class of bytes, and one for the end of a text. */
  readonly #width: number;
  /** Of the context, what an assertion of the program looks at. */
  readonly #contextMask: number;
  #table: Int32Array<ArrayBuffer>;
  readonly #states: Ways[] = [];
  readonly #numbers = new Map<string, number>();
  /** At the place of each entry that is computed. */
  readonly #origins: Origins[] = [];
  #memberCount = 0;
  #workLeft = REGEX_DFA_WORK_MAX;
  #hasGivenUp = false;
  readonly #first: number;
  /** The state before each byte of the text, and behind the last. */
  #passed = new Int32Array(0);

  /** Finds the group of this number; 0 is the whole match. */
  constructor(program: ByteProgram, group: number, limits: GroupFinderLimits = LIMITS) {
    this.#program = program;
    this.#group = group;
    this.#limits = limits;
    this.#classes = byteClassesOf(program);
    this.#width = this.#classes.count + 1;
    this.#contextMask = contextMaskOf(program);
    this.#table = new Int32Array(this.#width).fill(2 * DEAD);
    this.#states.push({ places: [], context: 0 });
    this.#first = this.#stateOf([program.start], BEGIN_TEXT | BEGIN_LINE);
  }

  /** Whether `bytes[from, to)` has a match; `undefined`: not known. */
  find(bytes: Uint8Array, from: number, to: number): boolean | undefined {
    if (this.#hasGivenUp || to - from > REGEX_GROUP_BYTES_MAX) return undefined;
    const matchEnd = this.#runOver(bytes, from, to);
    if (this.#hasGivenUp) return undefined;
    return matchEnd !== undefined && this.#followBack(bytes, { from, to, matchEnd });
  }

  /** Notes the state before each byte; gives the end of the match. */
  #runOver(bytes: Uint8Array, from: number, to: number): number | undefined {
    if (this.#passed.length <= to - from) this.#passed = new Int32Array(2 * (to - from) + 1);
    const passed = this.#passed;
    const classOf = this.#classes.ofByte;
    let table = this.#table;
    let state = this.#first;
    let matchEnd: number | undefined;
    for (let at = from; at < to; at++) {
      passed[at - from] = state;
      let entry = table[state + classOf[bytes[at]!]!]!;
      if (entry === UNKNOWN) {
        entry = this.#makeEntry(state, bytes[at]!);
        table = this.#table;
      }
      if ((entry & 1) === 1) matchEnd = at;
      state = entry >> 1;
      if (state === DEAD) return matchEnd;
    }
    passed[to - from] = state;
    const place = state + this.#width - 1;
    const entry = table[place] === UNKNOWN ? this.#makeEntry(state, TEXT_END) : table[place]!;
    return (entry & 1) === 1 ? to : matchEnd;
  }

  /** Finds the bounds of the group; false for an empty match behind a text, which is none. */
  #followBack(
    bytes: Uint8Array,
    text: { readonly from: number; readonly to: number; readonly matchEnd: number },
  ): boolean {
    const { from, to, matchEnd } = text;
    const isWhole = this.#group === 0;
    // Of an empty match it makes a difference whether it is behind the text.
    const isStartWanted = isWhole || matchEnd === to;
    let matchStart = this.#program.isAtStartOnly ? from : -1;
    let start = -1;
    let end = -1;
    let way = -1;
    for (let at = matchEnd; at >= from; at--) {
      const state = this.#passed[at - from]!;
      const byteClass = at === to ? this.#width - 1 : this.#classes.ofByte[bytes[at]!]!;
      const origins = this.#origins[state + byteClass]!;
      const passed = way < 0 ? origins.matchPassed : origins.passed[way]!;
      way = way < 0 ? origins.matching : origins.ways[way]!;
      if (end < 0 && (passed & GROUP_ENDS) !== 0) end = at;
      if (start < 0 && (passed & GROUP_BEGINS) !== 0) start = at;
      if ((passed & MATCH_BEGINS) !== 0) {
        matchStart = at;
        break;
      }
      if (!isStartWanted && start >= 0 && end >= 0) break;
    }
    this.start = isWhole ? matchStart : start;
    this.end = isWhole ? matchEnd : end;
    return matchEnd < to || matchStart < to || from === to;
  }

  /** Computes the entry of a state and a byte, or the end of the text. */
  #makeEntry(state: number, byte: number): number {
    const { places, context } = this.#states[state / this.#width]!;
    const closure = new Closure(this.#program, this.#group, flagsBetween(context, byte));
    const next: number[] = [];
    const ways: number[] = [];
    const passed: number[] = [];
    const met = new Set<number>();
    for (const [way, place] of places.entries()) {
      for (const leaf of closure.from(place)) {
        for (const behind of this.#placesBehind(leaf.place, byte)) {
          if (met.has(behind)) continue;
          met.add(behind);
          next.push(behind);
          ways.push(way);
          passed.push(leaf.passed);
        }
      }
      if (closure.matchPassed !== undefined) {
        return this.#keep(state, byte, { next, ways, passed, matching: way, closure });
      }
    }
    return this.#keep(state, byte, { next, ways, passed, matching: -1, closure });
  }

  #keep(
    state: number,
    byte: number,
    found: {
      readonly next: readonly number[];
      readonly ways: readonly number[];
      readonly passed: readonly number[];
      readonly matching: number;
      readonly closure: Closure;
    },
  ): number {
    const { next, ways, passed, matching, closure } = found;
    this.#workLeft -= closure.work + next.length;
    this.#memberCount += next.length;
    if (this.#isFull()) {
      this.#hasGivenUp = true;
      return 2 * DEAD;
    }
    const place = state + (byte === TEXT_END ? this.#width - 1 : this.#classes.ofByte[byte]!);
    this.#origins[place] = {
      ways: Uint16Array.from(ways),
      passed: Uint8Array.from(passed),
      ...{ matching, matchPassed: closure.matchPassed ?? 0 },
    };
    const entry = 2 * this.#stateOf(next, contextBehind(byte)) + Number(matching >= 0);
    this.#table[place] = entry;
    return entry;
  }

  #isFull(): boolean {
    if (this.#workLeft < 0 || this.#memberCount > this.#limits.membersMax) return true;
    return (this.#states.length + 1) * this.#width > this.#limits.tableMax;
  }

  #stateOf(places: readonly number[], behind: number): number {
    if (places.length === 0) return DEAD;
    const context = behind & this.#contextMask;
    const key = `${context}:${places.join()}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const state = this.#states.length * this.#width;
    if (state === this.#table.length) this.#table = lengthened(this.#table, 2 * state);
    this.#table.fill(UNKNOWN, state, state + this.#width);
    this.#states.push({ places, context });
    this.#numbers.set(key, state);
    return state;
  }

  /** Where a place leads over a byte. */
  #placesBehind(place: number, byte: number): readonly number[] {
    if (byte === TEXT_END) return [];
    const { instructions, entries, lows, highs, nexts } = this.#program;
    const steps = place >= instructions.length ? [place] : entries[place]!;
    return steps
      .map((step) => step - instructions.length)
      .filter((index) => lows[index]! <= byte && byte <= highs[index]!)
      .map((index) => nexts[index]!);
  }
}

type Leaf = { readonly place: number; readonly passed: number };

/** The places that take a byte, or match, behind others, between two bytes: each once, the preferred way first. */
class Closure {
  /** What the way that matches passed; nothing follows it. */
  matchPassed: number | undefined;
  work = 0;
  readonly #program: ByteProgram;
  readonly #group: number;
  readonly #flags: number;
  readonly #met = new Set<number>();

  constructor(program: ByteProgram, group: number, flags: number) {
    this.#program = program;
    this.#group = group;
    this.#flags = flags;
  }

  /** Those behind one place. */
  from(first: number): readonly Leaf[] {
    const { instructions, start, isAtStartOnly } = this.#program;
    const leaves: Leaf[] = [];
    const pending: Leaf[] = [{ place: first, passed: 0 }];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { place, passed } = next;
      if (this.#met.has(place)) continue;
      this.#met.add(place);
      this.work++;
      const instruction = instructions[place];
      if (instruction === undefined || instruction.op === 'point') leaves.push(next);
      else if (instruction.op === 'jump') {
        pending.push({
          place: instruction.out,
          passed: passed | this.#boundBit(instruction.bound),
        });
      } else if (instruction.op === 'split') {
        const begins = place === start && !isAtStartOnly ? MATCH_BEGINS : 0;
        pending.push({ place: instruction.other, passed });
        pending.push({ place: instruction.out, passed: passed | begins });
      } else if (instruction.op === 'assert') {
        if ((instruction.flags & ~this.#flags) === 0)
          pending.push({ place: instruction.out, passed });
      } else if (instruction.op === 'match') {
        this.matchPassed = passed;
        break;
      }
    }
    return leaves;
  }

  #boundBit(bound: number | undefined): number {
    if (this.#group === 0 || bound === undefined || bound >> 1 !== this.#group) return 0;
    return (bound & 1) === 0 ? GROUP_BEGINS : GROUP_ENDS;
  }
}

/** States that differ in nothing that an assertion looks at are one. */
function contextMaskOf({ instructions }: ByteProgram): number {
  let flags = 0;
  for (const instruction of instructions) {
    if (instruction.op === 'assert') flags |= instruction.flags;
  }
  const isOfWords = (flags & (WORD_BOUNDARY | NO_WORD_BOUNDARY)) !== 0;
  return (flags & KNOWN_BEFORE) | (isOfWords ? BEHIND_WORD : 0);
}

/** Texts that a match needs, of one list, and lists: each costs a look at what blocks of strings hold. */
const REGEX_LITERALS_MAX = 16;

/**
 * What a text must hold for a pattern to match: of each of these lists at least one. None of the texts
 * has a lone surrogate.
 */
export type NeededLiterals = readonly (readonly string[])[];

/**
 * The texts without which re2js finds no match, as it has worked them out itself, with those weakest
 * left out that would make too many; none where it knows of none, or says it in a way we do not know.
 */
function neededLiteralsOf(compiled: RE2JS): NeededLiterals {
  const filter: unknown = compiled.re2Input.prefilter;
  const needed = clausesOf(filter).filter((clause) => clause.length <= REGEX_LITERALS_MAX);
  return needed
    .toSorted((left, right) => strengthOf(right) - strengthOf(left))
    .slice(0, REGEX_LITERALS_MAX);
}

/** A node of the tree that re2js keeps: one text, or what is to be said of several nodes. */
type Filter = { readonly type: number; readonly subs: readonly unknown[]; readonly str: string };

const EXACT = 1;
const AND = 2;
const OR = 3;

function clausesOf(filter: unknown): NeededLiterals {
  if (!isFilter(filter)) return [];
  switch (filter.type) {
    case EXACT:
      return [[filter.str]];
    case AND:
      return filter.subs.flatMap(clausesOf);
    case OR:
      return anyOf(filter.subs.map((sub) => strongest(clausesOf(sub))));
    default:
      return [];
  }
}

function isFilter(value: unknown): value is Filter {
  if (typeof value !== 'object' || value === null) return false;
  const { type, subs, str } = value as Partial<Filter>;
  return typeof type === 'number' && Array.isArray(subs) && typeof str === 'string';
}

/** One of several must hold: of each its strongest list is enough; nothing is known if one has none. */
function anyOf(branches: readonly (readonly string[] | undefined)[]): NeededLiterals {
  const known = branches.filter((branch) => branch !== undefined);
  return known.length < branches.length ? [] : [[...new Set(known.flat())]];
}

function strongest(clauses: NeededLiterals): readonly string[] | undefined {
  let best: readonly string[] | undefined;
  for (const clause of clauses) {
    if (best === undefined || strengthOf(clause) > strengthOf(best)) best = clause;
  }
  return best;
}

/** A list is as strong as its shortest text, and the weaker the more there are. */
function strengthOf(clause: readonly string[]): number {
  return Math.min(...clause.map((text) => text.length)) - clause.length / 2;
}
