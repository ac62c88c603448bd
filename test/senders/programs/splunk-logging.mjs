import splunk from 'splunk-logging';
import { logBatches, OPTIONS, tellDropped, WEIR_PROJECT } from './application.mjs';

const { index, ...options } = OPTIONS;
const logger = new splunk.Logger({ ...options, autoFlush: false });
logger.eventFormatter = (event, severity) => ({ ...event, severity });
logger.error = (error, { message }) => {
  process.stderr.write(`${error.stack}\n`);
  tellDropped(message);
};

function send(contexts) {
  for (const context of contexts) logger.send(context);
  return new Promise((resolve) => logger.flush(resolve));
}

await logBatches(send, ({ message, timeMs, fields }) => ({
  message: { message, project: WEIR_PROJECT, ...fields },
  metadata: { index, time: timeMs ?? Date.now() },
}));
