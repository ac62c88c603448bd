import type { EventTexts } from './event-texts.ts';
import type { JsonReader } from './json-reader.ts';
import { postedEvent } from './posted-event.ts';

/**
 * Reads an event from each line; `read` translates an object. A line that is too large or not JSON, such as a last line
 * that was cut off, is refused by itself.
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
