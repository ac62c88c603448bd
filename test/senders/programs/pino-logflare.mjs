import pino from 'pino';
import {
  ended,
  logThrough,
  timestamp,
  WEIR_PROJECT,
  WEIR_SOURCE,
  WEIR_TOKEN,
  WEIR_URL,
} from './application.mjs';

const transport = pino.transport({
  target: 'pino-logflare',
  options: { apiBaseUrl: WEIR_URL, apiKey: WEIR_TOKEN, sourceName: WEIR_SOURCE },
});
await logThrough(pino({ base: { project: WEIR_PROJECT }, timestamp }, transport));
await ended(transport);
