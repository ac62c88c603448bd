import pino from 'pino';
import { ended, logThrough, OPTIONS, timestamp, WEIR_PROJECT } from './application.mjs';

const transport = pino.transport({
  target: 'pino-logflare',
  options: OPTIONS,
});
await logThrough(pino({ base: { project: WEIR_PROJECT }, timestamp }, transport));
await ended(transport);
