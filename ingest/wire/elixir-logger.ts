import { batchBody } from './batch-body.ts';
import { type DocumentNames, documentEvent } from './document.ts';
import { type EventTexts, eventText } from './event-texts.ts';
import { JsonReader } from './json-reader.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

const NAMES: DocumentNames = {
  id: ['id'],
  timestamp: ['timestamp'],
  message: ['event_message', 'message'],
  project: ['project'],
  nested: 'metadata',
};

/**
 * Logflare's `/elixir/logger` in its JSON form: `{"batch": [{"timestamp", "message", "metadata": {…}}], "source"}`.
 * `Logger.metadata(project: …)` is all that an application has to name its project by. Earlier senders have
 * `level` and `context` beside the metadata; they are in it here, as those of today have them.
 */
export const elixirLogger: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const reader = new JsonReader(body.pieces, body);
    yield* batchBody(reader, events, () => eventText(documentEvent(reader, NAMES)));
  },
};
