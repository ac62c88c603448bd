import { type BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { EventLimitError } from '../ingest-error.ts';
import { failTooManyFields } from '../json-decoder.ts';
import { ATTRIBUTE_DEPTH_MAX, EVENT_FIELDS_MAX } from '../limits.ts';
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
import {
  type Field,
  mustBe,
  oneBuffer,
  parseFields,
  parseMessage,
  parseMessages,
  stepsOf,
} from './protobuf.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/**
 * OpenTelemetry's logs as protobuf: an `ExportLogsServiceRequest` (opentelemetry-proto, `collector/logs/v1`, `logs/v1`,
 * `resource/v1`, `common/v1`). The numbers below are field numbers of these files. Unknown fields are ignored.
 */
export const otlpProtobuf: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const steps = new RequestReader(events).read(oneBuffer(body.pieces));
    yield* stepsOf(steps, 'an ExportLogsServiceRequest');
  },
};

function isInvalidUtf8(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === INVALID_UTF8;
}

/** Bytes of the shortest field: a tag with a length or a value. */
const FIELD_SIZE = 2;

/** Node's error code of a strict UTF-8 decoder. */
const INVALID_UTF8 = 'ERR_ENCODING_INVALID_ENCODED_DATA';

/** Reads one request. Strings that are not UTF-8 are repaired one by one. */
class RequestReader {
  readonly #events: EventTexts;
  #readSize = 0;
  /** Fields that the current record, resource or scope may still have. */
  #fieldsLeft = 0;

  constructor(events: EventTexts) {
    this.#events = events;
  }

  *read(bytes: Uint8Array): Generator<number, void> {
    let hasResource = false;
    for (const resourceLogs of parseMessages(bytes, 1)) {
      yield this.#progress(0);
      if (resourceLogs === undefined) continue;
      hasResource = true;
      this.#events.addPart();
      const resource = yield* this.#first(resourceLogs);
      const attributes = resource && this.#resourceAttributes(resource);
      for (const scopeLogs of parseMessages(resourceLogs, 2)) {
        yield this.#progress(0);
        if (scopeLogs !== undefined) yield* this.#records(scopeLogs, attributes);
      }
    }
    if (!hasResource && bytes.length > 0) {
      throw new Error(`it must have field 1, resource_logs; got ${bytes.length} bytes of others`);
    }
  }

  *#records(scopeLogs: Uint8Array, resource: OtlpAttributes | undefined): Generator<number, void> {
    this.#events.addPart();
    const scope = yield* this.#first(scopeLogs);
    const origin: OtlpOrigin = { resource, scope: scope && this.#parseScope(scope) };
    for (const record of parseMessages(scopeLogs, 2)) {
      if (record !== undefined) this.#addRecord(record, origin);
      yield this.#progress(record?.length ?? 0);
    }
  }

  /** The first message of field 1, which holds a resource or a scope. */
  *#first(bytes: Uint8Array): Generator<number, Uint8Array | undefined> {
    for (const message of parseMessages(bytes, 1)) {
      if (message !== undefined) return message;
      yield this.#progress(0);
    }
    return undefined;
  }

  /** The bytes read so far, with another field of `size` bytes. */
  #progress(size: number): number {
    this.#readSize += FIELD_SIZE + size;
    return this.#readSize;
  }

  #addRecord(bytes: Uint8Array, origin: OtlpOrigin): void {
    this.#fieldsLeft = EVENT_FIELDS_MAX;
    try {
      this.#events.add(otlpEvent(this.#parseRecord(bytes), origin));
    } catch (error) {
      if (!(error instanceof EventLimitError)) throw error;
      this.#events.addRefused(error);
    }
  }

  #resourceAttributes(bytes: Uint8Array): OtlpAttributes | undefined {
    this.#fieldsLeft = EVENT_FIELDS_MAX;
    return this.#parseAttributes(this.#messages(bytes, 1), 1);
  }

  #parseRecord(bytes: Uint8Array): OtlpRecord {
    const record: { -readonly [member in keyof OtlpRecord]: OtlpRecord[member] } = {};
    const attributes: Uint8Array[] = [];
    for (const { field, type, reader } of this.#fields(bytes)) {
      switch (field) {
        case 1:
          record.timeUnixNano = parseTime(reader, type);
          break;
        case 2:
          mustBe(type, WireType.Varint);
          record.severityNumber = reader.int32();
          break;
        case 3:
          record.severityText = this.#parseText(reader, type);
          break;
        case 5:
          record.body = this.#parseAnyValue(parseMessage(reader, type), 1);
          break;
        case 6:
          attributes.push(parseMessage(reader, type));
          break;
        case 8:
          mustBe(type, WireType.Bit32);
          record.flags = reader.fixed32();
          break;
        case 9:
          record.traceId = hexadecimal(parseMessage(reader, type));
          break;
        case 10:
          record.spanId = hexadecimal(parseMessage(reader, type));
          break;
        case 11:
          record.observedTimeUnixNano = parseTime(reader, type);
          break;
        case 12:
          record.eventName = this.#parseText(reader, type);
      }
    }
    return { ...record, attributes: this.#parseAttributes(attributes, 1) };
  }

  #parseScope(bytes: Uint8Array): string | undefined {
    this.#fieldsLeft = EVENT_FIELDS_MAX;
    const scope = new ObjectText();
    const attributes: Uint8Array[] = [];
    for (const { field, type, reader } of this.#fields(bytes)) {
      if (field === 1) scope.add('name', JSON.stringify(this.#parseText(reader, type)));
      else if (field === 2) scope.add('version', JSON.stringify(this.#parseText(reader, type)));
      else if (field === 3) attributes.push(parseMessage(reader, type));
    }
    scope.add('attributes', this.#parseAttributes(attributes, 1)?.json);
    return scope.isEmpty ? undefined : scope.toString();
  }

  /** Reads `KeyValue` messages. `level`: the number of lists and maps around a value. */
  #parseAttributes(pairs: readonly Uint8Array[], level: number): OtlpAttributes | undefined {
    const attributes = new OtlpAttributeList();
    for (const pair of pairs) {
      let key = '';
      let value: OtlpValue = NULL_VALUE;
      for (const { field, type, reader } of this.#fields(pair)) {
        if (field === 1) key = this.#parseText(reader, type);
        else if (field === 2) value = this.#parseAnyValue(parseMessage(reader, type), level);
      }
      attributes.add(key, value);
    }
    return attributes.done();
  }

  /** Reads an `AnyValue`. Of several fields, the last counts. */
  #parseAnyValue(bytes: Uint8Array, level: number): OtlpValue {
    if (level > ATTRIBUTE_DEPTH_MAX) {
      throw new Error(`values lie in at most ${ATTRIBUTE_DEPTH_MAX} levels of others`);
    }
    let value = NULL_VALUE;
    for (const { field, type, reader } of this.#fields(bytes)) {
      if (field === 1) {
        value = { json: JSON.stringify(this.#parseText(reader, type)), isText: true };
        continue;
      }
      const json = this.#parseJson(field, { type, reader }, level);
      if (json !== undefined) value = { json, isText: false };
    }
    return value;
  }

  /** The JSON text of a value that is not a string. */
  #parseJson(
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
        const values = this.#messages(parseMessage(reader, type), 1);
        return `[${values.map((value) => this.#parseAnyValue(value, level + 1).json).join(',')}]`;
      }
      case 6:
        return (
          this.#parseAttributes(this.#messages(parseMessage(reader, type), 1), level + 1)?.json ??
          '{}'
        );
      case 7:
        return `"${Buffer.from(parseMessage(reader, type)).toString('base64')}"`;
      default:
        return undefined;
    }
  }

  /** The bytes of each message of one field. */
  #messages(bytes: Uint8Array, wanted: number): readonly Uint8Array[] {
    const found: Uint8Array[] = [];
    for (const { field, type, reader } of this.#fields(bytes)) {
      if (field === wanted) found.push(parseMessage(reader, type));
    }
    return found;
  }

  /** Yields each field of a message that is processed in one step, and counts them. */
  *#fields(bytes: Uint8Array): Generator<Field, void> {
    for (const field of parseFields(bytes)) {
      if (--this.#fieldsLeft < 0) failTooManyFields();
      yield field;
    }
  }

  #parseText(reader: BinaryReader, type: WireType): string {
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

function parseTime(reader: BinaryReader, type: WireType): string {
  mustBe(type, WireType.Bit64);
  return reader.fixed64().toString();
}

function hexadecimal(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
}

const NULL_VALUE: OtlpValue = { json: 'null', isText: false };

/** Values without a JSON number become strings, as in answers. */
function numberJson(value: number): string {
  return Number.isFinite(value) ? JSON.stringify(value) : `"${value}"`;
}
