import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@elastic/elasticsearch';
import { logRecords, OPTIONS, tellDropped, WEIR_PROJECT } from './application.mjs';

const { index, ...options } = OPTIONS;
const client = new Client(options);
await client.indices.putIndexTemplate({ name: index, index_patterns: [index], data_stream: {} });
await client.indices.createDataStream({ name: index });

let waiting = [];
let isEnded = false;

async function sendWaiting() {
  const documents = waiting;
  waiting = [];
  try {
    await client.helpers.bulk({
      datasource: documents,
      onDocument: () => ({ create: { _index: index } }),
      onDrop: ({ document }) => tellDropped(document.message),
      filter_path: ['errors', 'items.*.error', 'items.*.status'],
    });
  } catch (error) {
    process.stderr.write(`${error.stack}\n`);
    tellDropped(...documents.map(({ message }) => message));
  }
}

async function send() {
  while (!isEnded || waiting.length > 0) {
    if (waiting.length > 0) await sendWaiting();
    await delay(200);
  }
}

const sent = send();
await logRecords(({ message, timeMs, fields }) => {
  const time = new Date(timeMs ?? Date.now()).toISOString();
  waiting.push({ '@timestamp': time, message, project: WEIR_PROJECT, ...fields });
});
isEnded = true;
await sent;
