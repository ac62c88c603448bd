/**
 * How fast is a store that is larger than memory? Projects that were not asked before, by how many rows they have: what a
 * call takes, and what it reads; then the busiest project, memory, a start, and what the service does when nobody calls.
 * SQLite, DuckDB and ClickHouse are asked the same of the same events, one after the other, with as much memory.
 *
 *   npm run bench:large                         five million events of each kind
 *   npm run bench:large -- --size medium        1.2 million of each; short and small: as the tests run it
 *   npm run bench:large -- --folder PATH        keeps the stores there, to be asked again
 *   npm run bench:large -- --only weir,sqlite   some of the engines
 *
 * The service's clock stands at the end of the events, so all runs have the same answers.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpClient } from './http-client.ts';
import { AskedWeir } from './large/asked-weir.ts';
import { askGroups, resultHash, warmUp } from './large/asking.ts';
import { LargeCalls } from './large/calls.ts';
import type { EngineResult, PeerResult } from './large/engine-result.ts';
import { tellIdle } from './large/idle.ts';
import { cachedBytes, dropPageCache } from './large/page-cache.ts';
import { LARGE_PEERS, PeerStages } from './large/peer-stages.ts';
import { barsOf, differencesOf, tablesOf } from './large/report.ts';
import { type LargeSize, SIZES } from './large/sizes.ts';
import { LargeStore, REST_SECONDS_MAX } from './large/store.ts';
import { barText, environmentLine } from './measure.ts';
import { MemoryMeter } from './memory-meter.ts';
import { filesBelow } from './sealed-folder.ts';
import type { ServiceProcess } from './service-process.ts';
import { readSizeOptions } from './size-options.ts';

const START_MS_MAX = 5_000;

/** What the process may take beside MEMORY_LIMIT. */
const BESIDE_BYTES = 150e6;

async function main(): Promise<void> {
  const { size, command, own } = readSizeOptions(SIZES, ['folder', 'only']);
  const folder = own['folder'] ?? mkdtempSync(join(tmpdir(), 'weir-large-'));
  mkdirSync(folder, { recursive: true });
  const only = own['only']?.split(',');
  const calls = new LargeCalls(size);
  const store = new LargeStore({ folder, size, projects: calls.projects, command });
  console.log(`${environmentLine()}, MEMORY_LIMIT=${size.memoryBytes}`);
  try {
    await store.make();
    const weir = await measureWeir({ store, calls, size });
    const peers: PeerResult[] = [];
    for (const name of LARGE_PEERS) {
      if (only !== undefined && !only.includes(name)) continue;
      const peer = await findPeer(new PeerStages(name, { folder, size }));
      if (typeof peer === 'string') console.log(`${name} is left out: ${peer}`);
      else peers.push(peer);
    }
    console.log(`\n${tablesOf(weir, peers)}`);
    console.log(barsOf(calls, weir, peers));
    mustAgree(weir, peers);
    console.log(`result hash ${resultHash([...weir.first, ...weir.busiest])}`);
  } finally {
    if (own['folder'] === undefined) rmSync(folder, { recursive: true });
  }
}

async function measureWeir(of: Measured): Promise<EngineResult> {
  const { store, size } = of;
  const { count, byteSize } = filesBelow(store.dataDir, '.segment');
  const ratio = (byteSize / size.memoryBytes).toFixed(1);
  console.log(
    `${megabytes(byteSize)} in ${count} segment files, ${ratio} times MEMORY_LIMIT; ` +
      `${(byteSize / eventCountOf(size)).toFixed(0)} B an event`,
  );
  tellCache(store.dataDir);
  const first = await askFirst(of);
  return { name: 'weir', first, busiest: await askBusiest(of) };
}

function tellCache(folder: string): void {
  const before = cachedBytes(folder);
  const isDropped = dropPageCache(folder);
  const after = cachedBytes(folder);
  const left = after === undefined ? 'not known how much is left' : `${megabytes(after)} left`;
  const had = before === undefined ? '' : ` of ${megabytes(before)}`;
  if (isDropped) console.log(`page cache dropped before each group of calls: ${left}${had}`);
  else console.log('the page cache could not be dropped: what is read lies in memory');
}

/** With kept answers, as a user runs it: no call comes twice. Then what the service does idle. */
async function askFirst(of: Measured): Promise<EngineResult['first']> {
  return await withWeir(of, {}, async ({ asked, service, client, meter, startMs }) => {
    console.log(
      `start: ${startMs.toFixed(0)} ms ${barText(`<= ${START_MS_MAX} ms`, startMs <= START_MS_MAX)}`,
    );
    const drop = (): void => void dropPageCache(of.store.dataDir);
    const first = await askGroups(asked, of.calls.first, drop);
    await meter.tell('asking');
    await service.atRest();
    await tellIdle(service, client, of.size.idleMs);
    return first;
  });
}

/** Without kept answers, since each call comes again. */
async function askBusiest(of: Measured): Promise<EngineResult['busiest']> {
  return await withWeir(of, { CACHE_LIMIT: '0' }, async ({ asked, meter }) => {
    const busiest = await askGroups(asked, of.calls.busiest, () => {});
    await meter.tell('asking of the busiest project');
    return busiest;
  });
}

type Measured = {
  readonly store: LargeStore;
  readonly calls: LargeCalls;
  readonly size: LargeSize;
};

type Running = {
  readonly service: ServiceProcess;
  readonly asked: AskedWeir;
  readonly client: HttpClient;
  readonly meter: MemoryMeter;
  readonly startMs: number;
};

/** Does what is to be done with a service that has been started and warmed up, and says what memory it took. */
async function withWeir<T>(
  { store, calls, size }: Measured,
  environment: Readonly<Record<string, string>>,
  work: (running: Running) => Promise<T>,
): Promise<T> {
  const fromMs = performance.now();
  const service = await store.start(environment);
  const startMs = performance.now() - fromMs;
  const asked = new AskedWeir(service);
  const client = new HttpClient(service.url, service.token, 1);
  const meter = new MemoryMeter(service, client);
  try {
    await service.atRest(REST_SECONDS_MAX);
    await warmUp(asked, calls.warmUp, size.warmUpMs);
    const result = await work({ service, asked, client, meter, startMs });
    meter.tellPeak(size.memoryBytes + BESIDE_BYTES);
    return result;
  } finally {
    client.close();
    asked.close();
    await service.stop();
  }
}

/** What a peer did; the sentence why not where it is not installed, or cannot answer with this memory. */
async function findPeer(stages: PeerStages): Promise<PeerResult | string> {
  const hindrance = await stages.hindrance();
  if (hindrance !== undefined) return hindrance;
  const fromMs = performance.now();
  await stages.load();
  const seconds = (performance.now() - fromMs) / 1000;
  const result = await stages.findAnswers();
  if (typeof result === 'string') return result;
  console.log(
    `${result.name} ${result.version}: loaded in ${seconds.toFixed(0)} s, ` +
      `${megabytes(filesBelow(stages.dataDir, '').byteSize)} of files, ` +
      `${megabytes(result.peakBytes)} resident at most` +
      `${result.isCacheDropped ? '' : '; the page cache could not be dropped'}`,
  );
  return result;
}

/** @throws Error with every group of calls that two engines answer differently. */
function mustAgree(weir: EngineResult, peers: readonly EngineResult[]): void {
  const differences = peers.flatMap((peer) => differencesOf(weir, peer));
  if (differences.length > 0) throw new Error(`answers differ:\n${differences.join('\n')}`);
  for (const { name } of peers) console.log(`${name} gives the same answers`);
}

function eventCountOf({ eventCounts }: LargeSize): number {
  return Array.from(eventCounts.values()).reduce((sum, count) => sum + count, 0);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

await main();
