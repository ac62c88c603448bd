import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { EventLimitError, MalformedBodyError } from '../ingest-error.ts';
import { failTooManyFields } from '../json-decoder.ts';
import { EVENT_FIELDS_MAX } from '../limits.ts';
import type { EventTexts, WireEvent } from './event-texts.ts';

/** A field of a message. Its value is read from `reader`, or skipped if it is not read. */
export type Field = {
  readonly field: number;
  readonly type: WireType;
  readonly reader: BinaryReader;
};

/** Bytes of the shortest field: a tag with a length or a value. */
const FIELD_SIZE = 2;

/** Node's error code of a strict UTF-8 decoder. */
const INVALID_UTF8 = 'ERR_ENCODING_INVALID_ENCODED_DATA';

/** The pieces of a body, end to end. */
export function oneBuffer(pieces: readonly Uint8Array[]): Uint8Array {
  const only = pieces.length === 1 ? pieces[0] : undefined;
  return only ?? Buffer.concat(pieces);
}

/**
 * Takes the steps of reading a body. Converts errors of the protobuf reader, which throws its own for truncated messages
 * and unknown types. `what`: the message that the body should be.
 */
export function* stepsOf<T>(steps: Generator<number, T>, what: string): Generator<number, T> {
  for (;;) {
    const step = orMalformed(() => steps.next(), what);
    if (step.done) return step.value;
    yield step.value;
  }
}

function orMalformed<T>(read: () => T, what: string): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof Error) || !isReaders(cause)) throw cause;
    throw new MalformedBodyError(`the body is not ${what}: ${cause.message}`);
  }
}

function isReaders(error: Error): boolean {
  return /^(?:Range)?Error$/.test(error.name) && !error.message.startsWith('assertion failed');
}

function isInvalidUtf8(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === INVALID_UTF8;
}

/**
 * Reads the messages of a body, with a bound on the fields of those that are processed in one step. Strings that are not
 * UTF-8 are repaired one by one.
 */
export class FieldReader {
  readonly #events: EventTexts;
  #fieldsLeft = 0;
  #readSize = 0;

  constructor(events: EventTexts) {
    this.#events = events;
  }

  /** The bytes read so far, with another field of `size` bytes. */
  progress(size: number): number {
    this.#readSize += FIELD_SIZE + size;
    return this.#readSize;
  }

  /** Adds the event that `parse` makes of a message, or refuses it if it is too large. */
  addEvent(parse: () => WireEvent): void {
    this.begin();
    try {
      this.#events.add(parse());
    } catch (error) {
      if (!(error instanceof EventLimitError)) throw error;
      this.#events.addRefused(error);
    }
  }

  /** From here on, the messages that are read may have EVENT_FIELDS_MAX fields together. */
  begin(): void {
    this.#fieldsLeft = EVENT_FIELDS_MAX;
  }

  /** @throws EventLimitError when there are too many fields. */
  *fields(bytes: Uint8Array): Generator<Field, void> {
    for (const field of parseFields(bytes)) {
      if (--this.#fieldsLeft < 0) failTooManyFields();
      yield field;
    }
  }

  /** The bytes of each message of one field. */
  messages(bytes: Uint8Array, wanted: number): readonly Uint8Array[] {
    const found: Uint8Array[] = [];
    for (const { field, type, reader } of this.fields(bytes)) {
      if (field === wanted) found.push(parseMessage(reader, type));
    }
    return found;
  }

  text(reader: BinaryReader, type: WireType): string {
    mustBe(type, WireType.LengthDelimited);
    const { pos } = reader;
    try {
      // Strict until the first string that is not UTF-8, so that the request is known to need repair.
      return reader.string(!this.#events.isRepaired);
    } catch (error) {
      if (!isInvalidUtf8(error)) throw error;
    }
    this.#events.isRepaired = true;
    reader.pos = pos;
    return reader.string();
  }
}

/** Yields, for each field of a message, the nested message if it is the wanted field, else `undefined`. */
export function* parseMessages(
  bytes: Uint8Array,
  wanted: number,
): Generator<Uint8Array | undefined, void> {
  for (const { field, type, reader } of parseFields(bytes)) {
    yield field === wanted ? parseMessage(reader, type) : undefined;
  }
}

/** Yields each field of a message. Fields that are not read are skipped. */
export function* parseFields(bytes: Uint8Array): Generator<Field, void> {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    // Groups are nested, and belong to version 2 of Protobuf; no sender of logs uses them.
    if (type === WireType.StartGroup) throw new Error('a field is a group, which it has none of');
    const { pos } = reader;
    yield { field, type, reader };
    if (reader.pos === pos) reader.skip(type, field);
  }
}

export function parseMessage(reader: BinaryReader, type: WireType): Uint8Array {
  mustBe(type, WireType.LengthDelimited);
  return reader.bytes();
}

export function mustBe(type: WireType, wanted: WireType): void {
  if (type !== wanted) throw new Error(`a field has wire type ${type} instead of ${wanted}`);
}
