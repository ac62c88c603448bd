import { isUtf8 } from 'node:buffer';
import * as ascii from '../ascii.ts';
import { EventLimitError, MalformedBodyError } from '../ingest-error.ts';
import { EVENT_FIELDS_MAX } from '../limits.ts';
import { type EventTexts, eventText } from './event-texts.ts';
import { ObjectText } from './json-text.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/**
 * Entries of the systemd journal in its export format ("Journal Export Formats" of systemd), as systemd-journal-upload
 * posts them. A field is `NAME=value` on a line; a value that is not printable text follows its name on a line of its
 * own, after its length in 64 bits, least byte first. An empty line ends an entry. `MESSAGE` is the message,
 * `__REALTIME_TIMESTAMP` the time in microseconds, `PROJECT` the project, and all other fields are metadata.
 */
export const journalExport: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const bytes = Buffer.concat(body.pieces);
    // Lengths count the bytes as sent, so each value is repaired separately, when it is decoded.
    events.isRepaired = !isUtf8(bytes);
    let entry = new JournalEntry();
    for (let at = 0; at < bytes.length; ) {
      if (bytes[at] === ascii.LINE_FEED) {
        at++;
        if (!entry.isEmpty) events.addPosted(entry.toPosted());
        entry = new JournalEntry();
      } else {
        const { name, value, end } = readField(bytes, at);
        entry.add(name, value);
        at = end;
      }
      yield at;
    }
    if (!entry.isEmpty) events.addPosted(entry.toPosted());
  },
};

/**
 * Where the last whole entry ends in some bytes of this format, zero if none is whole. Bytes in another format have no
 * whole entry after the first that is wrong.
 */
export function findEntriesEnd(bytes: Buffer): number {
  let end = 0;
  let at = 0;
  while (at < bytes.length) {
    if (bytes[at] === ascii.LINE_FEED) {
      at++;
      end = at;
      continue;
    }
    const lineFeed = bytes.indexOf(ascii.LINE_FEED, at);
    if (lineFeed < 0) break;
    const equals = bytes
      .subarray(at, Math.min(lineFeed, at + NAME_LENGTH_MAX + 1))
      .indexOf(ascii.EQUALS);
    if (equals >= 0) at = lineFeed + 1;
    else if (lineFeed + 1 + LENGTH_SIZE > bytes.length) break;
    else at = lineFeed + 1 + LENGTH_SIZE + Number(bytes.readBigUInt64LE(lineFeed + 1)) + 1;
  }
  return end;
}

/** Characters of a field's name, of which the journal takes no more. */
const NAME_LENGTH_MAX = 64;

/** Names of fields, those of the journal itself included. */
const NAME = /^[A-Z_][A-Z0-9_]*$/;

/** Bytes of a value's length. */
const LENGTH_SIZE = 8;

type Field = {
  readonly name: string;
  readonly value: Buffer;
  /** The offset after the line feed that ends the field. */
  readonly end: number;
};

/** @throws MalformedBodyError if there is no field at `at`. */
function readField(bytes: Buffer, at: number): Field {
  const lineFeed = bytes.indexOf(ascii.LINE_FEED, at);
  const lineEnd = lineFeed < 0 ? bytes.length : lineFeed;
  const head = bytes.subarray(at, Math.min(lineEnd, at + NAME_LENGTH_MAX + 1));
  const equals = head.indexOf(ascii.EQUALS);
  const name = head.toString('latin1', 0, equals < 0 ? head.length : equals);
  if (name.length > NAME_LENGTH_MAX || !NAME.test(name)) fail(at, 'the name of a field');
  if (equals >= 0) {
    return { name, value: bytes.subarray(at + equals + 1, lineEnd), end: lineEnd + 1 };
  }
  const start = lineEnd + 1 + LENGTH_SIZE;
  if (start > bytes.length) fail(bytes.length, `"=" or a length after ${name}`);
  // A length that does not fit a number exactly is longer than any body.
  const end = start + Number(bytes.readBigUInt64LE(lineEnd + 1));
  if (end >= bytes.length)
    fail(bytes.length, `the ${end - start} bytes of ${name}, and a line feed`);
  if (bytes[end] !== ascii.LINE_FEED) fail(end, `a line feed after the value of ${name}`);
  return { name, value: bytes.subarray(start, end), end: end + 1 };
}

function fail(at: number, expected: string): never {
  throw new MalformedBodyError(
    `the body is not in the journal's export format: expected ${expected} at byte ${at + 1}`,
  );
}

/** An entry whose fields are read one after the other. A name may come several times. */
class JournalEntry {
  readonly #texts = new Map<string, string[]>();
  #count = 0;

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Fields beyond the limit are only counted. */
  add(name: string, value: Buffer): void {
    if (++this.#count > EVENT_FIELDS_MAX) return;
    const text = JSON.stringify(value.toString('utf8'));
    const known = this.#texts.get(name);
    if (known === undefined) this.#texts.set(name, [text]);
    else known.push(text);
  }

  /** The event, or why it is refused. */
  toPosted(): string | EventLimitError {
    if (this.#count > EVENT_FIELDS_MAX) {
      return new EventLimitError(
        `an entry may have ${EVENT_FIELDS_MAX} fields; got ${this.#count}`,
      );
    }
    const event = {
      timestamp: this.#take('__REALTIME_TIMESTAMP'),
      message: this.#take('MESSAGE'),
      project: this.#take('PROJECT'),
    };
    const metadata = new ObjectText();
    for (const [name, texts] of this.#texts) {
      metadata.add(name, texts.length === 1 ? texts[0] : `[${texts.join()}]`);
    }
    const text = metadata.toString();
    return eventText({ ...event, message: event.message ?? JSON.stringify(text), metadata: text });
  }

  /** The first value of a field, which metadata then lacks. */
  #take(name: string): string | undefined {
    const [first] = this.#texts.get(name) ?? [];
    this.#texts.delete(name);
    return first;
  }
}
