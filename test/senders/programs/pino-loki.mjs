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
  target: 'pino-loki',
  options: {
    host: WEIR_URL,
    endpoint: `loki/api/v1/push?source_name=${WEIR_SOURCE}`,
    basicAuth: { username: 'weir', password: WEIR_TOKEN },
    labels: { project: WEIR_PROJECT },
    batching: { interval: 1 },
  },
});
await logThrough(pino({ timestamp }, transport));
await ended(transport);
