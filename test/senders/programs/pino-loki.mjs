import pino from 'pino';
import { ended, logThrough, OPTIONS, timestamp } from './application.mjs';

const transport = pino.transport({
  target: 'pino-loki',
  options: { ...OPTIONS, batching: { interval: 1 } },
});
await logThrough(pino({ timestamp }, transport));
await ended(transport);
