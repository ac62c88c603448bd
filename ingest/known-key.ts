/** Keys at the root of a body that name the post's source. */
export const ADDRESS_KEYS = ['source_name', 'collection_name', 'source', 'collection'] as const;

/** The keys of an event's columns, then ADDRESS_KEYS, then the key for a timestamp that cannot be read. */
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

/** Known keys are first in every key table, in the order above, so their numbers are constants. */
export const EVENT_MESSAGE_KEY = 0;
export const MESSAGE_KEY = 1;
export const ID_KEY = 2;
export const TIMESTAMP_KEY = 3;
export const PROJECT_KEY = 4;
export const METADATA_KEY = 5;
export const ADDRESS_KEY_START = 6;
export const ADDRESS_KEY_END = 10;
export const TIMESTAMP_TEXT_KEY = 10;

/** Under the keys with numbers below this, containers of a root record are stored as JSON text: their columns are text. */
export const COLUMN_TEXT_KEY_COUNT = 5;
