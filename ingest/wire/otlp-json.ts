import { ATTRIBUTE_DEPTH_MAX } from '../limits.ts';
import { type EventTexts, eventText } from './event-texts.ts';
import { headThenList } from './head-then-list.ts';
import { JsonReader } from './json-reader.ts';
import { ObjectText } from './json-text.ts';
import {
  OtlpAttributeList,
  type OtlpAttributes,
  type OtlpOrigin,
  type OtlpRecord,
  type OtlpValue,
  otlpEvent,
} from './otlp-record.ts';
import { WantedKeys } from './wanted-keys.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/**
 * OpenTelemetry's logs in JSON (OTLP specification, "JSON Protobuf Encoding"): names in camel case, 64-bit integers as
 * strings or numbers, ids as hexadecimal digits. Unknown names are ignored beside known ones. Null counts as absent
 * everywhere.
 */
export const otlpJson: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const reader = new JsonReader(body.pieces, body);
    const keys = new WantedKeys('resourceLogs');
    reader.enterObject();
    for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
      keys.add(key);
      yield reader.position;
      if (key !== 'resourceLogs' || reader.kind() === 'null') continue;
      reader.enterList();
      while (reader.hasNext()) yield* resourceLogs(reader, events);
    }
    reader.endText();
    // Unknown names must be ignored ("JSON Protobuf Encoding"), and `{}` is an empty request, a success ("OTLP/HTTP
    // Response"). A body with unknown names only is most likely another product's, such as {"logs":[…]}: with status
    // 200, its sender would believe that its events were stored.
    keys.check('a request to store logs', { mayBeEmpty: true });
  },
};

function* resourceLogs(reader: JsonReader, events: EventTexts): Generator<number, void> {
  let resource: OtlpAttributes | undefined;
  events.addPart();
  yield* headThenList(
    reader,
    { head: 'resource', list: 'scopeLogs', also: ['schemaUrl'] },
    () => {
      resource = reader.bounded(() => attributesUnder(reader));
    },
    () => scopeLogs(reader, resource, events),
  );
}

function* scopeLogs(
  reader: JsonReader,
  resource: OtlpAttributes | undefined,
  events: EventTexts,
): Generator<number, void> {
  let scope: string | undefined;
  events.addPart();
  yield* headThenList(
    reader,
    { head: 'scope', list: 'logRecords', also: ['schemaUrl'] },
    () => {
      scope = reader.bounded(() => parseScope(reader));
    },
    () => logRecord(reader, { resource, scope }, events),
  );
}

function* logRecord(
  reader: JsonReader,
  origin: OtlpOrigin,
  events: EventTexts,
): Generator<number, void> {
  events.addPosted(reader.tryEvent(() => recordText(reader, origin)));
  yield reader.position;
}

function recordText(reader: JsonReader, origin: OtlpOrigin): string {
  const record: { -readonly [member in keyof OtlpRecord]: OtlpRecord[member] } = {};
  reader.enterObject();
  for (let key = nextGiven(reader); key !== undefined; key = nextGiven(reader)) {
    switch (key) {
      case 'timeUnixNano':
      case 'observedTimeUnixNano':
        record[key] = parseDigits(reader);
        break;
      case 'severityNumber':
        record[key] = parseSeverity(reader);
        break;
      case 'flags':
        record[key] = Number(parseDigits(reader));
        break;
      case 'severityText':
      case 'eventName':
      case 'traceId':
      case 'spanId':
        record[key] = reader.text();
        break;
      case 'body':
        record[key] = parseAnyValue(reader, 1);
        break;
      case 'attributes':
        record[key] = parseAttributes(reader, 1);
    }
  }
  return eventText(otlpEvent(record, origin));
}

/** The attributes of the next value, a resource. */
function attributesUnder(reader: JsonReader): OtlpAttributes | undefined {
  let attributes: OtlpAttributes | undefined;
  reader.enterObject();
  for (let key = nextGiven(reader); key !== undefined; key = nextGiven(reader)) {
    if (key === 'attributes') attributes = parseAttributes(reader, 1);
  }
  return attributes;
}

function parseScope(reader: JsonReader): string | undefined {
  const scope = new ObjectText();
  reader.enterObject();
  for (let key = nextGiven(reader); key !== undefined; key = nextGiven(reader)) {
    if (key === 'attributes') scope.add(key, parseAttributes(reader, 1)?.json);
    else if (key === 'name' || key === 'version') {
      if (reader.kind() === 'string') scope.add(key, reader.json());
    }
  }
  return scope.isEmpty ? undefined : scope.toString();
}

/** Reads a list of keys and values. `level`: the number of lists and maps around a value. */
function parseAttributes(reader: JsonReader, level: number): OtlpAttributes | undefined {
  const attributes = new OtlpAttributeList();
  reader.enterList();
  while (reader.hasNext()) {
    let name: string | undefined;
    let value: OtlpValue = NULL_VALUE;
    reader.enterObject();
    for (let key = nextGiven(reader); key !== undefined; key = nextGiven(reader)) {
      if (key === 'key') name = reader.text();
      else if (key === 'value') value = parseAnyValue(reader, level);
    }
    attributes.add(name ?? '', value);
  }
  return attributes.done();
}

const NULL_VALUE: OtlpValue = { json: 'null', isText: false };

/** Reads an `AnyValue`: an object with one member, whose name is the type. */
function parseAnyValue(reader: JsonReader, level: number): OtlpValue {
  if (level > ATTRIBUTE_DEPTH_MAX) reader.fail(`at most ${ATTRIBUTE_DEPTH_MAX} levels of values`);
  let value = NULL_VALUE;
  reader.enterObject();
  for (let key = nextGiven(reader); key !== undefined; key = nextGiven(reader)) {
    if (key === 'stringValue') value = parseString(reader);
    else if (key === 'boolValue' || key === 'bytesValue') value = plain(reader.json());
    else if (key === 'intValue') value = plain(parseDigits(reader));
    else if (key === 'doubleValue') value = plain(reader.json());
    else if (key === 'arrayValue') value = plain(parseList(reader, level + 1));
    else if (key === 'kvlistValue') value = plain(parseMap(reader, level + 1));
  }
  return value;
}

/** The key of the next member that is not null. */
function nextGiven(reader: JsonReader): string | undefined {
  let key = reader.nextKey();
  while (key !== undefined && reader.kind() === 'null') key = reader.nextKey();
  return key;
}

function plain(json: string): OtlpValue {
  return { json, isText: false };
}

function parseString(reader: JsonReader): OtlpValue {
  if (reader.kind() !== 'string') reader.fail('a string');
  return { json: reader.json(), isText: true };
}

function parseList(reader: JsonReader, level: number): string {
  const values: string[] = [];
  reader.enterObject();
  for (let key = nextGiven(reader); key !== undefined; key = nextGiven(reader)) {
    if (key !== 'values') continue;
    reader.enterList();
    while (reader.hasNext()) values.push(parseAnyValue(reader, level).json);
  }
  return `[${values.join(',')}]`;
}

function parseMap(reader: JsonReader, level: number): string {
  let map: OtlpAttributes | undefined;
  reader.enterObject();
  for (let key = nextGiven(reader); key !== undefined; key = nextGiven(reader)) {
    if (key === 'values') map = parseAttributes(reader, level);
  }
  return map?.json ?? '{}';
}

/** Reads an integer, which senders write as a string or as a number. */
function parseDigits(reader: JsonReader): string {
  const place = { start: reader.position };
  const text = reader.kind() === 'string' ? reader.text() : reader.json();
  if (/^-?(?:0|[1-9]\d{0,19})$/.test(text)) return text;
  reader.goTo(place);
  return reader.fail('an integer of 64 bits');
}

/** Reads a severity number; some senders write its name, such as `SEVERITY_NUMBER_INFO2`. */
function parseSeverity(reader: JsonReader): number | undefined {
  if (reader.kind() !== 'string') return Number(parseDigits(reader));
  return SEVERITY_NUMBERS.get(reader.text());
}

/** Four names each, from 1 on: `INFO`, `INFO2`, `INFO3`, `INFO4`. */
const SEVERITY_NUMBERS: ReadonlyMap<string, number> = new Map(
  ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']
    .flatMap((name) => [name, `${name}2`, `${name}3`, `${name}4`])
    .map((name, index) => [`SEVERITY_NUMBER_${name}`, index + 1]),
);
