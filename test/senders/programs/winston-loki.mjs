import winston from 'winston';
import LokiTransport from 'winston-loki';
import { logRecords, OPTIONS } from './application.mjs';

const transport = new LokiTransport({ ...OPTIONS, interval: 1, gracefulShutdown: false });
const logger = winston.createLogger({ transports: [transport] });
await logRecords(({ message, timeMs, fields }) =>
  logger.info({ message, timestamp: timeMs ?? Date.now(), ...fields }),
);
await transport.close();
