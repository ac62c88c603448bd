import { Engine, type EngineStats, prepareQuery } from '../../engine/index.ts';
import type { Disk } from '../../ingest/disk/disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import type { LogStore } from '../../ingest/log-store.ts';
import { MemoryBudget } from '../../ingest/memory-budget.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import { SourceDirectory } from '../../ingest/source.ts';
import type { Log } from '../log.ts';
import { StackThrottle } from '../log-throttle.ts';
import { divideMemory, lentBytes, type MemoryDivision } from '../memory-shares.ts';
import { getProfile } from '../profile.ts';
import type { Settings } from '../settings.ts';
import type { Backend, BackendStats, SourceStore, TakenMemory } from './backend.ts';
import { DurableStore } from './durable-store.ts';
import { IngestCounts } from './ingest-counts.ts';
import type { PublishedEvents } from './published-events.ts';
import { StoreIntake } from './store-intake.ts';

const DAY_US = 86_400_000_000;

/**
 * Opens the engine and the store, which use each other: the engine reads segments and seals them
 * for the store.
 */
export function openBackend(options: {
  readonly settings: Settings;
  readonly log: Log;
  /**
   * The monotonic clock, in milliseconds. Without it, the time that the log takes is not measured,
   * and a clock that leaps ahead stays held back.
   */
  readonly nowMs?: () => number;
  /** The machine's disk by default. */
  readonly disk?: Disk | undefined;
  /** Bytes from which a new log file is begun; for tests. */
  readonly logFileBytesMax?: number;
  /** Bytes of the store instead of its share of the memory; for tests. */
  readonly storeBytesMax?: number;
  /** Bytes from which a body is decoded in a separate thread; for tests. */
  readonly apartBytesMin?: number;
}): Backend {
  const { settings, log, nowMs, disk = new NodeDisk(), logFileBytesMax, storeBytesMax } = options;
  const directory = new SourceDirectory(settings.sources);
  const retentionUs = settings.retentionDays * DAY_US;
  const division = divideMemory(settings);
  const budget = createBudget(settings, division, storeBytesMax);
  const stacks = new StackThrottle(nowMs ?? (() => 0));
  const durable: DurableStore = new DurableStore({
    disk,
    dataDir: settings.dataDir,
    sources: directory.sources.map(({ name }) => name),
    retentionUs,
    summarize: summarizeSegment,
    engine: () => engine,
    ...{ budget, log, stacks, nowMs, logFileBytesMax },
  });
  const engine = new Engine({
    sources: directory.sources,
    catalog: durable.store,
    workerCount: division.workerCount,
    poolLimits: division.poolLimits,
    spillFolder: durable.spillFolder,
    ...{
      memoLimits: { bytesMax: settings.memoBytesMax },
      isSealUrgent: () => durable.store.isSealUrgent,
    },
  });
  const counts = new IngestCounts();
  const intake = new StoreIntake({
    ...{ directory, store: durable.store, retentionUs, counts, division, log },
    durableMs: () => durable.logStats()?.groupMs ?? 0,
    manners: getProfile(settings.profile).admission,
    apartBytesMin: options.apartBytesMin,
  });
  return {
    engine,
    intake,
    published: publishedEvents(durable.store, directory),
    sources: sourceStore(durable, directory),
    recover: (nowUs, observer) => durable.recover(nowUs, observer),
    tick: (nowUs, memory) => {
      if (memory !== undefined && storeBytesMax === undefined) {
        const { pooledBytes } = intake;
        lendUnused(budget, { settings, division, memory, engine: engine.stats(), pooledBytes });
      }
      durable.tick(nowUs);
      void engine.prepareStates();
    },
    stats: () => readStats({ durable, engine, intake, counts }),
    close: async () => {
      await intake.close();
      await durable.close();
      await engine.close();
    },
  };
}

function readStats(of: {
  readonly durable: DurableStore;
  readonly engine: Engine;
  readonly intake: StoreIntake;
  readonly counts: IngestCounts;
}): BackendStats {
  const { durable, engine, intake, counts } = of;
  return {
    engine: engine.stats(),
    sources: durable.store.stats(),
    ingest: counts.bySource(),
    pooledBytes: intake.pooledBytes,
    memory: durable.store.memoryStats(),
    log: durable.logStats(),
    heldBackClock: durable.heldBackClock,
  };
}

/** Lends sealed segments the memory that other consumers do not use. */
function lendUnused(
  budget: MemoryBudget,
  of: {
    readonly settings: Settings;
    readonly division: MemoryDivision;
    readonly memory: TakenMemory;
    readonly engine: EngineStats;
    readonly pooledBytes: number;
  },
): void {
  const { memory, engine } = of;
  const usedBytes = memory.requests + engine.queriesBytes + engine.memo.bytes + of.pooledBytes;
  const { memoryBytesMax } = of.settings;
  const taken = { residentBytes: memory.resident, usedBytes, lentBytes: budget.lentBytes };
  budget.lend(lentBytes(of.division, { memoryBytesMax, ...taken }));
}

/** `storeBytesMax` limits the store instead of its share of the memory. */
function createBudget(
  { memoryBytesMax }: Settings,
  { shares, storeBytesMax: ownBytesMax }: MemoryDivision,
  storeBytesMax: number | undefined,
): MemoryBudget {
  if (storeBytesMax !== undefined) {
    return new MemoryBudget({ memoryBytesMax: storeBytesMax, othersBytesMax: storeBytesMax });
  }
  return new MemoryBudget({
    memoryBytesMax,
    othersBytesMax: memoryBytesMax - ownBytesMax,
    backlogBytesMax: shares.backlog,
    segmentBytesMin: shares.segments,
  });
}

function sourceStore(durable: DurableStore, directory: SourceDirectory): SourceStore {
  return {
    holdsEventsOf: (name) => durable.holdsEventsOf(name),
    add: (source) => {
      durable.store.addSource(source.name);
      directory.add(source);
    },
  };
}

function publishedEvents(store: LogStore, { sources }: SourceDirectory): PublishedEvents {
  return {
    watch: async () => () => {},
    lastNumber: (source) => store.arrivalEnd(source),
    knows: (source, number) => number <= store.arrivalEnd(source),
    pageEnd: async ({ source }) => store.arrivalEnd(source),
    prepare: (text, parameters) => prepareQuery(text, { sources, parameters, hasArrivals: true }),
    whenPublished: (listener) => store.whenPublished(listener),
  };
}
