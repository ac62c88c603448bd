/**
 * How soon is a thread free whose caller has hung up?
 *
 *   npm run build && node --import tsx bench/hang-up.ts
 *
 * One thread. A query without end is asked for over HTTP, and its caller closes the connection after a while; a short
 * query is asked for at the same moment, which has to wait until the thread is free. What that takes beyond
 * what it takes alone is what the thread took to stop.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { HttpClient } from './http-client.ts';
import { environmentLine } from './measure.ts';
import { ServiceProcess } from './service-process.ts';

const TIMES = 20;

/** How long an endless query runs before its caller leaves. */
const RUN_MS = 200;

const MANY = 'UNNEST(GENERATE_ARRAY(1, 1000000))';

const ENDLESS: readonly (readonly [name: string, text: string])[] = [
  ['a cross join', `SELECT COUNT(*) AS n FROM ${MANY} AS a, ${MANY} AS b`],
  ['long texts', `SELECT MAX(LENGTH(REPEAT(CAST(a AS STRING), 100000))) AS n FROM ${MANY} AS a`],
  [
    'a pattern over long texts',
    `SELECT COUNTIF(REGEXP_CONTAINS(CONCAT(REPEAT('ab', 20000), CAST(a AS STRING)), '(a|b|ab)*(a?){50}c')) AS n FROM ${MANY} AS a`,
  ],
  [
    'comparisons of long texts',
    `SELECT MAX(EDIT_DISTANCE(REPEAT('ab', 2000), REPEAT(CAST(a AS STRING), 1000))) AS n FROM ${MANY} AS a`,
  ],
];

/** Too long for the main thread, so that a worker answers it. */
const SHORT = 'SELECT COUNT(*) AS n FROM UNNEST(GENERATE_ARRAY(1, 20000)) AS a';

await main();

async function main(): Promise<void> {
  console.log(environmentLine());
  const folder = mkdtempSync(join(tmpdir(), 'weir-hang-up-'));
  for (const [index, text] of [SHORT, ...ENDLESS.map(([, each]) => each)].entries()) {
    const id = `00000000-0000-4000-8000-00000000000${index}`;
    const header = `-- id: ${id}\n-- name: bench.query${index}\n-- description: ${index}`;
    writeFileSync(join(folder, `query${index}.sql`), `${header}\n${text}\n`);
  }
  const service = await ServiceProcess.start(['dist/src/main.js'], {
    ENDPOINTS_DIR: folder,
    WORKERS: '1',
  });
  try {
    const client = new HttpClient(service.url, service.token, 1);
    for (const [index, [name]] of ENDLESS.entries())
      await measure(name, index + 1, service, client);
    client.close();
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true });
  }
}

async function measure(
  name: string,
  index: number,
  service: ServiceProcess,
  client: HttpClient,
): Promise<void> {
  const short = async (): Promise<number> => {
    const startMs = performance.now();
    const { status } = await client.get('/api/endpoints/bench.query0');
    if (status !== 200) throw new Error(`the short query answered ${status}`);
    return performance.now() - startMs;
  };
  await short();
  const alone: number[] = [];
  const behind: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    alone.push(await short());
    const endless = request(`${service.url}/api/endpoints/bench.query${index}`, {
      headers: { 'X-API-KEY': service.token },
      agent: false,
    });
    endless.on('error', () => {});
    endless.end();
    await wait(RUN_MS);
    endless.destroy();
    behind.push(await short());
  }
  console.log(
    `${name}: a short query takes ${told(alone)}, and ${told(behind)} behind a caller who hung up`,
  );
}

function told(values: readonly number[]): string {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))]!.toFixed(1);
  return `${at(0.5)} ms (max ${at(1)})`;
}
