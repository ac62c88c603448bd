import { must } from '../../assert.ts';
import { lengthened } from '../../column/arrays.ts';
import { findOnce } from '../../column/caches.ts';
import { UUID_BYTES } from '../../column/number-vectors.ts';
import { ANY, HEX, isHole, isInline, PartReader, UUID, WORD } from '../../column/split-shape.ts';
import type { SplitBlock, StringBlock } from '../../column/vector.ts';
import { ACCEPTED, type ByteDfa, DEAD, GAVE_UP } from '../../function/regex/byte-dfa.ts';
import type { DigitSteps } from '../../function/regex/digit-steps.ts';
import { SPLIT_STATES_MAX } from '../../limits.ts';
import { ALWAYS, NEVER, type SplitVerdicts } from './split-verdicts.ts';

/** The string matches; also among landings: it does, whatever comes. */
export const MATCHES = -1;
/** The string does not match. */
const FAILS = -2;
/** It is not known here: the string is to be put together. */
export const LEFT = -3;

/** Among landings: what fills the hole decides. */
const FILLING = -4;
/** Among landings: not asked for yet. All above are states: their place here plus one. */
const UNSET = 0;

/** Rows of the table at first: of few patterns more states are met between pieces. */
const STATES_FIRST = 2;

/** A number has fewer digits, and so has a UUID; for longer ones room is made. */
const ROOM_FIRST = 64;

const NO_HEAD = -1;

/**
 * An automaton on its way through strings that are not put together: shapes are cut into *pieces*,
 * constant bytes and holes, and where each state lands behind each piece is looked up. Only of holes
 * behind which it might be in several states are the parts read.
 *
 * Invariant: all states are of one generation of the automaton; when that changes, nothing is known.
 */
export class SplitWalk {
  readonly #dfa: ByteDfa;
  readonly #split: SplitBlock;
  readonly #verdicts: SplitVerdicts;
  readonly #digits: DigitSteps;
  readonly #pieces: Pieces;
  readonly #reader = new PartReader();
  /** Where digits are written out: read at once. */
  #filled = new Uint8Array(ROOM_FIRST);
  #generation: number;
  /** By place here: the states of the automaton met so far. */
  #states: number[] = [];
  /** By the row of a state in the automaton: its place here plus one. */
  #places: number[] = [];
  /** By state and piece. */
  #landings: Int16Array<ArrayBuffer>;
  /** By state: the landings behind each word, once one was asked for. */
  #wordLandings: (Int16Array | undefined)[] = [];
  /** The head of the last string, which is often that of the next, and where it led. */
  #lastHead = NO_HEAD;
  #headLanding = UNSET;
  /** Bytes read since they were last asked for. */
  #readCount = 0;

  /** `verdicts`: of the same automaton and strings; `digits`: of the same automaton. */
  constructor(
    dfa: ByteDfa,
    split: SplitBlock,
    { verdicts, digits }: { readonly verdicts: SplitVerdicts; readonly digits: DigitSteps },
  ) {
    this.#dfa = dfa;
    this.#split = split;
    this.#verdicts = verdicts;
    this.#digits = digits;
    this.#pieces = piecesOf(split.shapes);
    this.#generation = dfa.generation;
    this.#landings = new Int16Array(STATES_FIRST * this.#pieces.count);
  }

  /** MATCHES, FAILS or LEFT. */
  test(code: number, head: number): number {
    if (this.#generation !== this.#dfa.generation) this.#forget();
    const { count, kinds, firsts } = this.#pieces;
    const reader = this.#reader;
    const { parts } = this.#split;
    const first = firsts[this.#split.shapeCodes[code]!]!;
    let landing = head === this.#lastHead ? this.#headLanding : this.#landBehindHead(head);
    // The hole whose part the reader is at; -1: it was not sent there yet.
    let reached = -1;
    for (let piece = first; landing > 0; piece++) {
      const place = landing - 1;
      landing = this.#landings[place * count + piece]! || this.#land(place, piece);
      if (landing !== FILLING) continue;
      if (kinds[piece] === ANY) {
        landing = this.#landBehindWhole(place, code);
        continue;
      }
      if (reached < 0) {
        reader.at = this.#split.partStart(code);
        reached = first;
      }
      for (; reached < piece; reached++) {
        if (kinds[reached] !== CONSTANT) reader.skip(kinds[reached]!, parts);
      }
      landing = this.#landBehindPart(place, kinds[piece]!);
      reached = piece + 1;
    }
    return landing;
  }

  /** Bytes that were read since this was last asked. */
  takeReadCount(): number {
    const count = this.#readCount;
    this.#readCount = 0;
    return count;
  }

  #forget(): void {
    this.#generation = this.#dfa.generation;
    this.#states = [];
    this.#places = [];
    this.#wordLandings = [];
    this.#landings.fill(UNSET);
    this.#lastHead = NO_HEAD;
  }

  #landBehindHead(head: number): number {
    const { bytes, offsets } = this.#split.heads;
    const state = this.#dfa.step(this.#dfa.start(), bytes, offsets[head]!, offsets[head + 1]!);
    this.#headLanding = this.#landingOf(state);
    this.#lastHead = this.#generation === this.#dfa.generation ? head : NO_HEAD;
    return this.#headLanding;
  }

  /** Where a state lands behind a piece; FILLING where its part is to be read. */
  #land(place: number, piece: number): number {
    const landing = this.#decide(place, piece);
    if (this.#generation !== this.#dfa.generation) return LEFT;
    this.#landings[place * this.#pieces.count + piece] = landing;
    return landing;
  }

  #decide(place: number, piece: number): number {
    const { kinds, starts } = this.#pieces;
    const state = this.#states[place]!;
    const kind = kinds[piece]!;
    // What comes behind a hole may be sure now; behind a constant nothing new is known.
    if (kind === END || (piece > 0 && isHole(kinds[piece - 1]!))) {
      const verdict = this.#verdicts.judgeFrom(state, starts[piece]!, this.#pieces.ends[piece]!);
      if (verdict === ALWAYS) return MATCHES;
      if (verdict === NEVER) return FAILS;
      if (kind === END || this.#generation !== this.#dfa.generation) return LEFT;
    }
    if (kind === CONSTANT) {
      const { bytes } = this.#split.shapes;
      return this.#landingOf(this.#dfa.step(state, bytes, starts[piece]!, starts[piece + 1]!));
    }
    if (kind === ANY) return FILLING;
    const behind = this.#verdicts.behindHole([state], kind);
    if (behind === undefined || behind.length === 0) return FILLING;
    // Where they all lead to one state behind what follows, any of them stands for all.
    return this.#areOneBehind(behind, piece + 1) ? this.#landingOf(behind[0]!) : FILLING;
  }

  /** Whether states are one behind a piece, that is constant bytes if there are several. */
  #areOneBehind(states: readonly number[], piece: number): boolean {
    if (states.length === 1) return true;
    const { kinds, starts } = this.#pieces;
    if (kinds[piece] !== CONSTANT) return false;
    const { bytes } = this.#split.shapes;
    const reached = new Set<number>();
    for (const state of states) {
      reached.add(this.#dfa.step(state, bytes, starts[piece]!, starts[piece + 1]!));
      if (this.#generation !== this.#dfa.generation) return false;
    }
    return reached.size === 1 && !reached.has(GAVE_UP);
  }

  /** Of a string that lies as it is: nothing comes behind. */
  #landBehindWhole(place: number, code: number): number {
    const { bytes, start, end } = this.#split.rest(code);
    this.#readCount += end - start;
    return this.#landingOf(this.#dfa.step(this.#states[place]!, bytes, start, end));
  }

  #landBehindPart(place: number, hole: number): number {
    const { parts, words } = this.#split;
    if (hole === WORD) return this.#landBehindWord(place, this.#reader.count(parts));
    if (isInline(hole)) {
      const size = this.#reader.count(parts);
      const start = this.#reader.at;
      this.#reader.at += size;
      this.#readCount += size;
      return this.#landingOf(this.#dfa.step(this.#states[place]!, parts, start, start + size));
    }
    if (hole === HEX || hole === UUID) {
      const start = this.#reader.at;
      const state = this.#stateBehindDigits(this.#states[place]!, hole);
      if (state !== GAVE_UP || this.#generation !== this.#dfa.generation) {
        return this.#landingOf(state);
      }
      this.#reader.at = start;
    }
    const room = this.#reader.sizeMax(hole, parts);
    if (room > this.#filled.length) this.#filled = new Uint8Array(2 * room);
    const filled = this.#filled;
    const size = this.#reader.fill(hole, { parts, words }, filled, 0);
    this.#readCount += size;
    return this.#landingOf(this.#dfa.step(this.#states[place]!, filled, 0, size));
  }

  /** GAVE_UP where they are to be written out, or the automaton began anew. */
  #stateBehindDigits(state: number, hole: number): number {
    const { parts } = this.#split;
    const reader = this.#reader;
    if (hole === UUID) {
      const start = reader.at;
      this.#readCount += UUID_BYTES;
      reader.at += UUID_BYTES;
      return this.#digits.behindUuid(state, parts, start);
    }
    const digitCount = reader.count(parts);
    const start = reader.at;
    reader.at += (digitCount + 1) >> 1;
    this.#readCount += reader.at - start;
    return this.#digits.behindHex(state, parts, start, digitCount);
  }

  #landBehindWord(place: number, word: number): number {
    const { bytes, offsets } = this.#split.words;
    let landings = this.#wordLandings[place];
    if (landings === undefined) {
      landings = new Int16Array(offsets.length - 1);
      this.#wordLandings[place] = landings;
    }
    const known = landings[word]!;
    if (known !== UNSET) return known;
    const state = this.#states[place]!;
    const landing = this.#landingOf(
      this.#dfa.step(state, bytes, offsets[word]!, offsets[word + 1]!),
    );
    this.#readCount += offsets[word + 1]! - offsets[word]!;
    landings[word] = landing;
    return landing;
  }

  /** A state that the automaton came to as a landing: LEFT if it began anew on its way there. */
  #landingOf(state: number): number {
    if (this.#generation !== this.#dfa.generation || state === GAVE_UP) return LEFT;
    if (state === DEAD) return FAILS;
    if (state === ACCEPTED) return MATCHES;
    return this.#places[this.#dfa.rowOf(state)] ?? this.#addState(state);
  }

  #addState(state: number): number {
    const place = this.#states.length;
    if (place === SPLIT_STATES_MAX) return LEFT;
    this.#states.push(state);
    this.#places[this.#dfa.rowOf(state)] = place + 1;
    this.#landings = lengthened(this.#landings, (place + 1) * this.#pieces.count);
    return place + 1;
  }
}

/** Among kinds of pieces, which are holes otherwise: constant bytes. */
const CONSTANT = 0;
/** Among kinds of pieces: the end of a shape. */
const END = 1;

/** The pieces of all shapes, end to end, one for each end among them. */
type Pieces = {
  readonly count: number;
  readonly kinds: Uint8Array;
  /** Where in the bytes of shapes each begins; it ends where the next one does. */
  readonly starts: Uint32Array;
  /** Where the shape of each ends. */
  readonly ends: Uint32Array;
  /** By shape. */
  readonly firsts: Uint32Array;
};

/** Segments have the same shapes for all that is looked for in them. */
const piecesOf = findOnce(cutIntoPieces);

function cutIntoPieces({ bytes, offsets }: StringBlock): Pieces {
  const kinds: number[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const firsts: number[] = [];
  const add = (kind: number, start: number, end: number) => {
    kinds.push(kind);
    starts.push(start);
    ends.push(end);
  };
  for (let shape = 0; shape + 1 < offsets.length; shape++) {
    const end = must(offsets[shape + 1], 'a shape has an end');
    firsts.push(kinds.length);
    for (let at = offsets[shape]!; at < end; at++) {
      const isConstant = !isHole(bytes[at]!);
      add(isConstant ? CONSTANT : bytes[at]!, at, end);
      while (isConstant && at + 1 < end && !isHole(bytes[at + 1]!)) at++;
    }
    add(END, end, end);
  }
  return {
    count: kinds.length,
    kinds: Uint8Array.from(kinds),
    starts: Uint32Array.from(starts),
    ends: Uint32Array.from(ends),
    firsts: Uint32Array.from(firsts),
  };
}
