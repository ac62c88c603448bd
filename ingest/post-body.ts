import { STRING_LENGTH_MAX } from '../engine/columns.ts';
import * as ascii from './ascii.ts';
import { sizeOfPieces } from './body-pieces.ts';
import { BodyText } from './body-text.ts';
import { Slices, yieldToEventLoop } from './event-loop.ts';
import { BodyLimitError, EventLimitError, MalformedBodyError } from './ingest-error.ts';
import { isSpace, JsonCursor } from './json-cursor.ts';
import { JsonDecoder } from './json-decoder.ts';
import { ADDRESS_KEYS } from './known-key.ts';
import {
  BODY_EVENTS_MAX,
  DECODE_PART_BYTES,
  DECODE_SLICE_BYTES,
  REFUSALS_LISTED_MAX,
} from './limits.ts';
import { type Loan, MemoryPool } from './memory-pool.ts';
import { REPLACEMENT, withRepairedUtf8 } from './utf8-repair.ts';

/** What a sender says that a body is; `any` where it says nothing: a document, or lines of JSON. */
export type BodyForm = 'json' | 'ndjson' | 'any';

/** The source that a body names itself; `source` and `collection` are UUIDs. */
export type PostAddress = {
  readonly source_name?: string | undefined;
  readonly collection_name?: string | undefined;
  readonly source?: string | undefined;
  readonly collection?: string | undefined;
};

/**
 * The decoded events of one body, before admission. Events are numbered from zero in the order posted. The tokens
 * `[starts[i], starts[i + 1])` are the root record of event `i` with all of its keys. There are none if the event is
 * not an object or is too large, or if its line is not JSON. It is admitted once, then dropped.
 */
export type DecodedBody = {
  readonly address: PostAddress;
  readonly eventCount: number;
  readonly text: BodyText;
  readonly decoder: JsonDecoder;
  /** The start of each event's tokens; at least `eventCount + 1` entries. */
  readonly tokenStarts: Uint32Array;
  /** The start of each event's slots; at least `eventCount + 1` entries. */
  readonly slotStarts: Uint32Array;
  /** The reasons for lines that are not JSON and events that are too large, by event; the first REFUSALS_LISTED_MAX. */
  readonly badEvents: ReadonlyMap<number, string>;
  /** The events that hold U+FFFD, ascending, if the body was not valid UTF-8; else empty. */
  readonly repairedEvents: readonly number[];
  /** Whether the body is a single event, whose address keys are not part of it. */
  readonly isSingle: boolean;
  /** The memory of all arrays. */
  readonly memory: Loan;
};

/**
 * Decodes a body: a document, which is one object, a list of events or `{"batch": [events]}`, or, as `ndjson`, one event
 * a line with blank lines between. The only line of a body may also be a batch, or a list of at least one event. A body of
 * the form `any` is lines if its first line is a complete value and more follows, else a document. Everything is checked;
 * nothing is decided. Lets other work run every DECODE_SLICE_BYTES or sooner, between events. The result lies in `memory`
 * and is valid until that loan ends; the pieces of the body are not kept.
 *
 * Bytes that are not UTF-8 become U+FFFD. `isRepaired` says that this has been done already.
 *
 * Throws `MalformedBodyError` when it is not JSON, or none of its lines is, and `BodyLimitError`.
 */
export function decodeBody(
  pieces: readonly Uint8Array[],
  form: BodyForm,
  memory: Loan = NO_POOL.lend(),
  isRepaired = false,
): Promise<DecodedBody> {
  return withRepairedUtf8(pieces, async (text, isRepairedNow) => {
    const isLarge = sizeOfPieces(text) > DECODE_SLICE_BYTES;
    if (isLarge) await yieldToEventLoop();
    const whole = isLarge ? await BodyText.inSlices(text, memory) : BodyText.of(text, memory);
    const isLines = form === 'ndjson' || (form === 'any' && hasLines(whole));
    const options = { isLines, isRepaired: isRepaired || isRepairedNow, memory };
    const decoding = new BodyDecoding(whole, options);
    if (isLines) await decoding.lines();
    else await decoding.document();
    return decoding.body();
  });
}

/** Whether the first line of a body is a value by itself and more follows, so that it is no document. */
function hasLines(text: BodyText): boolean {
  const { bytes } = text;
  const cursor = new JsonCursor(text, true);
  cursor.skipMark();
  cursor.skipSpace();
  const start = cursor.position;
  const end = lineEnd(text, start);
  if (isBlank(text, end)) return false;
  cursor.enterLine(start, end);
  bytes[end] = 0;
  try {
    cursor.skipValue();
    cursor.skipSpace();
    return cursor.position === end;
  } catch (error) {
    if (!(error instanceof MalformedBodyError)) throw error;
    return false;
  } finally {
    bytes[end] = ascii.LINE_FEED;
  }
}

/** Where the line ends that a position is in: at its line feed, or at the end of the body. */
function lineEnd({ bytes, bodySize }: BodyText, start: number): number {
  const lineFeed = bytes.indexOf(ascii.LINE_FEED, start);
  return lineFeed < 0 || lineFeed > bodySize ? bodySize : lineFeed;
}

/** Whether nothing but white space follows. */
function isBlank({ bytes, bodySize }: BodyText, start: number): boolean {
  let at = start;
  while (at < bodySize && isSpace(bytes[at]!)) at++;
  return at === bodySize;
}

/** For those who decode now and then. */
const NO_POOL = new MemoryPool(0);

/** Initial capacity of arrays, in entries. */
const STARTS_MIN = 64;

const NOT_LOOKED = -1;

/** The decoding of one body. */
class BodyDecoding {
  readonly #text: BodyText;
  readonly #cursor: JsonCursor;
  readonly #decoder: JsonDecoder;
  readonly #isLines: boolean;
  #address: { -readonly [key in keyof PostAddress]: PostAddress[key] } = {};
  #eventCount = 0;
  readonly #memory: Loan;
  #tokenStarts: Uint32Array;
  #slotStarts: Uint32Array;
  #isSingle = false;
  #badLineCount = 0;
  readonly #badEvents = new Map<number, string>();
  readonly #isRepaired: boolean;
  readonly #repairedEvents: number[] = [];
  /** The position of the next U+FFFD after the place that was searched last. */
  #replacementAt = NOT_LOOKED;
  readonly #slices = new Slices(DECODE_SLICE_BYTES);

  constructor(
    text: BodyText,
    options: { readonly isLines: boolean; readonly isRepaired: boolean; readonly memory: Loan },
  ) {
    const { isLines, isRepaired, memory } = options;
    this.#memory = memory;
    this.#isLines = isLines;
    this.#isRepaired = isRepaired;
    this.#text = text;
    this.#cursor = new JsonCursor(this.#text, isLines);
    this.#decoder = new JsonDecoder(this.#text, this.#cursor, memory);
    this.#tokenStarts = memory.offsets(STARTS_MIN).fill(0, 0, 1);
    this.#slotStarts = memory.offsets(STARTS_MIN).fill(0, 0, 1);
    this.#cursor.checkUtf8();
    this.#cursor.skipMark();
  }

  body(): DecodedBody {
    return {
      address: this.#address,
      eventCount: this.#eventCount,
      text: this.#text,
      decoder: this.#decoder,
      tokenStarts: this.#tokenStarts,
      slotStarts: this.#slotStarts,
      badEvents: this.#badEvents,
      repairedEvents: this.#repairedEvents,
      isSingle: this.#isSingle,
      memory: this.#memory,
    };
  }

  async lines(): Promise<void> {
    const cursor = this.#cursor;
    const bodySize = this.#text.bodySize;
    let start = cursor.position;
    if (!isBlank(this.#text, start) && isBlank(this.#text, lineEnd(this.#text, start))) {
      cursor.enterLine(start, bodySize);
      if (!this.#isEmptyList()) return this.document();
    }
    while (start < bodySize) {
      const end = lineEnd(this.#text, start);
      cursor.enterLine(start, end);
      // A zero byte temporarily ends the line, as it ends a body.
      this.#text.bytes[end] = 0;
      if (cursor.skipSpace() !== 0 || cursor.position < end) this.#line();
      if (end < bodySize) this.#text.bytes[end] = ascii.LINE_FEED;
      start = end + 1;
      const doneSize = end + this.#badLineCount * DECODE_PART_BYTES;
      if (this.#slices.isOver(doneSize)) await yieldToEventLoop();
    }
    const [first] = this.#badEvents.values();
    if (first !== undefined && this.#badLineCount === this.#eventCount) {
      throw new MalformedBodyError(first);
    }
  }

  /** Whether `[]` comes next. As a line it is refused: it would be taken for a success though nothing was stored. */
  #isEmptyList(): boolean {
    const cursor = this.#cursor;
    const start = cursor.position;
    const isList = cursor.skipSpace() === ascii.BRACKET_OPEN;
    if (isList) cursor.position += 1;
    const isEmpty = isList && cursor.skipSpace() === ascii.BRACKET_CLOSE;
    cursor.position = start;
    return isEmpty;
  }

  /** A line that is not JSON is an event without a token: it is refused by itself, and the others are taken. */
  #line(): void {
    const index = this.#eventCount;
    const { tokenCount, slotCount } = this.#decoder;
    try {
      this.#event();
      this.#mustEnd('the end of the line after a value');
    } catch (error) {
      if (!(error instanceof MalformedBodyError)) throw error;
      this.#badLineCount++;
      this.#noteBad(index, error);
      this.#decoder.truncate(tokenCount, slotCount);
      this.#tokenStarts[index + 1] = tokenCount;
      this.#slotStarts[index + 1] = slotCount;
    }
  }

  async document(): Promise<void> {
    const first = this.#cursor.skipSpace();
    if (first === ascii.BRACKET_OPEN) await this.#list();
    else if (first === ascii.BRACE_OPEN) await this.#object();
    else this.#single();
    this.#mustEnd(`the end of the ${this.#isLines ? 'line' : 'body'} after a value`);
  }

  /** One event. A line has no address of its own, so that it means the same alone and among others. */
  #single(): void {
    this.#isSingle = !this.#isLines;
    if (this.#isLines) this.#address = {};
    this.#event();
  }

  /**
   * Decodes an object, which is a batch if the last of its keys named `batch` holds a list. This is known only at its
   * end, so a first pass skips over the object and decodes the events of a batch on the way. An object that is no batch
   * is decoded in a second pass as a single event.
   */
  async #object(): Promise<void> {
    const cursor = this.#cursor;
    const start = cursor.position++;
    let isBatch = false;
    let byte = cursor.skipSpace();
    while (byte !== ascii.BRACE_CLOSE) {
      const key = this.#rootKey(byte);
      byte = cursor.skipSpace();
      if (key === 'batch') {
        this.#forgetEvents();
        isBatch = byte === ascii.BRACKET_OPEN;
        if (isBatch) await this.#list();
        else cursor.skipValue();
      } else {
        this.#rootValue(key, byte);
      }
      byte = cursor.skipSpace();
      if (byte === ascii.COMMA) {
        cursor.position++;
        byte = cursor.skipSpace();
        if (byte === ascii.BRACE_CLOSE) cursor.fail('a key in quotes');
      } else if (byte !== ascii.BRACE_CLOSE) {
        cursor.fail('"," or "}" after a value');
      }
      if (this.#slices.isOver(cursor.position)) await yieldToEventLoop();
    }
    cursor.position++;
    if (isBatch) return;
    cursor.position = start;
    this.#replacementAt = NOT_LOOKED;
    this.#single();
  }

  #rootKey(byte: number): string {
    const cursor = this.#cursor;
    if (byte !== ascii.QUOTE) cursor.fail('a key in quotes');
    cursor.position++;
    const key = this.#string();
    cursor.skipColon();
    return key;
  }

  #rootValue(key: string, byte: number): void {
    const cursor = this.#cursor;
    const addressKey = ADDRESS_KEYS.find((name) => name === key);
    if (addressKey === undefined) {
      cursor.skipValue();
    } else if (byte === ascii.QUOTE) {
      cursor.position++;
      this.#address[addressKey] = this.#string();
    } else {
      this.#address[addressKey] = undefined;
      cursor.skipValue();
    }
  }

  /** The string from after the opening quote to after the closing one. */
  #string(): string {
    const cursor = this.#cursor;
    const start = cursor.position;
    const end = cursor.skipString();
    if (!cursor.hasEscape) return this.#text.utf8(start, end);
    const size = this.#text.size;
    this.#text.appendUnescaped(start, end);
    return this.#text.utf8(size, this.#text.size);
  }

  async #list(): Promise<void> {
    const cursor = this.#cursor;
    cursor.position++;
    if (cursor.skipSpace() === ascii.BRACKET_CLOSE) {
      cursor.position++;
      return;
    }
    for (;;) {
      this.#event();
      const byte = cursor.skipSpace();
      cursor.position++;
      if (byte === ascii.BRACKET_CLOSE) return;
      if (byte !== ascii.COMMA) {
        cursor.position--;
        cursor.fail('"," or "]" after a value');
      }
      if (this.#slices.isOver(cursor.position)) await yieldToEventLoop();
    }
  }

  #event(): void {
    const index = this.#eventCount++;
    if (this.#eventCount > BODY_EVENTS_MAX) {
      throw new BodyLimitError(`a body may hold ${BODY_EVENTS_MAX} events; got more`);
    }
    if (index + 1 === this.#tokenStarts.length) {
      this.#tokenStarts = this.#doubled(this.#tokenStarts);
      this.#slotStarts = this.#doubled(this.#slotStarts);
    }
    const isObject = this.#cursor.skipSpace() === ascii.BRACE_OPEN;
    const start = this.#cursor.position;
    if (isObject) this.#root(index);
    else this.#cursor.skipValue();
    const end = this.#cursor.position;
    if (end - start >= STRING_LENGTH_MAX) {
      throw new BodyLimitError(
        `an event may have ${STRING_LENGTH_MAX - 1} bytes; got ${end - start}`,
      );
    }
    if (this.#isRepaired && this.#hasReplacement(start, end)) this.#repairedEvents.push(index);
    this.#tokenStarts[index + 1] = this.#decoder.tokenCount;
    this.#slotStarts[index + 1] = this.#decoder.slotCount;
  }

  /** Decodes the object at the cursor. One that is too large becomes an event without tokens, which is refused by itself. */
  #root(index: number): void {
    const { tokenCount, slotCount } = this.#decoder;
    const start = this.#cursor.position;
    try {
      this.#decoder.decodeRoot();
    } catch (error) {
      if (!(error instanceof EventLimitError)) throw error;
      this.#noteBad(index, error);
      this.#decoder.truncate(tokenCount, slotCount);
      this.#cursor.position = start;
      this.#cursor.skipValue();
    }
  }

  #noteBad(index: number, { message }: Error): void {
    if (this.#badEvents.size < REFUSALS_LISTED_MAX) this.#badEvents.set(index, message);
  }

  /** Whether U+FFFD occurs in `[start, end)`. Each byte is searched once if the starts ascend. */
  #hasReplacement(start: number, end: number): boolean {
    if (this.#replacementAt < start) {
      const at = this.#text.bytes.indexOf(REPLACEMENT, start);
      this.#replacementAt = at < 0 ? Number.POSITIVE_INFINITY : at;
    }
    return this.#replacementAt < end;
  }

  #forgetEvents(): void {
    this.#eventCount = 0;
    this.#badEvents.clear();
    this.#repairedEvents.length = 0;
    this.#decoder.truncate(0, 0);
  }

  #mustEnd(expected: string): void {
    this.#cursor.skipSpace();
    if (this.#cursor.position < this.#cursor.end) this.#cursor.fail(expected);
  }

  #doubled(values: Uint32Array): Uint32Array {
    const grown = this.#memory.offsets(values.length * 2);
    grown.set(values);
    return grown;
  }
}
