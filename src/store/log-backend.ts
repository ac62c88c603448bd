import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Engine, prepareQuery } from '../../engine/engine.ts';
import { type AdmissionManners, admitEvents } from '../../ingest/admission.ts';
import type { Disk } from '../../ingest/disk/disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import type { LogStore } from '../../ingest/log-store.ts';
import { MemoryBudget } from '../../ingest/memory-budget.ts';
import { MemoryPool } from '../../ingest/memory-pool.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { decodeBody } from '../../ingest/post-body.ts';
import { randomUuids } from '../../ingest/random-id.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import { isUuid, SourceDirectory } from '../../ingest/source.ts';
import { translateBody } from '../../ingest/wire/wire-format.ts';
import { PROCESS_BYTES, WORKER_BYTES } from '../limits.ts';
import { type Log, stackOf } from '../log.ts';
import { profileOf } from '../profile.ts';
import type { Settings } from '../settings.ts';
import type { Backend } from './backend.ts';
import { DurableStore } from './durable-store.ts';
import { IngestCounts } from './ingest-counts.ts';
import { asServiceErrors, withServiceErrors } from './intake-errors.ts';
import type { LogIntake } from './log-intake.ts';
import type { PublishedEvents } from './published-events.ts';

const DAY_US = 86_400_000_000;

/** The engine and the store, each in the other's hands: one reads segments, the other seals them. */
export function openBackend(options: {
  readonly settings: Settings;
  readonly log: Log;
  /** The monotonic clock, in milliseconds: how long the log takes is not known without. */
  readonly nowMs?: () => number;
  /** The machine's own unless given. */
  readonly disk?: Disk | undefined;
  /** Bytes from which a file of the log is followed by a new one; for tests. */
  readonly logFileBytesMax?: number;
}): Backend {
  const { settings, log, nowMs, disk = new NodeDisk(), logFileBytesMax } = options;
  const directory = new SourceDirectory(settings.sources);
  const retentionUs = settings.retentionDays * DAY_US;
  const durable: DurableStore = new DurableStore({
    disk,
    dataDir: settings.dataDir,
    sources: directory.sources.map(({ name }) => name),
    retentionUs,
    summarize: summarizeSegment,
    seal: async (handle) => {
      try {
        return await engine.seal(handle, PARTITION_US);
      } catch (error) {
        // The store keeps the rows and tries again; only here does anyone hear of it.
        log({ level: 'error', event: 'seal_failed', error: stackOf(error) });
        throw error;
      }
    },
    merge: (handles) => engine.merge(handles),
    pack: (buffer) => engine.pack(buffer),
    readersDone: () => engine.readersDone(),
    budget: new MemoryBudget({
      memoryBytesMax: settings.memoryBytesMax,
      othersBytesMax: othersBytesMax(settings),
    }),
    onGarbage: () => engine.releaseDropped(),
    remembered: () => engine,
    log,
    nowMs,
    logFileBytesMax,
  });
  const { store } = durable;
  const engine = new Engine({
    sources: directory.sources,
    catalog: store,
    workerCount: settings.workerCount,
    memoLimits: { bytesMax: settings.memoBytesMax },
  });
  const counts = new IngestCounts();
  return {
    engine,
    intake: createIntake({
      directory,
      store,
      durableMs: () => durable.logStats()?.groupMs ?? 0,
      retentionUs,
      counts,
      manners: profileOf(settings.profile).admission,
    }),
    published: publishedEvents(store, directory),
    recover: (nowUs, observer) => durable.recover(nowUs, observer),
    tick: (nowUs) => {
      durable.tick(nowUs);
      void engine.prepareStates();
    },
    stats: () => ({
      engine: engine.stats(),
      sources: store.stats(),
      ingest: counts.bySource(),
      queuedBytes: store.queuedBytes,
      memory: store.memoryStats(),
      log: durable.logStats(),
    }),
    close: async () => {
      await durable.close();
      await engine.close();
    },
  };
}

/** Memory that is not the store's. */
function othersBytesMax({
  cacheBytesMax,
  memoBytesMax,
  workerCount = availableParallelism(),
}: Settings): number {
  return cacheBytesMax + memoBytesMax + PROCESS_BYTES + workerCount * WORKER_BYTES;
}

function publishedEvents(store: LogStore, { sources }: SourceDirectory): PublishedEvents {
  return {
    lastId: (source) => store.arrivalEnd(source),
    prepare: (text, parameters) => prepareQuery(text, { sources, parameters, hasArrivals: true }),
    whenPublished: (listener) => store.whenPublished(listener),
  };
}

function without(events: readonly number[], left: readonly number[]): readonly number[] {
  if (events.length === 0) return events;
  const leftOut = new Set(left);
  return events.filter((event) => !leftOut.has(event));
}

function createIntake(options: {
  readonly directory: SourceDirectory;
  readonly store: LogStore;
  readonly durableMs: LogIntake['durableMs'];
  readonly retentionUs: number;
  readonly counts: IngestCounts;
  readonly manners: AdmissionManners;
}): LogIntake {
  const { directory, store, durableMs, retentionUs, counts, manners } = options;
  const randomId = randomUuids();
  const pool = new MemoryPool();
  return {
    findSource: (text) => (isUuid(text) ? directory.findById(text) : directory.findByName(text)),
    listSources: () => directory.sources,
    sizes: () =>
      new Map(
        store
          .stats()
          .map((stats) => [stats.source, { events: stats.rowCount, bytes: stats.byteSize }]),
      ),
    durableMs,
    check: (source) => withServiceErrors(() => store.check(source?.name)),
    decode: (pieces, form, isRepaired) =>
      asServiceErrors(async () => {
        const memory = pool.lend();
        const decoded = await decodeBody(pieces, form, memory, isRepaired);
        return {
          address: decoded.address,
          store: (source, { nowUs, projects }) =>
            asServiceErrors(async () => {
              try {
                const options = { source, nowUs, projects, retentionUs, randomId, manners };
                const { batch, refusals, unreadableTimestamps } = await admitEvents(
                  decoded,
                  options,
                );
                const { rowCount: events } = batch;
                if (events > 0) await store.append(source.name, batch, nowUs);
                const repaired = without(decoded.repairedEvents, refusals.events);
                counts.add(source.name, {
                  events,
                  refusals: refusals.events.length,
                  repairs: repaired.length,
                  unreadableTimestamps: unreadableTimestamps?.count ?? 0,
                  bytes: decoded.text.bodySize,
                });
                return { ...refusals, repaired, unreadableTimestamps };
              } finally {
                // The store keeps nothing of a batch, whether it took it or not.
                memory.end();
              }
            }),
        };
      }),
    translate: (format, body) =>
      asServiceErrors(async () => {
        const memory = pool.lend();
        try {
          return await translateBody(format, { ...body, newId: randomUUID, memory });
        } finally {
          memory.end();
        }
      }),
  };
}
