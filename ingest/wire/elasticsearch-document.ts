import { EventLimitError } from '../ingest-error.ts';
import { BULK_ID_LENGTH_MAX } from '../limits.ts';
import { type DocumentNames, documentEvent } from './document.ts';
import { type EventTexts, eventText } from './event-texts.ts';
import { JsonReader } from './json-reader.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/** The result of one action on a document. */
export type DocumentItem = {
  readonly action: string;
  readonly index: string | undefined;
  /** The sender's id, or one that was made here. */
  readonly id: string;
  /** The ordinal of the stored event, if there is one. */
  readonly event: number | undefined;
};

/** Names of the Elastic Common Schema, and of loggers that write it. */
const NAMES: DocumentNames = {
  timestamp: ['@timestamp', 'timestamp', 'time'],
  message: ['event_message', 'message', 'msg'],
  project: ['project'],
};

/**
 * Elasticsearch's index API (its REST API, "Create or update a document in an index"): one document, whose id the URL
 * may name. The notes are a list with its item.
 */
export const elasticsearchDocument: WireFormat<readonly DocumentItem[]> = {
  *translate(body: WireBody, events: EventTexts): Generator<number, readonly DocumentItem[]> {
    const reader = new JsonReader(body.pieces, body);
    const wholeId = body.documentId ?? body.newId();
    const id = cutId(wholeId);
    const event = events.count;
    const text = reader.tryEvent(() => documentText(reader, id));
    events.addPosted(id === wholeId ? text : longIdError(wholeId));
    reader.endText();
    yield reader.position;
    return [{ action: 'index', index: undefined, id, event }];
  },
};

/** The text of the next object as an event with this id. */
export function documentText(reader: JsonReader, id: string): string {
  return eventText({ ...documentEvent(reader, NAMES), id: JSON.stringify(id) });
}

/** The part of an id that an answer repeats. */
export function cutId(id: string): string {
  return id.slice(0, BULK_ID_LENGTH_MAX);
}

/** The reason why a document with such an id is refused. */
export function longIdError({ length }: string): EventLimitError {
  return new EventLimitError(`_id may have ${BULK_ID_LENGTH_MAX} characters; got ${length}`);
}
