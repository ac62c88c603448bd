import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

/** Whose events are logged. */
export const { WEIR_PROJECT } = process.env;

/** What the sender is told of where to send, and as whom. */
export const OPTIONS = JSON.parse(process.env.SENDER_OPTIONS);

/** Says that an event was given up. */
export function tellDropped(...texts) {
  process.stdout.write(`dropped ${texts.join(' ')}\n`);
}

/** Logs each record that comes, until there are no more. */
export async function logRecords(log) {
  process.stdout.write('ready\n');
  for await (const line of createInterface(process.stdin)) log(JSON.parse(line));
}

let timeMs;

/** Pino's clock: as the record says, else now. */
export const timestamp = () => `,"time":${timeMs ?? Date.now()}`;

/** Logs records through pino. */
export function logThrough(logger) {
  return logRecords((record) => {
    timeMs = record.timeMs;
    logger.info(record.fields ?? {}, record.message);
  });
}

/** Resolves when pino's transport has delivered what it has. */
export function ended(transport) {
  const closed = new Promise((resolve) => transport.once('close', resolve));
  transport.end();
  return closed;
}

/** Logs records through `send`, which takes all that have come since its last call, until each was sent. */
export async function logBatches(send, toEntry) {
  let waiting = [];
  let isEnded = false;
  const sendAll = async () => {
    while (!isEnded || waiting.length > 0) {
      const entries = waiting;
      waiting = [];
      if (entries.length > 0) await send(entries);
      await delay(200);
    }
  };
  const sent = sendAll();
  await logRecords((record) => waiting.push(toEntry(record)));
  isEnded = true;
  await sent;
}
