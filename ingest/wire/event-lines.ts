import { MalformedBodyError } from '../ingest-error.ts';
import type { EventTexts } from './event-texts.ts';
import type { JsonReader } from './json-reader.ts';
import { postedEvent } from './posted-event.ts';

/**
 * Reads an event from each line: what `read` gives of an object. A line that is not JSON, such as a last one that was cut
 * off, is refused by itself.
 */
export function* eventLines(
  reader: JsonReader,
  events: EventTexts,
  read: () => string,
): Generator<number, void> {
  while (reader.nextLine()) {
    const text = reader.tryLine(() => postedEvent(reader, read));
    if (text instanceof MalformedBodyError) events.addRefused(text);
    else events.addText(text);
    yield reader.position;
  }
}
