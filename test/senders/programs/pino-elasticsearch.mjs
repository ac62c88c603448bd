import pino from 'pino';
import pinoElasticsearch from 'pino-elasticsearch';
import { logThrough, OPTIONS, timestamp, WEIR_PROJECT } from './application.mjs';

function connect() {
  const connected = pinoElasticsearch({ ...OPTIONS, flushInterval: 1_000 });
  connected.on('error', (error) => {
    process.stderr.write(`${error.stack}\n`);
    // It may be that it goes on, and it may be that it has stopped for ever.
    if (connected === stream) stream = connect();
  });
  return connected;
}

let stream = connect();
const destination = { write: (line) => stream.write(line) };
await logThrough(pino({ base: { project: WEIR_PROJECT }, timestamp }, destination));
const inserted = new Promise((resolve) => stream.once('insert', resolve).once('error', resolve));
stream.end();
await inserted;
