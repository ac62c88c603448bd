import { type DocumentNames, documentEvent } from './document.ts';
import { eventLines } from './event-lines.ts';
import { type EventTexts, eventText, type WireEvent } from './event-texts.ts';
import { JsonReader } from './json-reader.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/** The time fields of Cloudflare's data sets: dates, or numbers in seconds, milliseconds or nanoseconds. */
const NAMES: DocumentNames = {
  timestamp: ['EdgeStartTimestamp', 'EventTimestampMs', 'Timestamp', 'Datetime', 'timestamp'],
  message: ['event_message', 'message'],
  project: ['project'],
};

/**
 * Cloudflare Logpush: one record a line, whose fields become metadata with their names (Cloudflare's "Logpush job
 * fields"). The message of a record of a request is composed like a line of an access log.
 */
export const logpush: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const reader = new JsonReader(body.pieces, { memory: body.memory, isLines: true });
    yield* eventLines(reader, events, () => eventText(recordEvent(reader)));
  },
};

function recordEvent(reader: JsonReader): WireEvent {
  const place = { start: reader.position };
  const message = reader.bounded(() => requestLine(reader));
  reader.goTo(place);
  const event = documentEvent(reader, NAMES);
  return message === undefined ? event : { ...event, message: JSON.stringify(message) };
}

/** The fields of a request's record that form its message. */
const REQUEST_FIELDS = [
  'ClientRequestMethod',
  'EdgeResponseStatus',
  'ClientIP',
  'ClientRequestHost',
  'ClientRequestURI',
] as const;

type RequestField = (typeof REQUEST_FIELDS)[number];

function requestLine(reader: JsonReader): string | undefined {
  const values = new Map<RequestField, string>();
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    const field = REQUEST_FIELDS.find((name) => name === key);
    if (field === undefined) continue;
    values.set(field, reader.kind() === 'string' ? reader.text() : reader.json());
  }
  if (!values.has('ClientRequestMethod')) return undefined;
  const url = `${values.get('ClientRequestHost') ?? ''}${values.get('ClientRequestURI') ?? ''}`;
  const parts = ['ClientRequestMethod', 'EdgeResponseStatus', 'ClientIP'] as const;
  return [...parts.map((field) => values.get(field) ?? '-'), url].join(' | ');
}
