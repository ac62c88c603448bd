import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { MalformedBodyError } from '../ingest-error.ts';
import { ATTRIBUTE_DEPTH_MAX } from '../limits.ts';
import type { EventTexts } from './event-texts.ts';
import { ObjectText } from './json-text.ts';
import {
  OtlpAttributeList,
  type OtlpAttributes,
  type OtlpOrigin,
  type OtlpRecord,
  type OtlpValue,
  otlpEvent,
} from './otlp-record.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/**
 * OpenTelemetry's logs as protobuf: an `ExportLogsServiceRequest` (opentelemetry-proto, `collector/logs/v1`,
 * `logs/v1`, `resource/v1`, `common/v1`). Numbers below are those of fields there. Unknown fields are passed over.
 */
export const otlpProtobuf: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const only = body.pieces.length === 1 ? body.pieces[0] : undefined;
    const bytes = only ?? Buffer.concat(body.pieces);
    const steps = new RequestReader(events).read(bytes);
    for (;;) {
      const step = orMalformed(() => steps.next());
      if (step.done) return;
      yield step.value;
    }
  },
};

/** The reader throws errors of its own at what is cut off or of no known type. */
function orMalformed<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof Error) || !isReaders(cause)) throw cause;
    throw new MalformedBodyError(`the body is not an ExportLogsServiceRequest: ${cause.message}`);
  }
}

function isInvalidUtf8(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === INVALID_UTF8;
}

/** Node's code of what a strict decoder of UTF-8 throws. */
const INVALID_UTF8 = 'ERR_ENCODING_INVALID_ENCODED_DATA';

function isReaders(error: Error): boolean {
  return /^(?:Range)?Error$/.test(error.name) && !error.message.startsWith('assertion failed');
}

/** Reads one request; its strings are repaired one by one, where they are not UTF-8. */
class RequestReader {
  readonly #events: EventTexts;

  constructor(events: EventTexts) {
    this.#events = events;
  }

  *read(bytes: Uint8Array): Generator<number, void> {
    let readCount = 0;
    const all = messagesOf(bytes, 1);
    if (all.length === 0 && bytes.length > 0) {
      throw new Error(`it must have field 1, resource_logs; got ${bytes.length} bytes of others`);
    }
    for (const resourceLogs of all) {
      const [resource] = messagesOf(resourceLogs, 1);
      const attributes = resource && this.#attributesOf(messagesOf(resource, 1), 1);
      for (const scopeLogs of messagesOf(resourceLogs, 2)) {
        const [scope] = messagesOf(scopeLogs, 1);
        const origin: OtlpOrigin = { resource: attributes, scope: scope && this.#scopeOf(scope) };
        for (const record of messagesOf(scopeLogs, 2)) {
          this.#events.add(otlpEvent(this.#recordOf(record), origin));
          readCount += record.length;
          yield readCount;
        }
      }
    }
  }

  #recordOf(bytes: Uint8Array): OtlpRecord {
    const record: { -readonly [member in keyof OtlpRecord]: OtlpRecord[member] } = {};
    const attributes: Uint8Array[] = [];
    for (const { field, type, reader } of fieldsOf(bytes)) {
      switch (field) {
        case 1:
          record.timeUnixNano = timeOf(reader, type);
          break;
        case 2:
          mustBe(type, WireType.Varint);
          record.severityNumber = reader.int32();
          break;
        case 3:
          record.severityText = this.#textOf(reader, type);
          break;
        case 5:
          record.body = this.#anyValueOf(messageOf(reader, type), 1);
          break;
        case 6:
          attributes.push(messageOf(reader, type));
          break;
        case 9:
          record.traceId = hexadecimal(messageOf(reader, type));
          break;
        case 10:
          record.spanId = hexadecimal(messageOf(reader, type));
          break;
        case 11:
          record.observedTimeUnixNano = timeOf(reader, type);
          break;
        case 12:
          record.eventName = this.#textOf(reader, type);
      }
    }
    return { ...record, attributes: this.#attributesOf(attributes, 1) };
  }

  #scopeOf(bytes: Uint8Array): string | undefined {
    const scope = new ObjectText();
    const attributes: Uint8Array[] = [];
    for (const { field, type, reader } of fieldsOf(bytes)) {
      if (field === 1) scope.add('name', JSON.stringify(this.#textOf(reader, type)));
      else if (field === 2) scope.add('version', JSON.stringify(this.#textOf(reader, type)));
      else if (field === 3) attributes.push(messageOf(reader, type));
    }
    scope.add('attributes', this.#attributesOf(attributes, 1)?.json);
    return scope.isEmpty ? undefined : scope.toString();
  }

  /** Of `KeyValue` messages; `level` counts the lists and maps around a value. */
  #attributesOf(pairs: readonly Uint8Array[], level: number): OtlpAttributes | undefined {
    const attributes = new OtlpAttributeList();
    for (const pair of pairs) {
      let key = '';
      let value: OtlpValue = NULL_VALUE;
      for (const { field, type, reader } of fieldsOf(pair)) {
        if (field === 1) key = this.#textOf(reader, type);
        else if (field === 2) value = this.#anyValueOf(messageOf(reader, type), level);
      }
      attributes.add(key, value);
    }
    return attributes.done();
  }

  /** An `AnyValue`: of several fields the last counts. */
  #anyValueOf(bytes: Uint8Array, level: number): OtlpValue {
    if (level > ATTRIBUTE_DEPTH_MAX) {
      throw new Error(`values lie in at most ${ATTRIBUTE_DEPTH_MAX} levels of others`);
    }
    let value = NULL_VALUE;
    for (const { field, type, reader } of fieldsOf(bytes)) {
      if (field === 1) {
        value = { json: JSON.stringify(this.#textOf(reader, type)), isText: true };
        continue;
      }
      const json = this.#jsonOf(field, { type, reader }, level);
      if (json !== undefined) value = { json, isText: false };
    }
    return value;
  }

  /** What is no string. */
  #jsonOf(
    field: number,
    { type, reader }: Omit<Field, 'field'>,
    level: number,
  ): string | undefined {
    switch (field) {
      case 2:
        mustBe(type, WireType.Varint);
        return String(reader.bool());
      case 3:
        mustBe(type, WireType.Varint);
        return reader.int64().toString();
      case 4:
        mustBe(type, WireType.Bit64);
        return numberJson(reader.double());
      case 5: {
        const values = messagesOf(messageOf(reader, type), 1);
        return `[${values.map((value) => this.#anyValueOf(value, level + 1).json).join(',')}]`;
      }
      case 6:
        return this.#attributesOf(messagesOf(messageOf(reader, type), 1), level + 1)?.json ?? '{}';
      case 7:
        return `"${Buffer.from(messageOf(reader, type)).toString('base64')}"`;
      default:
        return undefined;
    }
  }

  #textOf(reader: BinaryReader, type: WireType): string {
    mustBe(type, WireType.LengthDelimited);
    const { pos } = reader;
    try {
      // Strictly until the first that is not UTF-8: that there is one is to be known.
      return reader.string(!this.#events.isRepaired);
    } catch (error) {
      if (!isInvalidUtf8(error)) throw error;
    }
    this.#events.isRepaired = true;
    reader.pos = pos;
    return reader.string();
  }
}

/** The bytes of each message under one field. */
function messagesOf(bytes: Uint8Array, wanted: number): readonly Uint8Array[] {
  const found: Uint8Array[] = [];
  for (const { field, type, reader } of fieldsOf(bytes)) {
    if (field === wanted) found.push(messageOf(reader, type));
  }
  return found;
}

type Field = { readonly field: number; readonly type: WireType; readonly reader: BinaryReader };

/** Each field of a message; one that is not read is stepped over. */
function* fieldsOf(bytes: Uint8Array): Generator<Field, void> {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    const { pos } = reader;
    yield { field, type, reader };
    if (reader.pos === pos) reader.skip(type, field);
  }
}

function messageOf(reader: BinaryReader, type: WireType): Uint8Array {
  mustBe(type, WireType.LengthDelimited);
  return reader.bytes();
}

function mustBe(type: WireType, wanted: WireType): void {
  if (type !== wanted) throw new Error(`a field has wire type ${type} instead of ${wanted}`);
}

function timeOf(reader: BinaryReader, type: WireType): string {
  mustBe(type, WireType.Bit64);
  return reader.fixed64().toString();
}

function hexadecimal(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
}

const NULL_VALUE: OtlpValue = { json: 'null', isText: false };

/** What JSON has no number for is a text, as in answers. */
function numberJson(value: number): string {
  return Number.isFinite(value) ? JSON.stringify(value) : `"${value}"`;
}
