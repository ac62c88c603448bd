/**
 * How soon is a service gone that is told to stop amid its work, and what becomes of that?
 *
 *   npm run build && node --import tsx bench/stop.ts
 *   node --import tsx bench/stop.ts --size small --uncompiled   as the tests run it
 *
 * Posts and calls are sent without a pause on kept connections, some of them queries of seconds; SIGTERM comes amid. Each
 * connection is used until an answer says that it ends; one that ends before its answer has failed. It is timed until the
 * process is no more; the service is started again on the same folder for the next time, and must hold what it has
 * acknowledged.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { BytesClient } from './bytes-client.ts';
import { HttpClient } from './http-client.ts';
import { barText, environmentLine, figuresOf } from './measure.ts';
import { ServiceProcess } from './service-process.ts';
import { readSource } from './service-reading.ts';
import { readSizeOptions } from './size-options.ts';
import { NOW } from './workload/clock.ts';
import { rows } from './workload/query-bombs.ts';
import { Tenants } from './workload/tenants.ts';
import { ndjson, sourceOf } from './workload/workload.ts';

type Size = { readonly times: number; readonly runMs: number };

const SIZES: ReadonlyMap<string, Size> = new Map([
  ['small', { times: 1, runMs: 500 }],
  ['large', { times: 12, runMs: 4_000 }],
]);

const EVENTS_PER_POST = 500;
const PROJECT_COUNT = 2_000;
const BODY_COUNT = 32;
const POST_CONNECTIONS = 32;
const STOP_S_MAX = 5;

/** As many connections as ask for it at once. */
const CALLS: readonly (readonly [path: string, connections: number])[] = [
  ['/api/endpoints/bench.short', 8],
  // Longer than a stop waits: they are told to come back.
  ['/api/endpoints/bench.long', 4],
];

const QUERIES: Readonly<Record<string, string>> = {
  short: `SELECT COUNT(*) AS n FROM ${rows(20_000)} AS a`,
  long: `SELECT COUNT(*) AS n FROM ${rows(1_000_000)} AS a, ${rows(1_000_000)} AS b`,
};

/** What was heard, of all connections. */
type Heard = { readonly statuses: Map<number, number>; failed: number; taken: number };

await main();

async function main(): Promise<void> {
  const { size, command } = readSizeOptions(SIZES);
  console.log(environmentLine());
  const folder = mkdtempSync(join(tmpdir(), 'weir-stop-'));
  const endpoints = mkdtempSync(join(tmpdir(), 'weir-stop-endpoints-'));
  for (const [index, [name, text]] of Object.entries(QUERIES).entries()) {
    const id = `00000000-0000-4000-8000-00000000000${index}`;
    writeFileSync(
      join(endpoints, `${name}.sql`),
      `-- id: ${id}\n-- name: bench.${name}\n${text}\n`,
    );
  }
  try {
    const start = (): Promise<ServiceProcess> =>
      ServiceProcess.start(
        command,
        { FROZEN_NOW: NOW, ENDPOINTS_DIR: endpoints, CACHE_LIMIT: '0' },
        folder,
      );
    await measure(start, size);
  } finally {
    rmSync(folder, { recursive: true });
    rmSync(endpoints, { recursive: true });
  }
}

async function measure(start: () => Promise<ServiceProcess>, size: Size): Promise<void> {
  const heard: Heard = { statuses: new Map(), failed: 0, taken: 0 };
  const stopMs: number[] = [];
  for (let time = 0; time < size.times; time++) {
    const service = await start();
    const { ended } = await beginSending(service, heard);
    await wait(size.runMs);
    const startMs = performance.now();
    await service.stop();
    stopMs.push(performance.now() - startMs);
    await ended;
  }
  const statuses = Array.from(heard.statuses, ([status, count]) => `${status}: ${count}`);
  console.log(`answers: ${statuses.join(', ')}`);
  console.log(
    `connections that ended before an answer: ${heard.failed} ${barText('0', heard.failed === 0)}`,
  );
  const { p50 } = figuresOf(stopMs);
  const max = Math.max(...stopMs);
  const bar = barText(`<= ${STOP_S_MAX} s`, max <= STOP_S_MAX * 1000);
  console.log(
    `gone after: p50 ${(p50 / 1000).toFixed(2)} s, at most ${(max / 1000).toFixed(2)} s ${bar}, of ${size.times} stops`,
  );
  const service = await start();
  const client = new HttpClient(service.url, service.token, 1);
  const { events } = await readSource(client, sourceOf('lean'));
  const wanted = heard.taken * EVENTS_PER_POST;
  console.log(`stored: ${events} events ${barText(`${wanted}`, events === wanted)}`);
  client.close();
  await service.stop();
}

/** On all connections, until each has `ended`; the service knows of all of them when this resolves. */
async function beginSending(
  service: ServiceProcess,
  heard: Heard,
): Promise<{ readonly ended: Promise<unknown> }> {
  const { url, token } = service;
  const client = await BytesClient.connect(url, token);
  const path = `/api/logs?source_name=${sourceOf('lean')}`;
  const bodies = ndjson('lean', {
    tenants: new Tenants(PROJECT_COUNT),
    eventCount: BODY_COUNT * EVENTS_PER_POST,
    perText: EVENTS_PER_POST,
  });
  const posts = Array.from(bodies, ({ text }) =>
    client.postFor(path, Buffer.from(`[${text.trimEnd().replaceAll('\n', ',')}]`)),
  );
  const calls = CALLS.flatMap(([callPath, connections]) =>
    Array.from({ length: connections }, () => [client.requestFor(callPath)]),
  );
  const askHealth = client.requestFor('/health');
  client.close();
  const open = async (): Promise<BytesClient> => {
    const opened = await BytesClient.connect(url, token);
    // One that the system has accepted, and the service has not, is nobody's to answer.
    await opened.ask(askHealth);
    return opened;
  };
  const openAll = (count: number): Promise<readonly BytesClient[]> =>
    Promise.all(Array.from({ length: count }, open));
  const [postClients, callClients] = [await openAll(POST_CONNECTIONS), await openAll(calls.length)];
  const posted = (status: number): void => {
    if (status === 200) heard.taken += 1;
  };
  const ended = Promise.all([
    ...postClients.map((each) => sendOn(each, posts, heard, posted)),
    ...callClients.map((each, index) => sendOn(each, calls[index]!, heard, () => {})),
  ]);
  return { ended };
}

/** One thing after another, until an answer says that it is the last. */
async function sendOn(
  client: BytesClient,
  requests: readonly Buffer[],
  heard: Heard,
  answered: (status: number) => void,
): Promise<void> {
  try {
    for (let turn = 0; ; turn++) {
      const { status, head } = await client.send(requests[turn % requests.length]!);
      heard.statuses.set(status, (heard.statuses.get(status) ?? 0) + 1);
      answered(status);
      if (/connection: close/i.test(head)) return;
    }
  } catch {
    heard.failed += 1;
  } finally {
    client.close();
  }
}
