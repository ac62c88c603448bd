import { lokiPush } from '../../ingest/wire/loki-push.ts';
import { sendJson } from '../http/response.ts';
import { listOf, objectOf, refTo } from '../openapi/schemas.ts';
import { type Door, refusedSentences } from './door.ts';
import { WARNINGS_TEXT } from './post-warnings.ts';

/**
 * Grafana Loki's push (its HTTP API, "Ingest logs"): 204 when all was stored. Its senders take a 400 for lines that
 * will never be taken, and go on; 429 and 5xx for "later".
 */
export const LOKI_DOOR: Door<void> = {
  summary: 'Store log lines of a Loki push',
  formats: new Map([['application/json', lokiPush]]),
  bodyText: () => ({
    schema: objectOf({ streams: listOf({ type: 'object' }) }),
    example: {
      streams: [{ stream: { app: 'shop' }, values: [['1768478100000000000', 'order made']] }],
    },
  }),
  answers: {
    204: { description: 'All is stored', headers: WARNINGS_TEXT },
    400: {
      description: 'Some lines were not taken, and never will be; the others are stored',
      headers: WARNINGS_TEXT,
      content: { 'application/json': { schema: refTo('Refusals') } },
    },
  },
  sourceElse: 'default',
  tell: (_request, response, posted) => {
    const sentences = refusedSentences(posted);
    if (sentences.length > 0) {
      sendJson(response, 400, { message: sentences });
      return;
    }
    response.statusCode = 204;
    response.end();
  },
};
