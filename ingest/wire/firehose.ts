import * as ascii from '../ascii.ts';
import { MalformedBodyError } from '../ingest-error.ts';
import { isSpace } from '../json-cursor.ts';
import { ADDRESS_KEYS } from '../known-key.ts';
import { type DocumentNames, documentEvent } from './document.ts';
import { type EventTexts, eventText } from './event-texts.ts';
import { readRecords } from './firehose-records.ts';
import { type JsonPlace, JsonReader } from './json-reader.ts';
import { ObjectText } from './json-text.ts';
import { postedEvent } from './posted-event.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

const NAMES: DocumentNames = {
  id: ['id'],
  timestamp: ['timestamp', '@timestamp', 'time'],
  message: ['event_message', 'message'],
  project: ['project'],
};

const ATTRIBUTES_HEADER = 'x-amz-firehose-common-attributes';

const LINE_FEED = Buffer.from('\n');

/**
 * Deliveries of Amazon Data Firehose to an HTTP endpoint ("Understand HTTP endpoint delivery request and response
 * specifications"). Each record is one of:
 *
 * - a message of CloudWatch Logs ("Subscription filters"): each of its log events becomes an event;
 * - JSON objects, one after the other: each becomes an event;
 * - anything else: each line that is not blank becomes the message of an event.
 *
 * The common attributes of the stream, which are in a header, may name the source and the project.
 */
export const firehose: WireFormat = {
  expands: true,
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const { source, ...shared } = readAttributes(body.headers[ATTRIBUTES_HEADER]);
    events.bodyAddress = source;
    const records = yield* readRecords(new JsonReader(body.pieces, body), events);
    const pieces: Buffer[] = [];
    for (const record of records) if (!(record instanceof Error)) pieces.push(record, LINE_FEED);
    // As lines, or each failure would count those before it.
    const reader = new JsonReader(pieces, { memory: body.memory, isLines: true });
    const texts = new RecordReader(reader, events, shared);
    let start = 0;
    for (const record of records) {
      if (record instanceof Error) events.addRefused(record);
      else {
        const end = start + record.length;
        yield* texts.read({ start, end });
        start = end + LINE_FEED.length;
      }
      yield start;
    }
  },
};

/** What all events of a body have: members of their metadata, and the project of those that name none. */
type Shared = { readonly members: readonly Member[]; readonly project: string | undefined };

/** A member of an object, with the JSON text of its value. */
type Member = readonly [key: string, json: string];

/**
 * Reads `{"commonAttributes": {NAME: TEXT, …}}`. `project` is the project of all events, and `source_name` the source, as
 * in a URL. The others become metadata.
 */
function readAttributes(
  header: string | readonly string[] | undefined,
): Shared & { readonly source: string | undefined } {
  if (header === undefined) return { source: undefined, members: [], project: undefined };
  const attributes = new Map(Object.entries(parseAttributes(String(header))));
  let source: string | undefined;
  for (const key of ADDRESS_KEYS) {
    const text = attributes.get(key);
    if (typeof text === 'string' && text !== '') source ??= text;
    attributes.delete(key);
  }
  const project = attributes.get('project');
  attributes.delete('project');
  const json = JSON.stringify(Object.fromEntries(attributes));
  return {
    source,
    members: attributes.size === 0 ? [] : [['common_attributes', json]],
    project: typeof project === 'string' ? JSON.stringify(project) : undefined,
  };
}

/** @throws MalformedBodyError if the header has another form. Node limits its length, so it is parsed in one step. */
function parseAttributes(header: string): object {
  try {
    const { commonAttributes } = JSON.parse(header) as { readonly commonAttributes?: unknown };
    if (typeof commonAttributes === 'object' && commonAttributes !== null) return commonAttributes;
  } catch (cause) {
    if (!(cause instanceof SyntaxError || cause instanceof TypeError)) throw cause;
  }
  throw new MalformedBodyError(
    'X-Amz-Firehose-Common-Attributes must be {"commonAttributes": {…}} in JSON; got another text',
  );
}

/** Reads the events of records. A line feed follows each record in the reader's body. */
class RecordReader {
  readonly #reader: JsonReader;
  readonly #events: EventTexts;
  readonly #shared: Shared;

  constructor(reader: JsonReader, events: EventTexts, shared: Shared) {
    this.#reader = reader;
    this.#events = events;
    this.#shared = shared;
  }

  /**
   * Reads a record: objects to its end, which may have several lines each. What is left is read line by line, so that
   * each byte is read a fixed number of times, whatever the record holds.
   */
  *read({ start, end }: JsonPlace): Generator<number, void> {
    let at = yield* this.#objects({ start, end });
    while (at < end) {
      const lineFeed = this.#reader.bytes.indexOf(ascii.LINE_FEED, at);
      const lineEnd = Math.min(lineFeed, end);
      const rest = yield* this.#objects({ start: at, end: lineEnd });
      this.#line({ start: rest, end: lineEnd });
      at = lineEnd + 1;
      yield at;
    }
  }

  /** Reads objects up to the end of a text, or to the first that is none. Returns where the rest begins. */
  *#objects(place: JsonPlace): Generator<number, number> {
    const reader = this.#reader;
    let done = place.start;
    reader.enterText(place);
    try {
      for (;;) {
        const at = this.#skipSpace(done, place.end);
        if (at === place.end) return at;
        if (reader.bytes[at] !== ascii.BRACE_OPEN) return done;
        reader.goTo({ start: at });
        yield* this.#object();
        done = reader.position;
        yield done;
      }
    } catch (error) {
      if (!(error instanceof MalformedBodyError)) throw error;
      return done;
    } finally {
      reader.leaveText();
    }
  }

  #skipSpace(start: number, end: number): number {
    const { bytes } = this.#reader;
    let at = start;
    while (at < end && isSpace(bytes[at]!)) at++;
    return at;
  }

  #line({ start, end }: JsonPlace): void {
    const text = this.#reader.bytes.toString('utf8', start, end).trimEnd();
    if (text === '') return;
    const { members, project } = this.#shared;
    const metadata = toObject(members).toString();
    this.#events.addPosted(eventText({ message: JSON.stringify(text), project, metadata }));
  }

  /** Reads the next object, whose syntax is checked before an event of it is added. */
  *#object(): Generator<number, void> {
    const reader = this.#reader;
    const events = this.#events;
    const place = { start: reader.position };
    const head = reader.tryEvent(() => readHead(reader));
    if (head instanceof Error) {
      events.addRefused(head);
      return;
    }
    if (head.logEvents === undefined || !MESSAGE_TYPES.includes(head.messageType ?? '')) {
      reader.goTo(place);
      events.addPosted(reader.tryEvent(() => this.#document(this.#shared.members)));
    } else if (head.messageType === DATA_MESSAGE) {
      yield* this.#logEvents(head.logEvents, head.members);
    }
  }

  *#logEvents(place: JsonPlace, head: readonly [string, JsonPlace][]): Generator<number, void> {
    const reader = this.#reader;
    const next = { start: reader.position };
    const members = [...this.#shared.members];
    for (const [key, { start, end }] of head) {
      members.push([key, reader.bytes.toString('utf8', start, end)]);
    }
    reader.goTo(place);
    reader.enterList();
    while (reader.hasNext()) {
      const read = (): string => this.#document(members);
      this.#events.addPosted(reader.tryEvent(() => postedEvent(reader, read)));
      yield reader.position;
    }
    reader.goTo(next);
  }

  #document(members: readonly Member[]): string {
    const event = documentEvent(this.#reader, NAMES, toObject(members));
    return eventText({ ...event, project: event.project ?? this.#shared.project });
  }
}

/** With log events; the other is a test of the destination, whose log event is no log. */
const DATA_MESSAGE = 'DATA_MESSAGE';
const MESSAGE_TYPES: readonly string[] = [DATA_MESSAGE, 'CONTROL_MESSAGE'];

/** The members of an object, of which those of CloudWatch Logs are told apart. */
type Head = {
  messageType: string | undefined;
  logEvents: JsonPlace | undefined;
  readonly members: [key: string, place: JsonPlace][];
};

function readHead(reader: JsonReader): Head {
  const head: Head = { messageType: undefined, logEvents: undefined, members: [] };
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    const kind = reader.kind();
    if (key === 'messageType' && kind === 'string') head.messageType = reader.text();
    else if (key === 'logEvents' && kind === 'list') head.logEvents = reader.skip();
    else head.members.push([key, reader.skip()]);
  }
  return head;
}

function toObject(members: readonly Member[]): ObjectText {
  const object = new ObjectText();
  for (const [key, json] of members) object.add(key, json);
  return object;
}
