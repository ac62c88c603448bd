import { encodeWtf8 } from '../../column/wtf8.ts';
import type { PartFinder } from '../text/text-units.ts';
import type { JsonStep } from './json-value.ts';

/** Lists and records within each other that are followed; of what has more only the text can tell. */
const DEPTH_MAX = 64;

/** Given instead of a number of steps: the value is not on the path. */
const ASIDE = -1;

/** Given instead of a byte: the text has ended. */
const END = -1;

/**
 * Finds the scalar at a path of a text that is JSON by its bytes: the part of the text that `findJsonIn` and `scalarText`
 * give. Where that, or a name that may be on the path, has an escape, only the text itself can tell.
 */
export class JsonScalarFinder implements PartFinder {
  start = -1;
  end = -1;
  readonly #steps: readonly (number | Uint8Array)[];
  #bytes: Uint8Array = new Uint8Array(0);
  /** Where the next token begins, or the space before it. */
  #at = 0;
  #to = 0;
  #isUnclear = false;

  constructor(steps: readonly JsonStep[]) {
    this.#steps = steps.map((step) =>
      typeof step === 'number' ? step : new Uint8Array(encodeWtf8(step)),
    );
  }

  find(bytes: Uint8Array, from: number, to: number): boolean | undefined {
    this.#bytes = bytes;
    this.#at = from;
    this.#to = to;
    this.#isUnclear = false;
    this.start = -1;
    const isJson = this.#value(0, 0) && this.#token() === END;
    if (this.#isUnclear) return undefined;
    return isJson && this.start >= 0;
  }

  /** Whether a value stands here, which is passed. `taken`: how many steps lead to it. */
  #value(taken: number, depth: number): boolean {
    const byte = this.#token();
    const isFound = taken === this.#steps.length;
    if (byte === QUOTE) return this.#text(isFound);
    if (byte === BRACE) return this.#members(taken, depth + 1);
    if (byte === BRACKET) return this.#elements(taken, depth + 1);
    if (this.#passWord(NULL_WORD)) return true;
    const start = this.#at;
    const isScalar = this.#passWord(TRUE_WORD) || this.#passWord(FALSE_WORD) || this.#passNumber();
    if (isScalar && isFound) this.#note(start, this.#at);
    return isScalar;
  }

  #text(isFound: boolean): boolean {
    const start = this.#at + 1;
    const hasEscape = this.#passText();
    if (!isFound || hasEscape === undefined) return hasEscape !== undefined;
    this.#note(start, this.#at - 1);
    return !hasEscape || this.#leave();
  }

  #members(taken: number, depth: number): boolean {
    if (depth > DEPTH_MAX) return this.#leave();
    let name = taken === ASIDE ? undefined : this.#steps[taken];
    if (typeof name === 'number') name = undefined;
    this.#at++;
    if (this.#pass(BRACE_END)) return true;
    do {
      if (this.#token() !== QUOTE) return false;
      const start = this.#at + 1;
      const hasEscape = this.#passText();
      if (hasEscape === undefined) return false;
      if (hasEscape && name !== undefined) return this.#leave();
      const isNext = name !== undefined && this.#isBetween(start, this.#at - 1, name);
      // Of members of one name the first counts.
      if (isNext) name = undefined;
      if (!this.#pass(COLON) || !this.#value(isNext ? taken + 1 : ASIDE, depth)) return false;
    } while (this.#pass(COMMA));
    return this.#pass(BRACE_END);
  }

  #elements(taken: number, depth: number): boolean {
    if (depth > DEPTH_MAX) return this.#leave();
    const wanted = taken === ASIDE ? undefined : this.#steps[taken];
    this.#at++;
    if (this.#pass(BRACKET_END)) return true;
    let index = 0;
    do {
      if (!this.#value(index++ === wanted ? taken + 1 : ASIDE, depth)) return false;
    } while (this.#pass(COMMA));
    return this.#pass(BRACKET_END);
  }

  #note(start: number, end: number): void {
    this.start = start;
    this.end = end;
  }

  /** Ends the search: only the text can tell. */
  #leave(): false {
    this.#isUnclear = true;
    return false;
  }

  #isBetween(start: number, end: number, wanted: Uint8Array): boolean {
    if (end - start !== wanted.length) return false;
    for (let at = start; at < end; at++) {
      if (this.#bytes[at] !== wanted[at - start]) return false;
    }
    return true;
  }

  #byte(at: number): number {
    return at < this.#to ? this.#bytes[at]! : END;
  }

  /** The byte that the next token begins with. */
  #token(): number {
    let byte = this.#byte(this.#at);
    while (byte === SPACE || byte === TAB || byte === LINE_FEED || byte === RETURN) {
      byte = this.#byte(++this.#at);
    }
    return byte;
  }

  /** Whether a token is the next, which is passed then. */
  #pass(token: number): boolean {
    if (this.#token() !== token) return false;
    this.#at++;
    return true;
  }

  #passWord(word: Uint8Array): boolean {
    for (let index = 0; index < word.length; index++) {
      if (this.#byte(this.#at + index) !== word[index]) return false;
    }
    this.#at += word.length;
    return true;
  }

  /** Passes a text from its quote on: whether it has an escape; `undefined`: it is none. */
  #passText(): boolean | undefined {
    let hasEscape = false;
    for (let at = this.#at + 1; ; at++) {
      const byte = this.#byte(at);
      // A text ends with a quote, and a control character must be escaped.
      if (byte < SPACE) return undefined;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return hasEscape;
      }
      if (byte !== BACKSLASH) continue;
      hasEscape = true;
      const letter = this.#byte(++at);
      if (letter === LETTER_U) {
        for (const end = at + 4; at < end; ) if (!isHexDigit(this.#byte(++at))) return undefined;
      } else if (!SHORT_ESCAPES.includes(letter)) return undefined;
    }
  }

  /** `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?` */
  #passNumber(): boolean {
    if (this.#byte(this.#at) === MINUS) this.#at++;
    if (this.#byte(this.#at) === ZERO) this.#at++;
    else if (!this.#passDigits()) return false;
    if (this.#byte(this.#at) === POINT) {
      this.#at++;
      if (!this.#passDigits()) return false;
    }
    if ((this.#byte(this.#at) | LOWER_CASE) !== LETTER_E) return true;
    const sign = this.#byte(++this.#at);
    if (sign === MINUS || sign === PLUS) this.#at++;
    return this.#passDigits();
  }

  /** Whether there is one at least. */
  #passDigits(): boolean {
    const start = this.#at;
    while (isDigit(this.#byte(this.#at))) this.#at++;
    return this.#at > start;
  }
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte < ZERO + 10;
}

function isHexDigit(byte: number): boolean {
  const letter = byte | LOWER_CASE;
  return isDigit(byte) || (letter >= LETTER_A && letter < LETTER_A + 6);
}

const [SPACE, TAB, LINE_FEED, RETURN] = [0x20, 0x09, 0x0a, 0x0d];
const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];
const [ZERO, POINT, PLUS, MINUS] = [0x30, 0x2e, 0x2b, 0x2d];
const [LETTER_A, LETTER_E, LETTER_U] = [0x61, 0x65, 0x75];
/** The bit by which a small letter differs from its capital. */
const LOWER_CASE = 0x20;
const [NULL_WORD, TRUE_WORD, FALSE_WORD] = ['null', 'true', 'false'].map((word) =>
  encodeWtf8(word),
) as [Uint8Array, Uint8Array, Uint8Array];
const SHORT_ESCAPES = encodeWtf8('"\\/bfnrt');
