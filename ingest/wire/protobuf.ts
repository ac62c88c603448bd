import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { MalformedBodyError } from '../ingest-error.ts';

/** A field of a message. Its value is read from `reader`, or skipped if it is not read. */
export type Field = {
  readonly field: number;
  readonly type: WireType;
  readonly reader: BinaryReader;
};

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
    // Groups are nested, and belong to version 2 of Protobuf; OTLP never used them.
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
