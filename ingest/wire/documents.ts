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
 * Any objects, one or a list of them: what says when, what and whose is taken out, the rest is metadata. So the
 * paths `/json` and `/vector` of Logflare have it.
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

/** The same with an object on each line, as Vector sends it where its framing is by new lines. */
export const documentLines: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const reader = new JsonReader(body.pieces, { memory: body.memory, isLines: true });
    yield* eventLines(reader, events, () => eventText(documentEvent(reader, NAMES)));
  },
};

function documentText(reader: JsonReader): string {
  return postedEvent(reader, () => eventText(documentEvent(reader, NAMES)));
}
