import {
  BIG_INTEGER,
  EMPTY_LIST,
  FALSE_KIND,
  FLOAT,
  HUGE_NUMBER,
  INTEGER,
  JSON_TEXT,
  KIND_BITS,
  NODE_HEADER_SIZE,
  NULL_KIND,
  RECORD,
  RECORD_DEPTH_MAX,
  RECORD_LIST,
  stringReference,
  TEXT,
  TRUE_KIND,
} from '../engine/columns.ts';
import * as ascii from './ascii.ts';
import type { BodyText } from './body-text.ts';
import { dropDuplicates, fieldKey, fieldTokenCount } from './duplicate-key.ts';
import { EventLimitError } from './ingest-error.ts';
import { ENDS_STRING_RUN, type JsonCursor } from './json-cursor.ts';
import { FirstKeys, HASH_START, hashStep, KeyTable } from './key-table.ts';
import { COLUMN_TEXT_KEY_COUNT, KNOWN_KEYS } from './known-key.ts';
import { EVENT_FIELDS_MAX } from './limits.ts';
import type { Loan } from './memory-pool.ts';

/** Initial capacity of arrays, in entries. */
const TOKENS_MIN = 1024;
const SLOTS_MIN = 512;
const KEYS_MIN = 128;

const FIRST_KEYS = new FirstKeys(KNOWN_KEYS);

/**
 * Decodes JSON objects to tokens and slots (`engine/column/token.ts`), one after another, without creating JavaScript
 * objects. Memory is a small multiple of the text's size. Time is linear in it, whatever the keys, depth and
 * duplicates. Recursion ends at RECORD_DEPTH_MAX.
 *
 * A list is known to be a list of records only after its last element. It is decoded as one until an element of another
 * kind appears; then its tokens are dropped, and the rest of it is only validated, so no byte is read twice.
 */
export class JsonDecoder {
  readonly keys: KeyTable;
  tokens: Int32Array;
  tokenCount = 0;
  slots: Float64Array;
  slotCount = 0;
  readonly #memory: Loan;
  readonly #text: BodyText;
  readonly #cursor: JsonCursor;
  /** The number of the record in which each key was last seen. */
  #seenIn: Int32Array;
  /** The key that followed each key the last time; -1 if none did. */
  #keyAfter: Int32Array;
  #keyBefore = 0;
  #recordSerial = 0;
  /** Keys and maps that the current event may still have. */
  #fieldsLeft = 0;

  constructor(text: BodyText, cursor: JsonCursor, memory: Loan) {
    this.#text = text;
    this.#cursor = cursor;
    this.#memory = memory;
    this.tokens = memory.integers(TOKENS_MIN);
    this.slots = memory.numbers(SLOTS_MIN);
    this.keys = new KeyTable(text, memory, FIRST_KEYS);
    this.#seenIn = memory.integers(KEYS_MIN).fill(0);
    this.#keyAfter = memory.integers(KEYS_MIN).fill(-1);
  }

  /**
   * Decodes the object at the cursor's opening brace as a root record.
   *
   * @throws EventLimitError if it has more than EVENT_FIELDS_MAX keys and maps. The cursor is then within the object.
   */
  decodeRoot(): void {
    this.#fieldsLeft = EVENT_FIELDS_MAX;
    this.#record(0, 1);
  }

  /** Drops all tokens and slots from the given counts on. */
  truncate(tokenCount: number, slotCount: number): void {
    this.tokenCount = tokenCount;
    this.slotCount = slotCount;
  }

  /** `level`: depth of the record; the root has 1. */
  #record(key: number, level: number): void {
    const cursor = this.#cursor;
    const start = this.#openNode(key, RECORD);
    const slotStart = this.slotCount;
    let fieldCount = 0;
    if (--this.#fieldsLeft < 0) failTooManyFields();
    cursor.position++;
    let byte = cursor.skipSpace();
    if (byte !== ascii.BRACE_CLOSE) {
      for (;;) {
        if (byte !== ascii.QUOTE) cursor.fail('a key in quotes');
        cursor.position++;
        const fieldKey = this.#key();
        if (--this.#fieldsLeft < 0) failTooManyFields();
        cursor.skipColon();
        this.#value(fieldKey, level);
        fieldCount++;
        byte = cursor.skipSpace();
        if (byte === ascii.BRACE_CLOSE) break;
        if (byte !== ascii.COMMA) cursor.fail('"," or "}" after a value');
        cursor.position++;
        byte = cursor.skipSpace();
      }
    }
    cursor.position++;
    if (fieldCount > 1 && this.#hasDuplicates(start)) this.#dropDuplicates(start, slotStart);
    this.#closeNode(start, slotStart);
  }

  /** Reads from after the opening quote to after the closing one. Returns the key's number. */
  #key(): number {
    const cursor = this.#cursor;
    // Records of one kind mostly have their keys in one order, so the key that followed last time is tried first.
    const expected = this.#keyAfter[this.#keyBefore]!;
    if (expected >= 0 && this.keys.stands(expected, cursor.position, ascii.QUOTE)) {
      cursor.position += this.keys.getLength(expected) + 1;
      this.#keyBefore = expected;
      return expected;
    }
    return this.#unexpectedKey();
  }

  #unexpectedKey(): number {
    const cursor = this.#cursor;
    const bytes = this.#text.bytes;
    const start = cursor.position;
    let at = start;
    let hash = HASH_START;
    for (; ; at++) {
      const byte = bytes[at]!;
      if (ENDS_STRING_RUN[byte] !== 0) break;
      hash = hashStep(hash, byte);
    }
    if (bytes[at] === ascii.QUOTE) {
      cursor.position = at + 1;
      const key = this.keys.intern(start, at - start, hash);
      if (this.#keyAfter.length < this.keys.count) this.#growKeyAfter();
      this.#keyAfter[this.#keyBefore] = key;
      this.#keyBefore = key;
      return key;
    }
    // The text with its escapes differs from the key, so `#keyAfter` cannot predict it.
    const end = cursor.skipString();
    const unescaped = this.#text.size;
    this.#text.appendUnescaped(start, end);
    const length = this.#text.size - unescaped;
    return this.keys.intern(unescaped, length, this.keys.hash(unescaped, length));
  }

  #value(key: number, level: number): void {
    const cursor = this.#cursor;
    const byte = cursor.skipSpace();
    if (byte === ascii.QUOTE) {
      const start = ++cursor.position;
      const end = cursor.skipString();
      this.#slot(
        key,
        TEXT,
        cursor.hasEscape
          ? this.#text.appendUnescaped(start, end)
          : stringReference(start, end - start),
      );
    } else if (byte === ascii.BRACE_OPEN) {
      const isText = isKeptAsText(key, level);
      if (isText) this.#jsonText(key);
      else this.#record(key, level + 1);
    } else if (byte === ascii.BRACKET_OPEN) {
      this.#list(key, level);
    } else if (byte === ascii.MINUS || ascii.isDigit(byte)) {
      this.#numberValue(key);
    } else if (byte === ascii.LOWER_T) {
      cursor.skipWord('true');
      this.#token(key, TRUE_KIND);
    } else if (byte === ascii.LOWER_F) {
      cursor.skipWord('false');
      this.#token(key, FALSE_KIND);
    } else if (byte === ascii.LOWER_N) {
      cursor.skipWord('null');
      this.#token(key, NULL_KIND);
    } else {
      cursor.fail('a value');
    }
  }

  #list(key: number, level: number): void {
    const cursor = this.#cursor;
    const textStart = cursor.position++;
    let byte = cursor.skipSpace();
    if (byte === ascii.BRACKET_CLOSE) {
      cursor.position++;
      this.#token(key, EMPTY_LIST);
      return;
    }
    const isText = isKeptAsText(key, level);
    if (isText || byte !== ascii.BRACE_OPEN) {
      cursor.skipListRest();
      this.#slot(key, JSON_TEXT, stringReference(textStart, cursor.position - textStart));
      return;
    }
    const start = this.#openNode(key, RECORD_LIST);
    const slotStart = this.slotCount;
    for (;;) {
      this.#record(0, level + 1);
      byte = cursor.skipSpace();
      if (byte === ascii.BRACKET_CLOSE) break;
      if (byte !== ascii.COMMA) cursor.fail('"," or "]" after a value');
      cursor.position++;
      if (cursor.skipSpace() !== ascii.BRACE_OPEN) {
        cursor.skipListRest();
        this.truncate(start, slotStart);
        this.#slot(key, JSON_TEXT, stringReference(textStart, cursor.position - textStart));
        return;
      }
    }
    cursor.position++;
    this.#closeNode(start, slotStart);
  }

  #jsonText(key: number): void {
    const start = this.#cursor.position;
    this.#cursor.skipValue();
    this.#slot(key, JSON_TEXT, stringReference(start, this.#cursor.position - start));
  }

  #numberValue(key: number): void {
    const cursor = this.#cursor;
    const bytes = this.#text.bytes;
    const start = cursor.position;
    let at = start;
    let value = 0;
    for (; ; at++) {
      const byte = bytes[at]!;
      if (!ascii.isDigit(byte)) break;
      value = value * 10 + (byte - ascii.DIGIT_0);
    }
    const next = bytes[at];
    // A sum of digits below 2^53 was exact at every step. Times in microseconds have sixteen digits.
    const isPlain =
      value <= Number.MAX_SAFE_INTEGER &&
      at - start <= 16 &&
      (bytes[start] !== ascii.DIGIT_0 || at - start === 1) &&
      next !== ascii.DOT &&
      next !== ascii.LOWER_E &&
      next !== ascii.UPPER_E &&
      at > start;
    if (isPlain) {
      // Fast path for integers, which most numbers are; the general form is below.
      cursor.position = at;
      this.#slot(key, INTEGER, value);
      return;
    }
    const isInteger = cursor.skipNumber();
    const end = cursor.position;
    value = Number(this.#text.ascii(start, end));
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
      this.#slot(key, INTEGER, value);
    } else if (!Number.isFinite(value)) {
      this.#slot(key, HUGE_NUMBER, stringReference(start, end - start));
    } else if (isInteger && value !== 0) {
      this.#slot(key, BIG_INTEGER, stringReference(start, end - start));
    } else {
      this.#slot(key, FLOAT, value);
    }
  }

  #token(key: number, kind: number): void {
    if (this.tokenCount === this.tokens.length) this.#growTokens();
    this.tokens[this.tokenCount++] = (key << KIND_BITS) | kind;
  }

  /** Appends a token with its slot: a number or a string reference. */
  #slot(key: number, kind: number, value: number): void {
    this.#token(key, kind);
    if (this.slotCount === this.slots.length) this.#growSlots();
    this.slots[this.slotCount++] = value;
  }

  #openNode(key: number, kind: number): number {
    const start = this.tokenCount;
    if (start + NODE_HEADER_SIZE > this.tokens.length) this.#growTokens();
    this.tokens[start] = (key << KIND_BITS) | kind;
    this.tokenCount = start + NODE_HEADER_SIZE;
    return start;
  }

  #closeNode(start: number, slotStart: number): void {
    this.tokens[start + 1] = this.tokenCount - start - NODE_HEADER_SIZE;
    this.tokens[start + 2] = this.slotCount - slotStart;
  }

  /** Whether two direct fields of the record that ends here have the same key. */
  #hasDuplicates(start: number): boolean {
    const tokens = this.tokens;
    const end = this.tokenCount;
    if (this.#seenIn.length < this.keys.count) {
      this.#seenIn = this.#memory.integers(this.keys.count * 2).fill(0);
    }
    const seenIn = this.#seenIn;
    const serial = ++this.#recordSerial;
    let at = start + NODE_HEADER_SIZE;
    while (at < end) {
      const key = fieldKey(tokens, at);
      if (seenIn[key] === serial) return true;
      seenIn[key] = serial;
      at += fieldTokenCount(tokens, at);
    }
    return false;
  }

  #dropDuplicates(start: number, slotStart: number): void {
    const tokens = this.tokens.subarray(start + NODE_HEADER_SIZE, this.tokenCount);
    const slots = this.slots.subarray(slotStart, this.slotCount);
    const kept = dropDuplicates(tokens, slots);
    this.truncate(start + NODE_HEADER_SIZE + kept.tokenCount, slotStart + kept.slotCount);
  }

  #growKeyAfter(): void {
    const grown = this.#memory.integers(this.keys.count * 2).fill(-1);
    grown.set(this.#keyAfter);
    this.#keyAfter = grown;
  }

  #growTokens(): void {
    const grown = this.#memory.integers(this.tokens.length * 2);
    grown.set(this.tokens);
    this.tokens = grown;
  }

  #growSlots(): void {
    const grown = this.#memory.numbers(this.slots.length * 2);
    grown.set(this.slots);
    this.slots = grown;
  }
}

/** Refuses an event for its number of keys and maps, in every format. */
export function failTooManyFields(): never {
  throw new EventLimitError(`an event may have ${EVENT_FIELDS_MAX} keys and maps; got more`);
}

/** Whether a container under `key` in a record of `level` is stored as text, whatever it holds. */
function isKeptAsText(key: number, level: number): boolean {
  return level === RECORD_DEPTH_MAX || (level === 1 && key < COLUMN_TEXT_KEY_COUNT);
}
