import * as ascii from '../ascii.ts';
import { BodyText } from '../body-text.ts';
import { EventLimitError, MalformedBodyError } from '../ingest-error.ts';
import { JsonCursor } from '../json-cursor.ts';
import { failTooManyFields } from '../json-decoder.ts';
import { EVENT_FIELDS_MAX } from '../limits.ts';
import type { Loan } from '../memory-pool.ts';

/** The kind of a value, by its first byte. */
export type JsonKind = 'object' | 'list' | 'string' | 'number' | 'boolean' | 'null';

/** The position of a value in the text. */
export type JsonPlace = { readonly start: number; readonly end: number };

/** No value is next. */
const NOWHERE = -1;

/**
 * Reads JSON from left to right, value by value, as the caller requests. The caller may skip a value, or take its
 * original text, so numbers keep all digits. Nothing recurses, whatever the depth.
 *
 * ```
 * reader.enterObject();
 * for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey())
 *   if (key === 'name') name = reader.text();
 * ```
 *
 * A member or an element that the caller does not read is skipped by the next call. Every method throws
 * `MalformedBodyError` if the text is not JSON, or not of the requested kind.
 */
export class JsonReader {
  readonly #text: BodyText;
  readonly #cursor: JsonCursor;
  /** For each open container, whether a member was read. */
  readonly #hasMember: boolean[] = [];
  /** The start of the next value, which may be left unread. */
  #dueAt = NOWHERE;
  /** Members and elements that may still be read; unlimited outside of an event. */
  #membersLeft = Number.POSITIVE_INFINITY;

  /** The text is `pieces`, end to end. `isLines`: each line is a separate text, for positions in errors. */
  constructor(
    pieces: readonly Uint8Array[],
    options: { readonly memory: Loan; readonly isLines?: boolean },
  ) {
    this.#text = BodyText.of(pieces, options.memory);
    this.#cursor = new JsonCursor(this.#text, options.isLines ?? false);
    this.#cursor.checkUtf8();
    this.#cursor.skipMark();
  }

  /** The whole body; a caller must read it again after any other call. */
  get bytes(): Buffer {
    return this.#text.bytes;
  }

  /** Number of bytes read so far. */
  get position(): number {
    return this.#cursor.position;
  }

  /** Whether another value follows, in a text of values one after another, with or without white space between. */
  hasValue(): boolean {
    return this.#cursor.skipSpace() !== 0 || this.#cursor.position < this.#cursor.end;
  }

  /** The kind of the next value. */
  kind(): JsonKind {
    const byte = this.#cursor.skipSpace();
    if (byte === ascii.BRACE_OPEN) return 'object';
    if (byte === ascii.BRACKET_OPEN) return 'list';
    if (byte === ascii.QUOTE) return 'string';
    if (byte === ascii.LOWER_T || byte === ascii.LOWER_F) return 'boolean';
    if (byte === ascii.LOWER_N) return 'null';
    if (byte === ascii.MINUS || ascii.isDigit(byte)) return 'number';
    this.#cursor.fail('a value');
  }

  enterObject(): void {
    this.#enter(ascii.BRACE_OPEN, 'an object');
  }

  enterList(): void {
    this.#enter(ascii.BRACKET_OPEN, 'a list');
  }

  /** The key of the object's next member, whose value is next then; `undefined` at the end of the object. */
  nextKey(): string | undefined {
    const byte = this.#nextByte(ascii.BRACE_CLOSE, '"," or "}" after a value');
    if (byte === undefined) return undefined;
    if (byte !== ascii.QUOTE) this.#cursor.fail('a key in quotes');
    const key = this.#string();
    this.#cursor.skipColon();
    this.#cursor.skipSpace();
    this.#dueAt = this.#cursor.position;
    return key;
  }

  /** Whether the list has another element, which is next then. */
  hasNext(): boolean {
    const byte = this.#nextByte(ascii.BRACKET_CLOSE, '"," or "]" after a value');
    if (byte !== undefined) this.#dueAt = this.#cursor.position;
    return byte !== undefined;
  }

  /** Reads the next value, a string, and unescapes it. */
  text(): string {
    if (this.#cursor.skipSpace() !== ascii.QUOTE) this.#cursor.fail('a string');
    return this.#string();
  }

  /** Reads the next value as its original text. */
  json(): string {
    const { start, end } = this.skip();
    return this.#text.utf8(start, end);
  }

  /** Skips the next value. */
  skip(): JsonPlace {
    this.#cursor.skipSpace();
    const start = this.#cursor.position;
    this.#cursor.skipValue();
    return { start, end: this.#cursor.position };
  }

  /** Returns to a value that was skipped, which is next then, or to the place where reading had stopped. */
  goTo(place: { readonly start: number }): void {
    this.#cursor.position = place.start;
    this.#dueAt = NOWHERE;
  }

  /**
   * Goes to the next line that is not blank, as a separate text; `false` if there is none. The previous text must have
   * ended with `endText`.
   */
  nextLine(): boolean {
    const { bytes, bodySize } = this.#text;
    for (;;) {
      const start = this.#cursor.position;
      if (start >= bodySize) return false;
      const lineFeed = bytes.indexOf(ascii.LINE_FEED, start);
      this.enterText({ start, end: lineFeed < 0 || lineFeed > bodySize ? bodySize : lineFeed });
      if (this.#cursor.skipSpace() !== 0 || this.#cursor.position < this.#cursor.end) return true;
      this.#leaveLine();
    }
  }

  /** The text of the current line, from the next value on, without white space after it. */
  lineText(): string {
    return this.#text.utf8(this.#cursor.position, this.#cursor.end).trimEnd();
  }

  /** Whether the body is one value, on however many lines. The first value is next in any case. */
  isOneText(): boolean {
    const start = this.#cursor.position;
    try {
      this.skip();
      this.#cursor.skipSpace();
      return this.#cursor.position === this.#text.bodySize;
    } catch (error) {
      if (!(error instanceof MalformedBodyError)) throw error;
      return false;
    } finally {
      this.#cursor.position = start;
    }
  }

  /**
   * Goes to a part of the body as a separate text. A line feed or the end of the body must follow it. The text must be
   * ended by `endText` or `leaveText`.
   */
  enterText({ start, end }: JsonPlace): void {
    this.#cursor.enterLine(start, end);
    // A zero byte temporarily ends the text, as it ends a body.
    this.#text.bytes[end] = 0;
  }

  /** Gives up the current text wherever the reader is in it, and goes to the byte after the line feed that ends it. */
  leaveText(): void {
    this.#hasMember.length = 0;
    this.#dueAt = NOWHERE;
    this.#leaveLine();
  }

  /** Requires that only white space follows, up to the end of the line or of the body. */
  endText(): void {
    const { end } = this.#cursor;
    this.#cursor.skipSpace();
    if (this.#cursor.position < end) this.#cursor.fail('the end of the text after a value');
    if (end < this.#text.bodySize) this.#leaveLine();
  }

  /**
   * Runs `read` on a value that is processed in one step: an event, or data that many events share.
   *
   * @throws EventLimitError if `read` reads more members and elements than an event may have.
   */
  bounded<T>(read: () => T): T {
    const leftBefore = this.#membersLeft;
    this.#membersLeft = EVENT_FIELDS_MAX;
    try {
      return read();
    } finally {
      this.#membersLeft = leftBefore;
    }
  }

  /** Runs `read` on the next value. Returns the error if the value is too large; the reader is after the value then. */
  tryEvent<T>(read: () => T): T | EventLimitError {
    const place = { start: this.position };
    const depth = this.#hasMember.length;
    try {
      return this.bounded(read);
    } catch (error) {
      if (!(error instanceof EventLimitError)) throw error;
      this.#hasMember.length = depth;
      this.goTo(place);
      this.skip();
      return error;
    }
  }

  /**
   * Runs `read` on the current line, or on the next one if `read` calls `nextLine`; it must read all of it. Returns the
   * error if the line is not JSON, not what `read` expects, or too large; the reader is after the line then.
   */
  tryLine<T>(read: () => T): T | MalformedBodyError | EventLimitError {
    try {
      const value = this.bounded(read);
      this.endText();
      return value;
    } catch (error) {
      if (!(error instanceof MalformedBodyError || error instanceof EventLimitError)) throw error;
      this.leaveText();
      return error;
    }
  }

  /** Throws an error at the next value. */
  fail(expected: string): never {
    this.#cursor.fail(expected);
  }

  #leaveLine(): void {
    const { end } = this.#cursor;
    if (end < this.#text.bodySize) this.#text.bytes[end] = ascii.LINE_FEED;
    this.#cursor.position = end + 1;
  }

  #enter(opening: number, name: string): void {
    if (this.#cursor.skipSpace() !== opening) this.#cursor.fail(name);
    this.#cursor.position++;
    this.#hasMember.push(false);
    this.#dueAt = NOWHERE;
  }

  /** The first byte of the next member; `undefined` at the end of the container. */
  #nextByte(closing: number, expected: string): number | undefined {
    const cursor = this.#cursor;
    if (cursor.position === this.#dueAt) cursor.skipValue();
    this.#dueAt = NOWHERE;
    let byte = cursor.skipSpace();
    if (byte === closing) {
      cursor.position++;
      this.#hasMember.pop();
      return undefined;
    }
    const last = this.#hasMember.length - 1;
    if (this.#hasMember[last]) {
      if (byte !== ascii.COMMA) cursor.fail(expected);
      cursor.position++;
      byte = cursor.skipSpace();
    }
    this.#hasMember[last] = true;
    if (--this.#membersLeft < 0) failTooManyFields();
    return byte;
  }

  #string(): string {
    const start = ++this.#cursor.position;
    const end = this.#cursor.skipString();
    if (!this.#cursor.hasEscape) return this.#text.utf8(start, end);
    const size = this.#text.size;
    this.#text.appendUnescaped(start, end);
    const text = this.#text.utf8(size, this.#text.size);
    this.#text.size = size;
    return text;
  }
}
