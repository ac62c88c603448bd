import { type DocumentNames, documentEvent } from './document.ts';
import { eventLines } from './event-lines.ts';
import { type EventTexts, eventText } from './event-texts.ts';
import { JsonReader } from './json-reader.ts';
import { postedEvent } from './posted-event.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

const NAMES: DocumentNames = {
  id: ['id'],
  timestamp: ['timestamp'],
  message: ['event_message', 'message'],
  project: ['project'],
};

/**
 * Arbitrary objects, one or a list of them. Time, message and project are extracted; the rest is metadata. Logflare
 * does this at `/json` and `/vector`.
 */
export const documents: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const reader = new JsonReader(body.pieces, body);
    if (reader.kind() === 'list') {
      reader.enterList();
      while (reader.hasNext()) {
        events.addPosted(reader.tryEvent(() => documentText(reader)));
        yield reader.position;
      }
    } else {
      events.addPosted(reader.tryEvent(() => documentText(reader)));
    }
    reader.endText();
  },
};

/** One arbitrary object per line, as Vector sends them with newline framing. */
export const documentLines: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const reader = new JsonReader(body.pieces, { memory: body.memory, isLines: true });
    yield* eventLines(reader, events, () => eventText(documentEvent(reader, NAMES)));
  },
};

function documentText(reader: JsonReader): string {
  return postedEvent(reader, () => eventText(documentEvent(reader, NAMES)));
}
