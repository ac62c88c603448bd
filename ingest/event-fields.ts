import {
  BIG_INTEGER,
  EMPTY_LIST,
  FALSE_KIND,
  FLOAT,
  HUGE_NUMBER,
  INTEGER,
  JSON_TEXT,
  NO_STRING,
  NODE_HEADER_SIZE,
  NULL_KIND,
  referenceLength,
  referenceOffset,
  TEXT,
  TRUE_KIND,
} from '../engine/columns.ts';
import { BRACE_OPEN } from './ascii.ts';
import type { BodyText } from './body-text.ts';
import { fieldKey, fieldKind, fieldSlotCount, fieldTokenCount } from './duplicate-key.ts';
import { timestampUsOfNumber, timestampUsOfText } from './event-time.ts';
import { ABSENT, FoundFields } from './found-fields.ts';
import type { JsonDecoder } from './json-decoder.ts';
import { METADATA_KEY, TIMESTAMP_KEY } from './known-key.ts';

/** The declared fields of one event at a time, by their key numbers. */
export class EventFields {
  readonly #text: BodyText;
  readonly #decoder: JsonDecoder;
  readonly #found = new FoundFields(METADATA_KEY + 1);

  constructor(text: BodyText, decoder: JsonDecoder) {
    this.#text = text;
    this.#decoder = decoder;
  }

  /** Finds the fields of the root record `tokens[start, end)` whose slots begin at `slotStart`. */
  find(start: number, end: number, slotStart: number): void {
    const { tokens } = this.#decoder;
    this.#found.clear();
    let slot = slotStart;
    for (let at = start + NODE_HEADER_SIZE; at < end; at += fieldTokenCount(tokens, at)) {
      const key = fieldKey(tokens, at);
      if (key <= METADATA_KEY) this.#found.set(key, at, slot);
      slot += fieldSlotCount(tokens, at);
    }
  }

  /** The field's kind; NULL_KIND if the event lacks it. */
  kind(key: number): number {
    const at = this.#found.at(key);
    return at === ABSENT ? NULL_KIND : fieldKind(this.#decoder.tokens, at);
  }

  hasValue(key: number): boolean {
    return this.kind(key) !== NULL_KIND;
  }

  /** The field's kind as a word for messages to senders. */
  kindName(key: number): string {
    switch (this.kind(key)) {
      case TEXT:
        return 'a string';
      case TRUE_KIND:
      case FALSE_KIND:
        return 'a boolean';
      case EMPTY_LIST:
        return 'a list';
      case JSON_TEXT: {
        const start = referenceOffset(this.#slot(key));
        if (this.#text.bytes[start] === BRACE_OPEN) return 'a map';
        return key === METADATA_KEY ? 'a list with other values' : 'a list';
      }
      default:
        return 'a number';
    }
  }

  /**
   * The event's own timestamp, in microseconds; `undefined` if it has none that can be read. `nowUs`: the time of
   * receipt.
   */
  timestampUs(nowUs: number): number | undefined {
    const kind = this.kind(TIMESTAMP_KEY);
    if (kind === INTEGER || kind === FLOAT) return timestampUsOfNumber(this.#slot(TIMESTAMP_KEY));
    if (kind !== TEXT && kind !== BIG_INTEGER) return undefined;
    const reference = this.#slot(TIMESTAMP_KEY);
    const start = referenceOffset(reference);
    return timestampUsOfText(this.#text.bytes, start, start + referenceLength(reference), nowUs);
  }

  /** The field as a string reference: the JSON text of a value that is not a string; NO_STRING for null. */
  toStringReference(key: number): number {
    switch (this.kind(key)) {
      case NULL_KIND:
        return NO_STRING;
      case TRUE_KIND:
        return this.#text.appendAscii('true');
      case FALSE_KIND:
        return this.#text.appendAscii('false');
      case EMPTY_LIST:
        return this.#text.appendAscii('[]');
      case INTEGER:
      case FLOAT: {
        const value = this.#slot(key);
        return this.#text.appendAscii(Object.is(value, -0) ? '-0' : String(value));
      }
      case TEXT:
      case JSON_TEXT:
      case BIG_INTEGER:
      case HUGE_NUMBER:
        return this.#slot(key);
      default:
        throw new Error('assertion failed: containers under columns of text are kept as text');
    }
  }

  #slot(key: number): number {
    return this.#decoder.slots[this.#found.getSlot(key)]!;
  }
}
