import { type BinaryReader, WireType } from '@bufbuild/protobuf/wire';
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
import {
  type Field,
  FieldReader,
  mustBe,
  oneBuffer,
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

/** Reads one request. */
class RequestReader {
  readonly #events: EventTexts;
  /** Of the current record, resource or scope. */
  readonly #fields: FieldReader;

  constructor(events: EventTexts) {
    this.#events = events;
    this.#fields = new FieldReader(events);
  }

  *read(bytes: Uint8Array): Generator<number, void> {
    let hasResource = false;
    for (const resourceLogs of parseMessages(bytes, 1)) {
      yield this.#fields.progress(0);
      if (resourceLogs === undefined) continue;
      hasResource = true;
      this.#events.addPart();
      const resource = yield* this.#first(resourceLogs);
      const attributes = resource && this.#resourceAttributes(resource);
      for (const scopeLogs of parseMessages(resourceLogs, 2)) {
        yield this.#fields.progress(0);
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
      if (record !== undefined) {
        this.#fields.addEvent(() => otlpEvent(this.#parseRecord(record), origin));
      }
      yield this.#fields.progress(record?.length ?? 0);
    }
  }

  /** The first message of field 1, which holds a resource or a scope. */
  *#first(bytes: Uint8Array): Generator<number, Uint8Array | undefined> {
    for (const message of parseMessages(bytes, 1)) {
      if (message !== undefined) return message;
      yield this.#fields.progress(0);
    }
    return undefined;
  }

  #resourceAttributes(bytes: Uint8Array): OtlpAttributes | undefined {
    this.#fields.begin();
    return this.#parseAttributes(this.#fields.messages(bytes, 1), 1);
  }

  #parseRecord(bytes: Uint8Array): OtlpRecord {
    const record: { -readonly [member in keyof OtlpRecord]: OtlpRecord[member] } = {};
    const attributes: Uint8Array[] = [];
    for (const { field, type, reader } of this.#fields.fields(bytes)) {
      switch (field) {
        case 1:
          record.timeUnixNano = parseTime(reader, type);
          break;
        case 2:
          mustBe(type, WireType.Varint);
          record.severityNumber = reader.int32();
          break;
        case 3:
          record.severityText = this.#fields.text(reader, type);
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
          record.eventName = this.#fields.text(reader, type);
      }
    }
    return { ...record, attributes: this.#parseAttributes(attributes, 1) };
  }

  #parseScope(bytes: Uint8Array): string | undefined {
    this.#fields.begin();
    const scope = new ObjectText();
    const attributes: Uint8Array[] = [];
    for (const { field, type, reader } of this.#fields.fields(bytes)) {
      if (field === 1) scope.add('name', JSON.stringify(this.#fields.text(reader, type)));
      else if (field === 2) scope.add('version', JSON.stringify(this.#fields.text(reader, type)));
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
      for (const { field, type, reader } of this.#fields.fields(pair)) {
        if (field === 1) key = this.#fields.text(reader, type);
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
    for (const { field, type, reader } of this.#fields.fields(bytes)) {
      if (field === 1) {
        value = { json: JSON.stringify(this.#fields.text(reader, type)), isText: true };
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
        const values = this.#fields.messages(parseMessage(reader, type), 1);
        return `[${values.map((value) => this.#parseAnyValue(value, level + 1).json).join(',')}]`;
      }
      case 6:
        return (
          this.#parseAttributes(this.#fields.messages(parseMessage(reader, type), 1), level + 1)
            ?.json ?? '{}'
        );
      case 7:
        return `"${Buffer.from(parseMessage(reader, type)).toString('base64')}"`;
      default:
        return undefined;
    }
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
