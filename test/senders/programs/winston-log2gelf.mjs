import winston from 'winston';
import Log2gelf from 'winston-log2gelf';
import { logRecords, OPTIONS } from './application.mjs';

const logger = winston.createLogger({ transports: [new Log2gelf(OPTIONS)] });
await logRecords(({ message, fields }) => logger.info({ message, ...fields }));
