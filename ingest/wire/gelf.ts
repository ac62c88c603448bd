import { MalformedBodyError } from '../ingest-error.ts';
import { eventLines } from './event-lines.ts';
import { type EventTexts, eventText, type WireEvent } from './event-texts.ts';
import { JsonReader } from './json-reader.ts';
import { ObjectText } from './json-text.ts';
import { postedEvent } from './posted-event.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/**
 * Graylog's extended log format in version 1.1 (its "GELF Payload Specification"): one message, or one a line, as
 * Graylog's HTTP input takes them. `short_message` is the message, `_project` the project, and all other fields are
 * metadata, additional ones without their underscore.
 */
export const gelf: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const reader = new JsonReader(body.pieces, { memory: body.memory, isLines: true });
    const read = (): string => eventText(gelfEvent(reader));
    if (reader.isOneText()) {
      events.addPosted(reader.tryLine(() => postedEvent(reader, read)));
    } else yield* eventLines(reader, events, read);
  },
};

/** @throws MalformedBodyError if the object is no message of GELF. */
function gelfEvent(reader: JsonReader): WireEvent {
  const metadata = new ObjectText();
  let message: string | undefined;
  let timestamp: string | undefined;
  let project: string | undefined;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    const isText = reader.kind() === 'string';
    const json = reader.json();
    if (key === 'short_message' && isText) message = json;
    else if (key === 'timestamp') timestamp = json;
    else if (key === '_project' && isText) project = json;
    else metadata.add(nameOfField(key), json);
  }
  if (message === undefined) {
    throw new MalformedBodyError('a message of GELF must have "short_message", a string');
  }
  return { timestamp, message, project, metadata: metadata.toString() };
}

/** The fields of the specification, whose names an additional field must not take. */
const FIELDS = ['version', 'host', 'full_message', 'level', 'facility', 'line', 'file'];

function nameOfField(key: string): string {
  const name = key.startsWith('_') ? key.slice(1) : key;
  return FIELDS.includes(name) ? key : name;
}
