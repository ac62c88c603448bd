import * as ascii from '../ascii.ts';
import { BodyText } from '../body-text.ts';
import { EventLimitError, MalformedBodyError } from '../ingest-error.ts';
import { JsonCursor } from '../json-cursor.ts';
import { failTooManyFields } from '../json-decoder.ts';
import { EVENT_FIELDS_MAX } from '../limits.ts';
import type { Loan } from '../memory-pool.ts';

/** What a value is, as its first byte tells. */
export type JsonKind = 'object' | 'list' | 'string' | 'number' | 'boolean' | 'null';

/** Where a value of the text stands. */
export type JsonPlace = { readonly start: number; readonly end: number };

/** No value is due. */
const NOWHERE = -1;

/**
 * Reads JSON from left to right, value by value, as its caller asks. Values that mean nothing to the caller
 * are stepped over, and those that are passed on keep the text they were sent with, so no digit of a number is
 * lost. Nothing recurses, however deep the text.
 *
 * ```
 * reader.enterObject();
 * for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey())
 *   if (key === 'name') name = reader.text();
 * ```
 *
 * A member or an element that the caller does not read is stepped over by the next call. Every method throws
 * `MalformedBodyError` where the text is not JSON, or not of the kind that was asked for.
 */
export class JsonReader {
  readonly #text: BodyText;
  readonly #cursor: JsonCursor;
  /** Of each container entered, whether something of it was read. */
  readonly #hasMember: boolean[] = [];
  /** Where a value is due that may be left unread. */
  #dueAt = NOWHERE;
  /** Members and elements that may still be read; of what is no event, any number. */
  #membersLeft = Number.POSITIVE_INFINITY;

  /** The text is `pieces`, end to end; `isLines`: each line is one of its own, for errors to name. */
  constructor(
    pieces: readonly Uint8Array[],
    options: { readonly memory: Loan; readonly isLines?: boolean },
  ) {
    this.#text = BodyText.of(pieces, options.memory);
    this.#cursor = new JsonCursor(this.#text, options.isLines ?? false);
    this.#cursor.checkUtf8();
    this.#cursor.skipMark();
  }

  /** Bytes read so far. */
  get position(): number {
    return this.#cursor.position;
  }

  /** Of the value that is due. */
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

  /** The key of the object's next member, whose value is due then; `undefined` behind the last. */
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

  /** Whether the list has one more element, which is due then. */
  hasNext(): boolean {
    const byte = this.#nextByte(ascii.BRACKET_CLOSE, '"," or "]" after a value');
    if (byte !== undefined) this.#dueAt = this.#cursor.position;
    return byte !== undefined;
  }

  /** The string that is due, without its quotes and escapes. */
  text(): string {
    if (this.#cursor.skipSpace() !== ascii.QUOTE) this.#cursor.fail('a string');
    return this.#string();
  }

  /** The value that is due, as the text it was sent with. */
  json(): string {
    const { start, end } = this.skip();
    return this.#text.utf8(start, end);
  }

  /** Steps over the value that is due. */
  skip(): JsonPlace {
    this.#cursor.skipSpace();
    const start = this.#cursor.position;
    this.#cursor.skipValue();
    return { start, end: this.#cursor.position };
  }

  /** Goes back to a value that was stepped over, so that it is due again, or forth to where it was left. */
  goTo(place: { readonly start: number }): void {
    this.#cursor.position = place.start;
    this.#dueAt = NOWHERE;
  }

  /**
   * Goes to the next line that is more than white space, as one text; `false` behind the last. What was read
   * before must have ended with `endText`.
   */
  nextLine(): boolean {
    const { bytes, bodySize } = this.#text;
    for (;;) {
      const start = this.#cursor.position;
      if (start >= bodySize) return false;
      const lineFeed = bytes.indexOf(ascii.LINE_FEED, start);
      this.#cursor.enterLine(start, lineFeed < 0 || lineFeed > bodySize ? bodySize : lineFeed);
      // A line ends as a body does, for a moment: with a zero byte.
      bytes[this.#cursor.end] = 0;
      if (this.#cursor.skipSpace() !== 0 || this.#cursor.position < this.#cursor.end) return true;
      this.#leaveLine();
    }
  }

  /** Nothing but white space may follow, up to the end of the line or of all. */
  endText(): void {
    const { end } = this.#cursor;
    this.#cursor.skipSpace();
    if (this.#cursor.position < end) this.#cursor.fail('the end of the text after a value');
    if (end < this.#text.bodySize) this.#leaveLine();
  }

  /**
   * What `read` makes of a value that is worked on in one step: an event, or what many events have in common.
   *
   * @throws EventLimitError where it reads more members and elements than an event may have.
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

  /** What `read` makes of the value that is due. The error when that is too large: then the reader is behind the value. */
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
   * What `read` makes of the line that is due, or of the next one when it calls `nextLine`; it must read all of it. The
   * error when that is not JSON, not what `read` wants, or too large: then the reader is behind the line.
   */
  tryLine<T>(read: () => T): T | MalformedBodyError | EventLimitError {
    try {
      const value = this.bounded(read);
      this.endText();
      return value;
    } catch (error) {
      if (!(error instanceof MalformedBodyError || error instanceof EventLimitError)) throw error;
      this.#hasMember.length = 0;
      this.#dueAt = NOWHERE;
      this.#leaveLine();
      return error;
    }
  }

  /** Refuses the text at the value that is due. */
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

  /** The byte that the next member begins with; `undefined` when the container has ended. */
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
