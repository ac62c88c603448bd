import type { JsonReader } from './json-reader.ts';

/**
 * The text of the next event; `read` translates an object. Any other value is passed on unchanged: admission refuses
 * it, and stores the other events.
 */
export function postedEvent(reader: JsonReader, read: () => string): string {
  return reader.kind() === 'object' ? read() : reader.json();
}
