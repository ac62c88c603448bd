/**
 * What does it take to hold four times the logs that memory may? Taking in and asking, with a small
 * MEMORY_LIMIT, and the same calls again with one that holds everything: the answers must be the same.
 *
 *   npm run build && node --import tsx bench/memory.ts
 *   node --import tsx bench/memory.ts --size middle
 *   node --import tsx bench/memory.ts --size small --uncompiled   as the tests run it
 *
 * Edge events lie in order over 90 days at whose end the service's clock stands, so that there are 90
 * partitions; behind them come some invocations of functions. Resident memory is the whole process's,
 * as the system counts it.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { showProgress } from '../src/command/progress.ts';
import { HttpClient } from './http-client.ts';
import { environmentLine } from './measure.ts';
import { askAll, DEFINITIONS, reportRatios } from './memory-calls.ts';
import { MemoryData } from './memory-data.ts';
import { MemoryMeter } from './memory-meter.ts';
import { postAll, refusalText } from './posting.ts';
import { ServiceProcess } from './service-process.ts';
import { readMetrics, readSource } from './service-reading.ts';
import { readSizeOptions } from './size-options.ts';

const CONNECTIONS = 4;

/** Between two looks at what the service is busy with. */
const LOOK_MS = 250;

/** Looks at a service that has nothing more to seal, store or merge. */
const QUIET_LOOKS = 12;
const QUIET_MS_MAX = 300_000;

type Size = {
  /** In the form that settings take, and in bytes. */
  readonly memoryLimit: string;
  readonly limitBytes: number;
  readonly eventCount: number;
  readonly isLean: boolean;
  /** Calls of each kind after the first. */
  readonly callCount: number;
  /** The most that the process may take at any time; `undefined`: there is no such bar. */
  readonly barBytes?: number;
};

const SIZES: ReadonlyMap<string, Size> = new Map([
  [
    'small',
    {
      ...{ memoryLimit: '256MiB', limitBytes: 256 * 2 ** 20 },
      ...{ eventCount: 700_000, isLean: true, callCount: 2 },
    },
  ],
  [
    'middle',
    {
      ...{ memoryLimit: '256MiB', limitBytes: 256 * 2 ** 20 },
      ...{ eventCount: 1_600_000, isLean: false, callCount: 5 },
    },
  ],
  [
    'large',
    {
      ...{ memoryLimit: '512MB', limitBytes: 512e6, barBytes: 900e6 },
      ...{ eventCount: 4_000_000, isLean: false, callCount: 5 },
    },
  ],
]);

async function main(): Promise<void> {
  const { size, command } = readSizeOptions(SIZES);
  const folder = mkdtempSync(join(tmpdir(), 'weir-memory-'));
  const definitions = join(folder, 'definitions');
  mkdirSync(definitions);
  for (const [name, text] of DEFINITIONS) writeFileSync(join(definitions, name), text);
  const data = new MemoryData(size);
  const withService = async <T>(memoryLimit: string, work: Work<T>): Promise<T> => {
    const environment = {
      ...{ FROZEN_NOW: data.now, ENDPOINTS_DIR: definitions, MEMORY_LIMIT: memoryLimit },
      // What is timed is the engine, so every call must run.
      CACHE_LIMIT: '0',
    };
    const service = await ServiceProcess.start(command, environment, join(folder, 'data'));
    const client = new HttpClient(service.url, service.token, CONNECTIONS);
    try {
      return await work(client, service);
    } finally {
      client.close();
      await service.stop();
    }
  };
  const { calls } = data;
  const { callCount } = size;
  console.log(`${environmentLine()}, MEMORY_LIMIT=${size.memoryLimit}`);
  try {
    const limited = await withService(size.memoryLimit, async (client, service) => {
      const meter = new MemoryMeter(service, client);
      const byteSize = await takeIn(client, meter, { data, limitBytes: size.limitBytes });
      const figures = await askAll(client, { calls, callCount, meter });
      await meter.tell('asking');
      meter.tellPeak(size.barBytes);
      return { byteSize, figures };
    });
    // Room for segments, and for as much again that queries and open segments take.
    const wideLimit = `${Math.ceil((2 * limited.byteSize) / 1e6) + 2_000}MB`;
    console.log(`\nthe same folder, MEMORY_LIMIT=${wideLimit}`);
    const wide = await withService(wideLimit, async (client, service) => {
      const meter = new MemoryMeter(service, client);
      const figures = await askAll(client, { calls, callCount, meter });
      await meter.tell('asking');
      return figures;
    });
    reportRatios(limited.figures, wide);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Work<T> = (client: HttpClient, service: ServiceProcess) => Promise<T>;

/** Resolves to the bytes that all events take when they are in memory. */
async function takeIn(
  client: HttpClient,
  meter: MemoryMeter,
  options: { readonly data: MemoryData; readonly limitBytes: number },
): Promise<number> {
  const { data, limitBytes } = options;
  const fromMs = performance.now();
  let refusalCount = 0;
  for (const { source, eventCount, nextBody } of data.loads) {
    const path = `/api/logs?source_name=${encodeURIComponent(source)}`;
    refusalCount += await postAll(client, { path, connectionCount: CONNECTIONS }, nextBody);
    const { events, bytes } = await readSource(client, source);
    if (events !== eventCount) throw new Error(`${events} events of ${eventCount} are there`);
    console.log(`${source}: ${events} events, ${(bytes / events).toFixed(0)} B each in memory`);
  }
  const seconds = (performance.now() - fromMs) / 1000;
  console.log(`made and posted in ${seconds.toFixed(0)} s${refusalText(refusalCount)}`);
  await meter.tell('taking in');
  await untilQuiet(client);
  await meter.tell('sealing, storing and merging the rest');
  let byteSize = 0;
  for (const { source } of data.loads) byteSize += (await readSource(client, source)).bytes;
  console.log(
    `${(byteSize / 1e6).toFixed(0)} MB of logs, ${(byteSize / limitBytes).toFixed(1)} times MEMORY_LIMIT`,
  );
  return byteSize;
}

/** Waits until the service's segments stay as they are. */
async function untilQuiet(client: HttpClient): Promise<void> {
  const endMs = performance.now() + QUIET_MS_MAX;
  let quietLooks = 0;
  let segmentsBefore = '';
  while (quietLooks < QUIET_LOOKS) {
    if (performance.now() > endMs) throw new Error(`not quiet after ${QUIET_MS_MAX} ms`);
    const metrics = await readMetrics(client);
    const segments = [...metrics]
      .filter(([name]) => name.startsWith('weir_source_segments{'))
      .map(([name, count]) => `${name} ${count}`);
    const isSealing = segments.some((line) => /kind="frozen"\} [1-9]/.test(line));
    const isSame = segments.join() === segmentsBefore;
    quietLooks = isSame && !isSealing ? quietLooks + 1 : 0;
    segmentsBefore = segments.join();
    showProgress('waiting until all is sealed and merged');
    await wait(LOOK_MS);
  }
  showProgress('');
}

await main();
