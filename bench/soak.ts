/**
 * Does the service stay as it is for hours, when it takes logs in and answers calls, and its data outgrows the memory?
 * A sender posts at 40 % of what an empty store takes, half full edge events, half invocations; three readers ask the three
 * saved queries of projects by their share, and bring SQL of their own with one call in thirteen.
 *
 *   npm run bench:soak                        an hour with MEMORY_LIMIT=1GiB
 *   npm run bench:soak -- --size medium       five minutes and a rest; small: six seconds, as the tests run it
 *   npm run bench:soak -- --memory 256MiB     another limit
 *   npm run bench:soak -- --events 2500       so many events a second, whatever an empty store takes
 *
 * Prints a line for each minute, and at the end one for each query of each minute. The clock is the real one.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { WORK_KINDS } from '../engine/pool/work-shares.ts';
import { showProgress } from '../src/command/progress.ts';
import { HttpClient } from './http-client.ts';
import { tellIdle } from './large/idle.ts';
import { MINUTE_HEAD, type Minute, minuteBars, minuteLine, timesOf } from './large/minutes.ts';
import { QUERY_HEAD, queryLines } from './large/query-times.ts';
import { OWN_SQL, Readers, SANDBOX } from './large/readers.ts';
import { SenderProcess } from './large/sender-process.ts';
import { environmentLine } from './measure.ts';
import { filesBelow } from './sealed-folder.ts';
import { ServiceProcess } from './service-process.ts';
import { readMetrics } from './service-reading.ts';
import { readSizeOptions } from './size-options.ts';

const READERS = 3;
const SHARE_SENT = 0.4;

/** What an empty store takes is looked at once its backlog is as full as it gets. */
const FILLING_SHARE = 1 / 3;

/** What the process may take beside MEMORY_LIMIT. */
const BESIDE_BYTES = 150e6;

type Size = {
  readonly minuteMs: number;
  readonly minuteCount: number;
  readonly emptyMs: number;
  /** Between the last call and the look at what the service does idle. */
  readonly restMs: number;
  readonly idleMs: number;
};

/** Longer than `warm: 300s` of the saved queries: no answer was called again within it. */
const REST_MS = 330_000;

const MEASURED = { minuteMs: 60_000, emptyMs: 45_000, restMs: REST_MS, idleMs: 30_000 };

const SIZES: ReadonlyMap<string, Size> = new Map([
  ['small', { minuteMs: 2_000, minuteCount: 3, emptyMs: 1_500, restMs: 200, idleMs: 300 }],
  ['medium', { ...MEASURED, minuteCount: 5 }],
  ['large', { ...MEASURED, minuteCount: 60 }],
]);

async function main(): Promise<void> {
  const { size, command, own } = readSizeOptions(SIZES, ['memory', 'events']);
  const memoryLimit = own['memory'] ?? '1GiB';
  const folder = mkdtempSync(join(tmpdir(), 'weir-soak-'));
  const definitions = join(folder, 'definitions');
  mkdirSync(definitions);
  writeFileSync(join(definitions, SANDBOX.file), SANDBOX.text);
  const environment = { MEMORY_LIMIT: memoryLimit, ENDPOINTS_DIR: definitions };
  console.log(`${environmentLine()}, MEMORY_LIMIT=${memoryLimit}`);
  try {
    const eventsPerSecond =
      own['events'] === undefined
        ? await measureSent(command, environment, { size, dataDir: join(folder, 'empty') })
        : Number(own['events']);
    console.log(`sent: ${eventsPerSecond} events/s\n`);
    const dataDir = join(folder, 'data');
    await withService(
      (path) => ServiceProcess.start(command, environment, path),
      dataDir,
      (service) => soak(service, { size, eventsPerSecond, dataDir }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function withService<T>(
  start: (dataDir: string) => Promise<ServiceProcess>,
  dataDir: string,
  work: (service: ServiceProcess) => Promise<T>,
): Promise<T> {
  mkdirSync(dataDir);
  const service = await start(dataDir);
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

/** Events a second that are sent: a part of what an empty store takes. */
async function measureSent(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
  { size, dataDir }: { readonly size: Size; readonly dataDir: string },
): Promise<number> {
  const takenPerSecond = await withService(
    (path) => ServiceProcess.start(command, environment, path),
    dataDir,
    (service) => measureTaken(service, size),
  );
  console.log(`an empty store takes ${takenPerSecond.toFixed(0)} events/s`);
  return Math.max(1, Math.round(SHARE_SENT * takenPerSecond));
}

/** Events a second that are taken when they are sent without a pause. */
async function measureTaken({ url, token }: ServiceProcess, { emptyMs }: Size): Promise<number> {
  const sender = new SenderProcess({ url, token, eventsPerSecond: 0 });
  while (sender.counts.eventCount === 0) await wait(10);
  showProgress('measuring what an empty store takes');
  await wait(FILLING_SHARE * emptyMs);
  const fromMs = performance.now();
  const before = sender.counts.eventCount;
  await wait((1 - FILLING_SHARE) * emptyMs);
  const perSecond = (sender.counts.eventCount - before) / ((performance.now() - fromMs) / 1000);
  showProgress('');
  await sender.stop();
  return perSecond;
}

async function soak(
  service: ServiceProcess,
  of: { readonly size: Size; readonly eventsPerSecond: number; readonly dataDir: string },
): Promise<void> {
  const { size, eventsPerSecond, dataDir } = of;
  const { url, token } = service;
  const client = new HttpClient(url, token, 1);
  const sender = new SenderProcess({ url, token, eventsPerSecond });
  while (sender.counts.eventCount === 0) await wait(10);
  const readers = new Readers({ url, token, count: READERS });
  const minutes: Minute[] = [];
  const queries: string[] = [];
  console.log(MINUTE_HEAD);
  let before = await readTotals(client, sender);
  const startMs = performance.now();
  for (let number = 1; number <= size.minuteCount; number++) {
    showProgress(`minute ${number} of ${size.minuteCount}`);
    await wait(Math.max(0, startMs + number * size.minuteMs - performance.now()));
    showProgress('');
    const after = await readTotals(client, sender);
    const { answered, failedCount } = readers.takeSamples();
    const saved = answered.filter(({ query }) => query !== OWN_SQL);
    queries.push(...queryLines(answered, number));
    const minute = {
      answeredCount: answered.length,
      failedCount,
      ...timesOf(saved.map(({ ms }) => ms)),
      residentBytes: service.residentBytes(),
      refusedPostCount: after.refusedPostCount - before.refusedPostCount,
      eventCount: after.eventCount - before.eventCount,
      fileBytes: filesBelow(dataDir, '.segment').byteSize,
      renewalCount: after.renewalCount - before.renewalCount,
      processorSeconds: after.processorSeconds - before.processorSeconds,
      runSeconds: differences(after.runSeconds, before.runSeconds),
      waitSeconds: differences(after.waitSeconds, before.waitSeconds),
      segmentCount: after.segmentCount,
      scannedCount: after.scannedCount - before.scannedCount,
      evictedBytes: after.evictedBytes - before.evictedBytes,
      passingBytes: after.passingBytes - before.passingBytes,
      isLarger: after.isLarger,
    };
    minutes.push(minute);
    console.log(minuteLine(minute, number));
    before = after;
  }
  await readers.stop();
  await sender.stop();
  console.log(`\n${[QUERY_HEAD, ...queries].join('\n')}`);
  const limitBytes = (await readMetrics(client)).get('weir_memory_limit_bytes')!;
  console.log(`\n${minuteBars(minutes, limitBytes + BESIDE_BYTES).join('\n')}`);
  await wait(size.restMs);
  await tellIdle(service, client, size.idleMs);
  client.close();
}

type Totals = Pick<
  Minute,
  | 'refusedPostCount'
  | 'eventCount'
  | 'renewalCount'
  | 'processorSeconds'
  | 'runSeconds'
  | 'waitSeconds'
  | 'segmentCount'
  | 'scannedCount'
  | 'evictedBytes'
  | 'passingBytes'
  | 'isLarger'
>;

/** Counted since the start. */
async function readTotals(client: HttpClient, sender: SenderProcess): Promise<Totals> {
  const metrics = await readMetrics(client);
  const sumSealed = (name: string): number =>
    Array.from(metrics)
      .filter(([key]) => key.startsWith(`${name}{`) && key.includes('kind="sealed"'))
      .reduce((sum, [, value]) => sum + value, 0);
  const byKind = (name: string): readonly number[] =>
    WORK_KINDS.map((kind) => metrics.get(`${name}{kind="${kind}"}`)!);
  return {
    refusedPostCount: sender.counts.refusedCount,
    eventCount: sender.counts.eventCount,
    renewalCount: metrics.get('weir_cache_renewals_total{result="ok"}') ?? 0,
    processorSeconds: metrics.get('process_cpu_seconds_total')!,
    runSeconds: byKind('weir_work_run_seconds_total'),
    waitSeconds: byKind('weir_work_wait_seconds_total'),
    segmentCount: sumSealed('weir_source_segments'),
    scannedCount: metrics.get('weir_segments_scanned_total')!,
    evictedBytes: metrics.get('weir_memory_evicted_bytes_total')!,
    passingBytes: metrics.get('weir_memory_passing_bytes_total')!,
    isLarger:
      sumSealed('weir_source_segment_bytes') > metrics.get('weir_memory_segment_limit_bytes')!,
  };
}

function differences(after: readonly number[], before: readonly number[]): readonly number[] {
  return after.map((value, index) => value - before[index]!);
}

await main();
