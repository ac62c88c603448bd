import { client, v2 } from '@datadog/datadog-api-client';
import { logBatches, OPTIONS, tellDropped, WEIR_PROJECT } from './application.mjs';

const { url, ...options } = OPTIONS;
const configuration = client.createConfiguration({
  ...options,
  baseServer: new client.ServerConfiguration(url, {}),
});
const logs = new v2.LogsApi(configuration);

async function send(items) {
  try {
    await logs.submitLog({ body: items, contentEncoding: 'gzip' });
  } catch (error) {
    process.stderr.write(`${error.stack}\n`);
    tellDropped(...items.map(({ message }) => message));
  }
}

await logBatches(send, ({ message, timeMs, fields }) => ({
  message,
  service: 'shop',
  ddtags: `project:${WEIR_PROJECT}`,
  additionalProperties: { timestamp: timeMs ?? Date.now(), ...fields },
}));
