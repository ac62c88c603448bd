import type { EventTexts } from './event-texts.ts';
import type { JsonReader } from './json-reader.ts';
import { postedEvent } from './posted-event.ts';

/**
 * Reads an event from each line: what `read` gives of an object. A line that is not JSON, such as a last one that was cut
 * off, or that is too large is refused by itself.
 */
export function* eventLines(
  reader: JsonReader,
  events: EventTexts,
  read: () => string,
): Generator<number, void> {
  while (reader.nextLine()) {
    events.addPosted(reader.tryLine(() => postedEvent(reader, read)));
    yield reader.position;
  }
}
