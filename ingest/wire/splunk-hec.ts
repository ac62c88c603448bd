import { isUtf8 } from 'node:buffer';
import * as ascii from '../ascii.ts';
import { MalformedBodyError } from '../ingest-error.ts';
import { BULK_INDEX_LENGTH_MAX } from '../limits.ts';
import { type DocumentNames, documentEvent } from './document.ts';
import { type EventTexts, eventText, type WireEvent } from './event-texts.ts';
import { JsonReader } from './json-reader.ts';
import { ObjectText } from './json-text.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/**
 * Splunk's codes for what is wrong with a body, and its sentences, with which the reasons here begin ("Troubleshoot
 * HTTP Event Collector", "Possible error codes").
 */
export const HEC_SENTENCES = {
  noData: { code: 5, text: 'No data' },
  eventRequired: { code: 12, text: 'Event field is required' },
  eventBlank: { code: 13, text: 'Event field cannot be blank' },
  fieldsInvalid: { code: 15, text: 'Error in handling indexed fields' },
} as const;

/** The members of an event that is an object; `line` is Docker's, `log` Fluent Bit's. */
const NAMES: DocumentNames = {
  timestamp: [],
  message: ['event_message', 'message', 'msg', 'line', 'log'],
  project: ['project'],
};

/** Members beside the event, which the query string may give for all events that lack them. */
const SHARED = ['host', 'source', 'sourcetype'] as const;

/** What the query string gives. Values are JSON texts, except for the index. */
type Shared = {
  readonly index: string | undefined;
  readonly time: string | undefined;
  readonly members: ReadonlyMap<string, string>;
};

/**
 * Events of Splunk's HTTP Event Collector: objects one after another, with or without white space between, as
 * `{"time", "host", "source", "sourcetype", "index", "event", "fields"}` ("Format events for HTTP Event Collector").
 * The index is the address. An event that is a text is the message. Any other event is `metadata.event`, and its
 * message and project are taken out of it if it is an object. The indexed field `project` also names the project.
 */
export const splunkEvents: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const reader = new JsonReader(body.pieces, body);
    const shared = readShared(body.query);
    while (reader.hasValue()) {
      const read = reader.tryEvent(() => parseEvent(reader, shared));
      if (read instanceof Error) events.addRefused(read, shared.index);
      else events.addPosted(read.posted, read.index);
      yield reader.position;
    }
    if (events.count === 0) throw noData();
  },
};

/** Lines of text for Splunk's HTTP Event Collector; the query string has the rest. Each line is a message. */
export const splunkLines: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const bytes = Buffer.concat(body.pieces);
    // Each line is repaired when it is decoded.
    events.isRepaired = !isUtf8(bytes);
    const { index, time, members } = readShared(body.query);
    const metadata = new ObjectText();
    for (const [key, json] of members) metadata.add(key, json);
    const common = { timestamp: time, metadata: metadata.toString() };
    let at = 0;
    while (at < bytes.length) {
      const lineFeed = bytes.indexOf(ascii.LINE_FEED, at);
      const end = lineFeed < 0 ? bytes.length : lineFeed;
      const line = bytes.toString('utf8', at, end).trimEnd();
      if (line !== '')
        events.addText(eventText({ ...common, message: JSON.stringify(line) }), index);
      at = end;
      while (bytes[at] === ascii.LINE_FEED) at++;
      yield at;
    }
    if (events.count === 0) throw noData();
  },
};

/** Reasons for refusing an event. They are constants, because a body may have many events and a stack costs time. */
const NO_OBJECT = new MalformedBodyError('an event must be an object; got another value');
const NO_EVENT = problem('eventRequired', 'an event must have "event"; got none');
const BLANK_EVENT = problem('eventBlank', '"event" must have a text; got an empty one');
const NO_FIELDS = problem('fieldsInvalid', '"fields" must be an object; got another value');

function noData(): MalformedBodyError {
  return problem('noData', 'the body must have an event; got none');
}

function problem(name: keyof typeof HEC_SENTENCES, reason: string): MalformedBodyError {
  return new MalformedBodyError(`${HEC_SENTENCES[name].text}: ${reason}`);
}

function readShared(query: WireBody['query']): Shared {
  const find = (name: string): string | undefined => query.get(name)?.[0] || undefined;
  const members = new Map<string, string>();
  for (const name of SHARED) {
    const text = find(name);
    if (text !== undefined) members.set(name, JSON.stringify(text));
  }
  const time = find('time');
  return {
    index: find('index')?.slice(0, BULK_INDEX_LENGTH_MAX),
    time: time === undefined ? undefined : JSON.stringify(time),
    members,
  };
}

/** An event or the reason for refusing it, and the index that it names. */
type Parsed = { readonly posted: string | Error; readonly index: string | undefined };

/** Reads the next value. Null counts as absent, because some senders write all members. */
function parseEvent(reader: JsonReader, shared: Shared): Parsed {
  if (reader.kind() !== 'object') {
    reader.skip();
    return { posted: NO_OBJECT, index: shared.index };
  }
  let { index, time } = shared;
  let content: WireEvent | Error = NO_EVENT;
  let fields: Fields | Error | undefined;
  const others = new Map(shared.members);
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    if (reader.kind() === 'null') continue;
    if (key === 'event') content = parseContent(reader);
    else if (key === 'fields') fields = parseFields(reader);
    else if (key === 'time') time = reader.json();
    else if (key === 'index' && reader.kind() === 'string') index = parseIndex(reader) ?? index;
    else others.set(key, reader.json());
  }
  if (content instanceof Error) return { posted: content, index };
  if (fields instanceof Error) return { posted: fields, index };
  const metadata = new ObjectText();
  for (const [key, json] of others) metadata.add(key, json);
  metadata.add('fields', fields?.json).add('event', content.metadata);
  const { message, project = fields?.project } = content;
  const text = eventText({ timestamp: time, message, project, metadata: metadata.toString() });
  return { posted: text, index };
}

function parseIndex(reader: JsonReader): string | undefined {
  return reader.text().slice(0, BULK_INDEX_LENGTH_MAX) || undefined;
}

/** The message, project and metadata of the next value, which is not null. */
function parseContent(reader: JsonReader): WireEvent | Error {
  const kind = reader.kind();
  if (kind === 'object') return documentEvent(reader, NAMES);
  const json = reader.json();
  if (json === '""') return BLANK_EVENT;
  return kind === 'string' ? { message: json } : { message: JSON.stringify(json), metadata: json };
}

type Fields = { readonly json: string; readonly project: string | undefined };

function parseFields(reader: JsonReader): Fields | Error {
  if (reader.kind() !== 'object') {
    reader.skip();
    return NO_FIELDS;
  }
  const fields = new ObjectText();
  let project: string | undefined;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    const isProject = key === 'project' && reader.kind() === 'string';
    const json = reader.json();
    fields.add(key, json);
    if (isProject) project = json;
  }
  return { json: fields.toString(), project };
}
