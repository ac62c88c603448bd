import { Client } from '@elastic/elasticsearch';
import { logBatches, OPTIONS, tellDropped, WEIR_PROJECT } from './application.mjs';

const { index, ...options } = OPTIONS;
const client = new Client(options);
await client.indices.putIndexTemplate({ name: index, index_patterns: [index], data_stream: {} });
await client.indices.createDataStream({ name: index });

async function send(documents) {
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

await logBatches(send, ({ message, timeMs, fields }) => {
  const time = new Date(timeMs ?? Date.now()).toISOString();
  return { '@timestamp': time, message, project: WEIR_PROJECT, ...fields };
});
