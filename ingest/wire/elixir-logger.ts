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
 * Logflare's `/elixir/logger` in JSON: `{"batch": [{"timestamp", "message", "metadata": {…}}], "source"}`. An
 * application can name its project only by `Logger.metadata(project: …)`. Older senders have `level` and `context`
 * beside the metadata; they are moved into it, where current senders have them.
 */
export const elixirLogger: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const reader = new JsonReader(body.pieces, body);
    yield* batchBody(reader, events, () => eventText(documentEvent(reader, NAMES)));
  },
};
