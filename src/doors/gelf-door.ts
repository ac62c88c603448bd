import { gelf } from '../../ingest/wire/gelf.ts';
import { LOGGED_ANSWERS } from '../openapi/post-text.ts';
import { describeObject, STRING } from '../openapi/schemas.ts';
import type { Door } from './door.ts';
import { WARNINGS_TEXT } from './post-warnings.ts';

/** Types that senders name, or that their HTTP library adds. Graylog looks at none of them. */
const TYPES = [
  'application/json',
  'application/gelf',
  'application/x-ndjson',
  'text/plain',
  'application/x-www-form-urlencoded',
];

/** Graylog's GELF HTTP input: 202 without a body when everything was taken. */
export const GELF_DOOR: Door<void> = {
  summary: 'Store messages in GELF',
  formats: new Map(TYPES.map((type) => [type, gelf])),
  bodyText: (mediaType) => {
    const example = { version: '1.1', host: 'shop', short_message: 'order made', level: 6 };
    return mediaType === 'application/json'
      ? { schema: describeObject({ short_message: STRING }), example }
      : { schema: STRING, example: JSON.stringify(example) };
  },
  answers: {
    202: { description: 'All messages are stored and survive a crash', headers: WARNINGS_TEXT },
    406: LOGGED_ANSWERS[406]!,
  },
  sourceElse: 'default',
  refusalCode: 'events_refused',
  tell: (_request, response) => {
    response.statusCode = 202;
    response.setHeader('Content-Length', 0);
    response.end();
  },
};
