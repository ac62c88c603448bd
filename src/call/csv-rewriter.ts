import { assert } from '../../engine/columns.ts';
import { REWRITTEN_BYTES } from '../limits.ts';
import type { RowsRewriter } from './rows-rewriter.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const LIST_START = 0x5b;
const LIST_END = 0x5d;
const MAP_START = 0x7b;
const MAP_END = 0x7d;
const CARRIAGE_RETURN = 0x0d;
const NEWLINE = 0x0a;
const LETTER_N = 0x6e;
const LETTER_U = 0x75;

/** Bytes of `null` and of `\uXXXX`. */
const NULL_SIZE = 4;
const UNIT_ESCAPE_SIZE = 6;

/**
 * The most bytes that one step writes: an escaped character in UTF-8, or quotes and the end of a
 * row.
 */
const STEP_BYTES_MAX = 8;

/** The character that a letter after a backslash means. Others than `u` mean themselves. */
const SHORT_ESCAPES = new Uint8Array(256).map((_, byte) => byte);
for (const [letter, character] of ['b\b', 't\t', 'n\n', 'f\f', 'r\r']) {
  SHORT_ESCAPES[letter!.charCodeAt(0)] = character!.charCodeAt(0);
}

/** What the next byte is. */
type State =
  /** The start of a row, a separator of rows, or the end of the array. */
  | 'between'
  /** The first byte of a value. */
  | 'value'
  /** Inside a number or a word. */
  | 'plain'
  /** Inside a string. */
  | 'string'
  /** Inside a list or a map. */
  | 'nested'
  /** The byte after a value. */
  | 'after';

/**
 * Converts rows to CSV (RFC 4180): a header row with the names of the columns, lines that end in CR
 * LF, UTF-8. Strings, lists and maps are quoted, the latter two as JSON; numbers and booleans are
 * not. NULL is an empty field without quotes, which no string is. Fields are not changed to prevent
 * formulas in spreadsheets; that is left to the program that opens them.
 */
export class CsvRewriter implements RowsRewriter {
  readonly #rows: Uint8Array;
  readonly #columnCount: number;
  readonly #pieceBytes: number;
  /** The header row, until it has been written. */
  #header: Uint8Array | undefined;
  #state: State = 'between';
  #at = 1;
  /** How many lists and maps are open, and whether a string inside them is. */
  #depth = 0;
  #isInString = false;
  #piece = new Uint8Array(0);
  #size = 0;

  /**
   * `columns` are the names of the values of each row, in order. Pieces have at most `pieceBytes`,
   * 8 or more; the first has the header row in addition.
   */
  constructor(rows: Uint8Array, columns: readonly string[], pieceBytes: number = REWRITTEN_BYTES) {
    assert(pieceBytes >= STEP_BYTES_MAX, 'a piece has room for one step');
    this.#pieceBytes = pieceBytes;
    this.#rows = rows;
    this.#columnCount = columns.length;
    this.#header = Buffer.from(`${columns.map(nameField).join(',')}\r\n`);
  }

  /** Leaves the header row out, for rows that continue a table. */
  withoutHeader(): this {
    this.#header = undefined;
    return this;
  }

  next(): Uint8Array | undefined {
    if (this.#at >= this.#rows.length && this.#header === undefined) return undefined;
    const header = this.#header ?? this.#piece.subarray(0, 0);
    this.#piece = new Uint8Array(header.length + this.#pieceBytes);
    this.#piece.set(header);
    this.#size = header.length;
    this.#header = undefined;
    while (this.#at < this.#rows.length && this.#hasRoom()) this.#step();
    return this.#piece.subarray(0, this.#size);
  }

  #hasRoom(): boolean {
    return this.#size + STEP_BYTES_MAX <= this.#piece.length;
  }

  #step(): void {
    switch (this.#state) {
      case 'between':
        this.#beginRow();
        return;
      case 'value':
        this.#beginValue();
        return;
      case 'plain':
        this.#copyPlain();
        return;
      case 'string':
        this.#copyString();
        return;
      case 'nested':
        this.#copyNested();
        return;
      case 'after':
        this.#endValue();
        return;
    }
  }

  /** Consumes the next byte. */
  #take(): number {
    return this.#rows[this.#at++]!;
  }

  #write(byte: number): void {
    this.#piece[this.#size++] = byte;
  }

  #beginRow(): void {
    const byte = this.#take();
    if (byte !== MAP_START) return;
    if (this.#rows[this.#at] === MAP_END) this.#state = 'after';
    else this.#skipName();
  }

  /** Skips the name of a value; names are in the header row. */
  #skipName(): void {
    const rows = this.#rows;
    let at = this.#at + 1;
    for (; rows[at] !== QUOTE; at++) if (rows[at] === BACKSLASH) at += 1;
    // Skips the quote and the colon after it.
    this.#at = at + 2;
    this.#state = 'value';
  }

  #beginValue(): void {
    const byte = this.#rows[this.#at];
    if (byte === QUOTE) {
      this.#write(QUOTE);
      this.#at += 1;
      this.#state = 'string';
    } else if (byte === LIST_START || byte === MAP_START) {
      this.#write(QUOTE);
      this.#state = 'nested';
    } else if (byte === LETTER_N) {
      // Many readers would ignore an empty line.
      if (this.#columnCount === 1) for (const quote of [QUOTE, QUOTE]) this.#write(quote);
      this.#at += NULL_SIZE;
      this.#state = 'after';
    } else this.#state = 'plain';
  }

  #copyPlain(): void {
    const rows = this.#rows;
    for (; this.#hasRoom(); this.#at++) {
      const byte = rows[this.#at]!;
      if (byte === COMMA || byte === MAP_END) {
        this.#state = 'after';
        return;
      }
      this.#write(byte);
    }
  }

  #copyString(): void {
    const rows = this.#rows;
    const piece = this.#piece;
    const sizeMax = piece.length - STEP_BYTES_MAX;
    let at = this.#at;
    let size = this.#size;
    while (size <= sizeMax) {
      const byte = rows[at]!;
      if (byte === QUOTE || byte === BACKSLASH) break;
      piece[size++] = byte;
      at += 1;
    }
    this.#at = at;
    this.#size = size;
    if (size > sizeMax) return;
    if (rows[at] === BACKSLASH) {
      this.#unescape();
      return;
    }
    this.#write(QUOTE);
    this.#at += 1;
    this.#state = 'after';
  }

  /** Writes the character of one escape sequence. */
  #unescape(): void {
    const letter = this.#rows[this.#at + 1]!;
    if (letter !== LETTER_U) {
      if (letter === QUOTE) this.#write(QUOTE);
      this.#write(SHORT_ESCAPES[letter]!);
      this.#at += 2;
      return;
    }
    const unit = this.#unitAt(this.#at);
    const low = isHighSurrogate(unit) ? this.#unitAt(this.#at + UNIT_ESCAPE_SIZE) : Number.NaN;
    const isPair = low >= 0xdc00 && low <= 0xdfff;
    this.#at += isPair ? 2 * UNIT_ESCAPE_SIZE : UNIT_ESCAPE_SIZE;
    const text = isPair ? String.fromCharCode(unit, low) : String.fromCharCode(unit);
    // A lone surrogate has no UTF-8; it becomes U+FFFD.
    for (const byte of Buffer.from(text)) this.#write(byte);
    if (unit === QUOTE) this.#write(QUOTE);
  }

  /** Reads the code unit of the escape sequence at this position; NaN if there is none. */
  #unitAt(at: number): number {
    const rows = this.#rows;
    if (rows[at] !== BACKSLASH || rows[at + 1] !== LETTER_U) return Number.NaN;
    const digits = rows.subarray(at + 2, at + UNIT_ESCAPE_SIZE);
    return Number.parseInt(String.fromCharCode(...digits), 16);
  }

  #copyNested(): void {
    while (this.#hasRoom()) {
      const byte = this.#take();
      this.#write(byte);
      if (byte === QUOTE) {
        this.#write(QUOTE);
        this.#isInString = !this.#isInString;
      } else if (this.#isInString) {
        if (byte === BACKSLASH) this.#copyEscaped();
      } else if (byte === LIST_START || byte === MAP_START) this.#depth += 1;
      else if (byte === LIST_END || byte === MAP_END) {
        this.#depth -= 1;
        if (this.#depth > 0) continue;
        this.#write(QUOTE);
        this.#state = 'after';
        return;
      }
    }
  }

  /** Copies an escaped character, which does not end the string. */
  #copyEscaped(): void {
    const byte = this.#take();
    this.#write(byte);
    if (byte === QUOTE) this.#write(QUOTE);
  }

  #endValue(): void {
    const byte = this.#take();
    if (byte === COMMA) {
      this.#write(COMMA);
      this.#skipName();
      return;
    }
    this.#write(CARRIAGE_RETURN);
    this.#write(NEWLINE);
    this.#state = 'between';
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Formats the name of a column, quoted if needed. */
function nameField(name: string): string {
  return /[",\r\n]/.test(name) || name === '' ? `"${name.replaceAll('"', '""')}"` : name;
}
