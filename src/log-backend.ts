import { sealedSummary } from '../engine/column/sealed-segment.ts';
import { Engine } from '../engine/engine.ts';
import { admitEvents } from '../ingest/admission.ts';
import type { Disk } from '../ingest/disk/disk.ts';
import { NodeDisk } from '../ingest/disk/node-disk.ts';
import {
  MalformedBodyError,
  OverloadError,
  StorageError,
  TooManyEventsError,
} from '../ingest/ingest-error.ts';
import { LogStore } from '../ingest/log-store.ts';
import { PARTITION_US } from '../ingest/partition.ts';
import { decodeBody } from '../ingest/post-body.ts';
import { randomUuids } from '../ingest/random-id.ts';
import { RetentionClock } from '../ingest/retention-clock.ts';
import { isUuid, SourceDirectory } from '../ingest/source.ts';
import type { Backend } from './backend.ts';
import { DurableLog } from './durable-log.ts';
import { DurableSegments } from './durable-segments.ts';
import { ServiceError } from './errors.ts';
import { IngestCounts } from './ingest-counts.ts';
import { type Log, stackOf } from './log.ts';
import type { LogIntake } from './log-intake.ts';
import type { Settings } from './settings.ts';

const DAY_US = 86_400_000_000;

/** The engine and the store, each in the other's hands: one reads segments, the other seals them. */
export function openBackend(options: {
  readonly settings: Settings;
  readonly log: Log;
  /** The machine's own unless given. */
  readonly disk?: Disk | undefined;
}): Backend {
  const { settings, log, disk = new NodeDisk() } = options;
  const directory = new SourceDirectory(settings.sources);
  const retentionUs = settings.retentionDays * DAY_US;
  const store: LogStore = new LogStore({
    sources: directory.sources.map(({ name }) => name),
    retentionUs,
    summarize: sealedSummary,
    seal: async (handle) => {
      try {
        return await engine.seal(handle, PARTITION_US);
      } catch (error) {
        // The store keeps the rows and tries again; only here does anyone hear of it.
        log({ level: 'error', event: 'seal_failed', error: stackOf(error) });
        throw error;
      }
    },
  });
  const engine = new Engine({
    sources: directory.sources,
    catalog: store,
    workerCount: settings.workerCount,
  });
  const counts = new IngestCounts();
  const sources = new Set(directory.sources.map(({ name }) => name));
  // There from the recovery on: before it nothing may be deleted.
  let clock: RetentionClock | undefined;
  const stored = { disk, dataDir: settings.dataDir, store, sources, log };
  const durableLog = new DurableLog(stored);
  const durableSegments = new DurableSegments({
    ...stored,
    merge: (buffers) => engine.merge(buffers.map((buffer, id) => ({ kind: 'sealed', id, buffer }))),
    retentionUs,
  });
  return {
    engine,
    intake: createIntake({ directory, store, retentionUs, counts }),
    recover: async (nowUs, observer) => {
      const recovered = await durableSegments.recover(nowUs, observer);
      await durableLog.recover({ nowUs, ...recovered }, observer);
      const newest = [recovered.newestUs, durableLog.newestRecoveredUs];
      clock = new RetentionClock(newestOf(newest.filter((us) => us !== undefined)));
    },
    tick: (nowUs) => {
      if (clock === undefined) return;
      const wasHeldBack = clock.isHeldBack;
      const retentionNowUs = clock.tick(nowUs);
      if (clock.isHeldBack && !wasHeldBack) {
        log({ level: 'error', event: 'clock_ahead', by_s: (nowUs - retentionNowUs) / 1e6 });
      }
      store.tick(nowUs, retentionNowUs);
      durableLog.tick(retentionNowUs - retentionUs);
    },
    stats: () => ({
      engine: engine.stats(),
      sources: store.stats(),
      ingest: counts.bySource(),
      queuedBytes: store.queuedBytes,
      log: durableLog.stats(),
    }),
    close: async () => {
      await store.close();
      await durableLog.close();
      await engine.close();
    },
  };
}

function newestOf(timesUs: readonly number[]): number | undefined {
  return timesUs.length === 0 ? undefined : Math.max(...timesUs);
}

function createIntake(options: {
  readonly directory: SourceDirectory;
  readonly store: LogStore;
  readonly retentionUs: number;
  readonly counts: IngestCounts;
}): LogIntake {
  const { directory, store, retentionUs, counts } = options;
  const randomId = randomUuids();
  return {
    findSource: (text) => (isUuid(text) ? directory.findById(text) : directory.findByName(text)),
    listSources: () => directory.sources,
    sizes: () =>
      new Map(
        store
          .stats()
          .map((stats) => [stats.source, { events: stats.rowCount, bytes: stats.byteSize }]),
      ),
    decode: (body, form) =>
      asServiceErrors(async () => {
        const decoded = await decodeBody(body, form);
        return {
          address: decoded.address,
          store: (source, nowUs) =>
            asServiceErrors(async () => {
              const admitted = await admitEvents(decoded, { source, nowUs, retentionUs, randomId });
              const events = admitted.batch.rowCount;
              if (events > 0) await store.append(source.name, admitted.batch, nowUs);
              const refusals = decoded.eventCount - events;
              counts.add(source.name, { events, refusals, bytes: body.length });
              return admitted.refusals;
            }),
        };
      }),
  };
}

/** What a body or the store refuses, in the words of the service's callers. */
async function asServiceErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof MalformedBodyError) {
      throw new ServiceError('invalid_body', cause.message, { cause });
    }
    if (cause instanceof TooManyEventsError) {
      throw new ServiceError('body_too_large', cause.message, { cause });
    }
    if (cause instanceof OverloadError) {
      throw new ServiceError('ingest_overloaded', cause.message, { cause });
    }
    if (cause instanceof StorageError) {
      throw new ServiceError('storage_failed', cause.message, { cause });
    }
    throw cause;
  }
}
