import { lokiPush } from '../../ingest/wire/loki-push.ts';
import { sendJson } from '../http/response.ts';
import { type Door, refusedSentences } from './door.ts';

/**
 * Grafana Loki's push (its HTTP API, "Ingest logs"): 204 when all was stored. Its senders take a 400 for lines that
 * will never be taken, and go on; 429 and 5xx for "later".
 */
export const LOKI_DOOR: Door<void> = {
  summary: 'Store log lines of a Loki push',
  formats: new Map([['application/json', lokiPush]]),
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
