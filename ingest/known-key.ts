/** Keys that name a post's source, at the root of a body. */
export const ADDRESS_KEYS = ['source_name', 'collection_name', 'source', 'collection'] as const;

/** What an event's columns are made of, then ADDRESS_KEYS, then the key that keeps a timestamp that cannot be read. */
export const KNOWN_KEYS = [
  'event_message',
  'message',
  'id',
  'timestamp',
  'project',
  'metadata',
  ...ADDRESS_KEYS,
  'timestamp_text',
];

/** Known keys come first in every key table, in the order above, so that a key's number tells. */
export const EVENT_MESSAGE_KEY = 0;
export const MESSAGE_KEY = 1;
export const ID_KEY = 2;
export const TIMESTAMP_KEY = 3;
export const PROJECT_KEY = 4;
export const METADATA_KEY = 5;
export const ADDRESS_KEY_START = 6;
export const ADDRESS_KEY_END = 10;
export const TIMESTAMP_TEXT_KEY = 10;

/** Under the keys below, containers of a root record are kept as JSON text: a column wants text. */
export const COLUMN_TEXT_KEY_COUNT = 5;
