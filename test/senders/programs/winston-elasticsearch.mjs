import winston from 'winston';
import { ElasticsearchTransport } from 'winston-elasticsearch';
import { logRecords, OPTIONS } from './application.mjs';

const transport = new ElasticsearchTransport({ ...OPTIONS, flushInterval: 200 });
for (const name of ['error', 'warning']) {
  transport.on(name, (error) => process.stderr.write(`${error.stack}\n`));
}
const logger = winston.createLogger({ transports: [transport] });
logger.on('error', (error) => process.stderr.write(`${error.stack}\n`));
await logRecords(({ message, timeMs, fields }) =>
  logger.info({ message, timestamp: new Date(timeMs ?? Date.now()).toISOString(), ...fields }),
);
await transport.flush();
process.exit();
