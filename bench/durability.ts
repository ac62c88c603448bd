/**
 * What does it cost that an acknowledged post survives a crash, and how long does a crash take to get
 * over?
 *
 *   npm run build && node --import tsx bench/durability.ts
 *   node --import tsx bench/durability.ts --size small --uncompiled   as the tests run it
 *
 * Full edge events are posted, in three parts with a data folder each. `crash`: a steady stream of
 * small posts, sent at their times whether or not those before are answered; then large ones, amid
 * which the service is killed; started again, it must have every event it acknowledged. `storage`:
 * posts as fast as they go, and what their events take on disk once all are sealed. `replay`: a start on
 * a log as long as it may get.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOG_BYTES_MAX } from '../ingest/limits.ts';
import { SourceDirectory } from '../ingest/source.ts';
import { type CrashSize, crash, POSTS_DEFINITION, type StartedService } from './crash.ts';
import { EDGE_SOURCE, EdgeEvents, NOW, NOW_MS } from './edge-events.ts';
import { writeLog } from './edge-log.ts';
import { HttpClient } from './http-client.ts';
import { barText, environmentLine } from './measure.ts';
import { ServiceProcess } from './service-process.ts';
import { readSource } from './service-reading.ts';
import { readSizeOptions } from './size-options.ts';
import { storage } from './storage.ts';

/** Replaying is to be so many times as fast as taking in. */
const REPLAY_RATIO_MIN = 2;

/** Two starts on an empty folder differ by less than this. */
const REPLAY_MS_MIN = 500;

type Size = CrashSize & {
  /** Posted as fast as they go. */
  readonly eventCount: number;
  /** Of the log that is replayed. */
  readonly logBytes: number;
};

const SIZES: ReadonlyMap<string, Size> = new Map([
  [
    'small',
    {
      ...{ idleS: 0.2, postsPerSecond: 100, warmS: 0.5, steadyS: 1, postsBeforeKill: 10 },
      ...{ eventCount: 5_000, logBytes: 10_000_000 },
    },
  ],
  [
    'large',
    {
      ...{ idleS: 5, postsPerSecond: 500, warmS: 5, steadyS: 20, postsBeforeKill: 100 },
      ...{ eventCount: 300_000, logBytes: LOG_BYTES_MAX },
    },
  ],
]);

type Start = (name: string) => Promise<StartedService>;

async function main(): Promise<void> {
  const { size, command } = readSizeOptions(SIZES);
  const folder = mkdtempSync(join(tmpdir(), 'weir-durability-'));
  const definitions = join(folder, 'definitions');
  mkdirSync(definitions);
  writeFileSync(join(definitions, 'posts.sql'), POSTS_DEFINITION);
  const environment = { FROZEN_NOW: NOW, ENDPOINTS_DIR: definitions };
  const start: Start = async (name) => {
    const fromMs = performance.now();
    const service = await ServiceProcess.start(command, environment, join(folder, name));
    return { service, ms: performance.now() - fromMs };
  };
  const edge = new EdgeEvents();
  console.log(environmentLine());
  try {
    const startMs = await crash(() => start('crash'), edge, size);
    const { service } = await start('storage');
    const takenPerSecond = await storage(service, edge, {
      eventCount: size.eventCount,
      folder: join(folder, 'storage'),
    });
    rmSync(join(folder, 'storage'), { recursive: true });
    const logFolder = join(folder, 'replay', 'log');
    await replay(start, edge, {
      ...{ logFolder, logBytes: size.logBytes, startMs, takenPerSecond },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function replay(
  start: Start,
  edge: EdgeEvents,
  options: {
    readonly logFolder: string;
    readonly logBytes: number;
    /** Of a start with nothing stored. */
    readonly startMs: number;
    readonly takenPerSecond: number;
  },
): Promise<void> {
  const { logFolder, logBytes, startMs, takenPerSecond } = options;
  const source = new SourceDirectory([]).findByName(EDGE_SOURCE);
  if (source === undefined) throw new Error(`there is no source ${EDGE_SOURCE}`);
  const { eventCount, byteSize } = await writeLog({
    ...{ folder: logFolder, source, nowUs: NOW_MS * 1000, bytesMin: logBytes },
    makeEvent: (timestampMs) => edge.next(timestampMs),
  });
  const { service, ms } = await start('replay');
  try {
    const client = new HttpClient(service.url, service.token, 1);
    const { events } = await readSource(client, EDGE_SOURCE);
    client.close();
    if (events !== eventCount) throw new Error(`${events} events of ${eventCount} are there`);
  } finally {
    await service.kill();
  }
  console.log(
    `a log of ${(byteSize / 1e6).toFixed(0)} MB, ${(byteSize / eventCount).toFixed(0)} B/event: ready in ` +
      `${(ms / 1000).toFixed(2)} s, ${eventCount} events replayed, ` +
      rateText({ eventCount, takenPerSecond, ms: ms - startMs }),
  );
}

function rateText(replayed: {
  readonly eventCount: number;
  readonly ms: number;
  readonly takenPerSecond: number;
}): string {
  const { eventCount, ms, takenPerSecond } = replayed;
  if (ms < REPLAY_MS_MIN) return 'too few to tell a rate';
  const perSecond = eventCount / (ms / 1000);
  const ratio = perSecond / takenPerSecond;
  const bar = barText(`>= ${REPLAY_RATIO_MIN}`, ratio >= REPLAY_RATIO_MIN);
  return `${Math.round(perSecond)} events/s, ${ratio.toFixed(1)} times the rate of taking in ${bar}`;
}

await main();
