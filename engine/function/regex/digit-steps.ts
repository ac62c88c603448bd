import { lengthened } from '../../column/arrays.ts';
import { UUID_BYTES } from '../../column/number-vectors.ts';
import { ACCEPTED, type ByteDfa, DEAD, GAVE_UP } from './byte-dfa.ts';

/** States of more rows are not kept here: with 256 entries each they would take a cache for themselves. */
const ROWS_MAX = 128;
const ROWS_FIRST = 8;

const BYTE_COUNT = 256;
const DIGIT_BITS = 4;

/** The two digits of each byte, end to end, and the dash behind them. */
const DIGITS = Buffer.from(
  `${Array.from({ length: BYTE_COUNT }, (_, byte) => byte.toString(16).padStart(2, '0')).join('')}-`,
  'latin1',
);
const DASH_AT = 2 * BYTE_COUNT;

/** Bytes of a UUID before each of its dashes. */
const DASHES_BEHIND = [4, 6, 8, 10] as const;

/** In the table: a row plus one, or one of these. */
const UNKNOWN = 0;
const NEVER = -1;
const ALWAYS = -2;
const UNTOLD = -3;

/**
 * An automaton over hexadecimal digits that lie packed, two to a byte: where both lead is looked up at
 * once, and they need not be written out. Stands in for `ByteDfa.step` over `unpackHex` and `unpackUuid`.
 *
 * Invariant: all rows are of one generation of the automaton.
 */
export class DigitSteps {
  readonly #dfa: ByteDfa;
  #generation: number;
  /** By row and byte. */
  #behindBytes = new Int16Array(ROWS_FIRST * BYTE_COUNT);

  constructor(dfa: ByteDfa) {
    this.#dfa = dfa;
    this.#generation = dfa.generation;
  }

  /**
   * The state behind `digitCount` digits packed from `bytes[start]` on; GAVE_UP where it is not told here,
   * or the automaton began anew.
   */
  behindHex(state: number, bytes: Uint8Array, start: number, digitCount: number): number {
    const end = start + (digitCount >> 1);
    const row = this.#behind(this.#begin(state), bytes, start, end);
    const behind = this.#end(row);
    if ((digitCount & 1) === 0 || behind < 0) return behind;
    const at = 2 * (bytes[end]! >> DIGIT_BITS) + 1;
    return this.#stepped(behind, at, at + 1);
  }

  /** The same behind the UUID packed from `bytes[start]` on, its dashes among the digits. */
  behindUuid(state: number, bytes: Uint8Array, start: number): number {
    let behind = state;
    let from = start;
    for (const size of DASHES_BEHIND) {
      behind = this.#end(this.#behind(this.#begin(behind), bytes, from, start + size));
      if (behind >= 0) behind = this.#stepped(behind, DASH_AT, DASH_AT + 1);
      if (behind < 0) return behind;
      from = start + size;
    }
    return this.#end(this.#behind(this.#begin(behind), bytes, from, start + UUID_BYTES));
  }

  #begin(state: number): number {
    if (this.#generation !== this.#dfa.generation) {
      this.#generation = this.#dfa.generation;
      this.#behindBytes.fill(UNKNOWN);
    }
    return this.#entryOf(state);
  }

  /** Where whole bytes lead from a row plus one. */
  #behind(from: number, bytes: Uint8Array, start: number, end: number): number {
    let table = this.#behindBytes;
    let entry = from;
    for (let at = start; at < end && entry > 0; at++) {
      const place = (entry - 1) * BYTE_COUNT + bytes[at]!;
      entry = table[place]!;
      if (entry === UNKNOWN) {
        entry = this.#look(place);
        table = this.#behindBytes;
      }
    }
    return entry;
  }

  #look(place: number): number {
    const byte = place % BYTE_COUNT;
    const state = this.#dfa.stateOf((place - byte) / BYTE_COUNT);
    const entry = this.#entryOf(this.#stepped(state, 2 * byte, 2 * byte + 2));
    if (entry !== UNTOLD) this.#behindBytes[place] = entry;
    return entry;
  }

  #stepped(state: number, from: number, to: number): number {
    const behind = this.#dfa.step(state, DIGITS, from, to);
    return this.#generation === this.#dfa.generation ? behind : GAVE_UP;
  }

  #entryOf(state: number): number {
    if (state === DEAD) return NEVER;
    if (state === ACCEPTED) return ALWAYS;
    if (state === GAVE_UP) return UNTOLD;
    const row = this.#dfa.rowOf(state);
    if (row >= ROWS_MAX) return UNTOLD;
    this.#behindBytes = lengthened(this.#behindBytes, (row + 1) * BYTE_COUNT);
    return row + 1;
  }

  #end(entry: number): number {
    if (entry > 0) return this.#dfa.stateOf(entry - 1);
    if (entry === NEVER) return DEAD;
    return entry === ALWAYS ? ACCEPTED : GAVE_UP;
  }
}
