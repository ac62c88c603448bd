import type { JsonReader } from './json-reader.ts';

/**
 * The text of the event that is due: what `read` gives of an object. What is no object goes on as it is, to be refused
 * where all events are, in its place and beside others that are stored.
 */
export function postedEvent(reader: JsonReader, read: () => string): string {
  return reader.kind() === 'object' ? read() : reader.json();
}
