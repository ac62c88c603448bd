import { isUtf8 } from 'node:buffer';
import * as ascii from './ascii.ts';
import { type BodyText, SHORT_ESCAPES } from './body-text.ts';
import { InvalidUtf8Error, MalformedBodyError } from './ingest-error.ts';

/** 1 for each byte that ends a run of ordinary characters in a string. */
export const ENDS_STRING_RUN = new Uint8Array(256);
ENDS_STRING_RUN.fill(1, 0, 0x20);
ENDS_STRING_RUN[ascii.QUOTE] = 1;
ENDS_STRING_RUN[ascii.BACKSLASH] = 1;

const LIST = 0;
const MAP = 1;

/**
 * A position in a body that is read as JSON (RFC 8259). Every method either skips valid JSON or throws
 * `MalformedBodyError`. None of them recurses. `end` is the end of the text; the byte there is zero, which no value
 * contains.
 */
export class JsonCursor {
  readonly text: BodyText;
  readonly #isLines: boolean;
  position = 0;
  end: number;
  /** Whether the last string skipped has escapes. */
  hasEscape = false;
  #stack = new Uint8Array(64);
  /** The number of the current line, from 1, and its start. */
  #line = 0;
  #lineStart = 0;

  /** `isLines`: each line is a separate text. Affects only the positions in error messages. */
  constructor(text: BodyText, isLines: boolean) {
    this.text = text;
    this.#isLines = isLines;
    this.end = text.bodySize;
  }

  /**
   * Checks the whole body, so that no later step has to.
   *
   * @throws InvalidUtf8Error unless the body is valid UTF-8.
   */
  checkUtf8(): void {
    if (!isUtf8(this.text.bytes.subarray(0, this.text.bodySize))) throw new InvalidUtf8Error();
  }

  /** Skips a byte order mark. */
  skipMark(): void {
    const { bytes } = this.text;
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.position = 3;
  }

  /** Turns to the next line as a separate text: `[start, end)`. */
  enterLine(start: number, end: number): void {
    this.position = start;
    this.end = end;
    this.#line++;
    this.#lineStart = start;
  }

  /** Skips white space. Returns the byte after it, zero at the end. */
  skipSpace(): number {
    const bytes = this.text.bytes;
    for (;;) {
      const byte = bytes[this.position]!;
      if (byte > ascii.SPACE || !isSpace(byte)) return byte;
      this.position++;
    }
  }

  /** Skips from after the opening quote to after the closing one. Returns the offset of the closing quote. */
  skipString(): number {
    const bytes = this.text.bytes;
    let at = this.position;
    this.hasEscape = false;
    for (;;) {
      while (ENDS_STRING_RUN[bytes[at]!] === 0) at++;
      if (bytes[at] === ascii.QUOTE) break;
      at = this.#skipEscape(at);
    }
    this.position = at + 1;
    return at;
  }

  #skipEscape(at: number): number {
    const bytes = this.text.bytes;
    this.position = at;
    if (bytes[at] !== ascii.BACKSLASH)
      this.fail('a closing quote, or \\u00XX for a control character');
    this.hasEscape = true;
    if (SHORT_ESCAPES[bytes[at + 1]!] !== 0) return at + 2;
    this.position = at + 1;
    if (bytes[at + 1] !== ascii.LOWER_U) this.fail('one of "\\/bfnrtu after a backslash');
    for (let digit = at + 2; digit < at + 6; digit++) {
      this.position = digit;
      if (!isHexadecimal(bytes[digit]!)) this.fail('four hexadecimal digits after \\u');
    }
    return at + 6;
  }

  /** Skips a number. Returns whether its text is an integer: no fraction, no exponent. */
  skipNumber(): boolean {
    const bytes = this.text.bytes;
    if (bytes[this.position] === ascii.MINUS) this.position++;
    if (bytes[this.position] === ascii.DIGIT_0) this.position++;
    else this.#skipDigits();
    let isInteger = true;
    if (bytes[this.position] === ascii.DOT) {
      isInteger = false;
      this.position++;
      this.#skipDigits();
    }
    const byte = bytes[this.position];
    if (byte !== ascii.LOWER_E && byte !== ascii.UPPER_E) return isInteger;
    const sign = bytes[++this.position];
    if (sign === ascii.PLUS || sign === ascii.MINUS) this.position++;
    this.#skipDigits();
    return false;
  }

  #skipDigits(): void {
    const bytes = this.text.bytes;
    const start = this.position;
    while (ascii.isDigit(bytes[this.position]!)) this.position++;
    if (this.position === start) this.fail('a digit');
  }

  /** Skips `true`, `false` or `null`, given as `word`. */
  skipWord(word: string): void {
    const bytes = this.text.bytes;
    for (let index = 0; index < word.length; index++) {
      if (bytes[this.position] !== word.charCodeAt(index)) this.fail(word);
      this.position++;
    }
  }

  /** Skips the colon after a key. */
  skipColon(): void {
    if (this.skipSpace() !== ascii.COLON) this.fail('":" after a key');
    this.position++;
  }

  /** Skips any value of any depth, with the white space before it. */
  skipValue(): void {
    this.#skipNested(0);
  }

  /** Skips from before a list's next element to after its closing bracket. */
  skipListRest(): void {
    this.#stack[0] = LIST;
    this.#skipNested(1);
  }

  /** Skips a value and the rest of the containers in `#stack[0, depthStart)`. */
  #skipNested(depthStart: number): void {
    let depth = depthStart;
    for (;;) {
      const byte = this.skipSpace();
      if (byte === ascii.BRACE_OPEN || byte === ascii.BRACKET_OPEN) {
        const container = byte === ascii.BRACE_OPEN ? MAP : LIST;
        this.position++;
        if (this.skipSpace() === getClosing(container)) {
          this.position++;
        } else {
          this.#push(depth++, container);
          if (container === MAP) this.#skipKey();
          continue;
        }
      } else {
        this.#skipScalar(byte);
      }
      depth = this.#skipClosings(depth);
      if (depth === 0) return;
    }
  }

  /** Skips closing brackets after a value, up to the next value. Returns the depth there. */
  #skipClosings(depthStart: number): number {
    let depth = depthStart;
    while (depth > 0) {
      const container = this.#stack[depth - 1] === MAP ? MAP : LIST;
      const byte = this.skipSpace();
      if (byte === ascii.COMMA) {
        this.position++;
        if (container === MAP) this.#skipKey();
        return depth;
      }
      if (byte !== getClosing(container)) {
        this.fail(container === MAP ? '"," or "}" after a value' : '"," or "]" after a value');
      }
      this.position++;
      depth--;
    }
    return 0;
  }

  #push(depth: number, container: number): void {
    if (depth === this.#stack.length) {
      const grown = new Uint8Array(depth * 2);
      grown.set(this.#stack);
      this.#stack = grown;
    }
    this.#stack[depth] = container;
  }

  #skipKey(): void {
    if (this.skipSpace() !== ascii.QUOTE) this.fail('a key in quotes');
    this.position++;
    this.skipString();
    this.skipColon();
  }

  #skipScalar(byte: number): void {
    if (byte === ascii.QUOTE) {
      this.position++;
      this.skipString();
    } else if (byte === ascii.MINUS || ascii.isDigit(byte)) {
      this.skipNumber();
    } else if (byte === ascii.LOWER_T) this.skipWord('true');
    else if (byte === ascii.LOWER_F) this.skipWord('false');
    else if (byte === ascii.LOWER_N) this.skipWord('null');
    else this.fail('a value');
  }

  /** Throws an error with the position, what was found and what was expected. */
  fail(expected: string): never {
    const bytes = this.text.bytes;
    const at = Math.min(this.position, this.end);
    let line = this.#isLines ? this.#line : 1;
    let lineStart = this.#lineStart;
    for (let index = 0; index < at && !this.#isLines; index++) {
      if (bytes[index] === ascii.LINE_FEED) {
        line++;
        lineStart = index + 1;
      }
    }
    const byte = at < this.end ? bytes[at] : undefined;
    const theEnd = `the end of the ${this.#isLines ? 'line' : 'body'}`;
    const got = byte === undefined ? theEnd : byteName(byte);
    const place = `byte ${at - lineStart + 1}`;
    throw new MalformedBodyError(
      this.#isLines
        ? `line ${line} is not JSON: expected ${expected}; got ${got} at ${place}`
        : `the body is not JSON: expected ${expected}; got ${got} at line ${line}, ${place}`,
    );
  }
}

function getClosing(container: number): number {
  return container === MAP ? ascii.BRACE_CLOSE : ascii.BRACKET_CLOSE;
}

/** Whether a byte is white space of JSON. */
export function isSpace(byte: number): boolean {
  return (
    byte === ascii.SPACE ||
    byte === ascii.LINE_FEED ||
    byte === ascii.CARRIAGE_RETURN ||
    byte === ascii.TAB
  );
}

function isHexadecimal(byte: number): boolean {
  const lower = byte | 0x20;
  return ascii.isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}

function byteName(byte: number): string {
  const isPrintable = byte > ascii.SPACE && byte < 0x7f;
  return isPrintable
    ? `"${String.fromCharCode(byte)}"`
    : `byte 0x${byte.toString(16).padStart(2, '0')}`;
}
