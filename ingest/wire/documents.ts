import { type DocumentNames, documentEvent } from './document.ts';
import type { EventTexts } from './event-texts.ts';
import { JsonReader } from './json-reader.ts';
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
        events.add(documentEvent(reader, NAMES));
        yield reader.position;
      }
    } else {
      events.add(documentEvent(reader, NAMES));
    }
    reader.endText();
  },
};

/** The same with an object on each line, as Vector sends it where its framing is by new lines. */
export const documentLines: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const reader = new JsonReader(body.pieces, { memory: body.memory, isLines: true });
    while (reader.nextLine()) {
      events.add(documentEvent(reader, NAMES));
      reader.endText();
      yield reader.position;
    }
  },
};
