import { GAUGE_CLOCK } from '../../engine/column/segment-backing.ts';
import type { Disk } from '../../ingest/disk/disk.ts';
import { BLOCKS_SHARE_MIN, SEAL_AGE_US } from '../../ingest/limits.ts';
import { MemoryBudget } from '../../ingest/memory-budget.ts';
import type { MergeBounds } from '../../ingest/merge-choice.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import type { LogEntry } from '../../src/log.ts';
import { StackThrottle } from '../../src/log-throttle.ts';
import type { Damage } from '../../src/store/backend.ts';
import { DurableStore } from '../../src/store/durable-store.ts';
import { segmentEngineOn } from '../support/merging.ts';
import { smallBatch } from '../support/small-batch.ts';
import { RETENTION_US, SOURCES } from './store-ledger.ts';
import { type ColumnsRead, rowsOf, type StoredRow } from './stored-rows.ts';

export const DATA = '/data';

/** A few records to a file, so that files come and go. */
const FILE_BYTES_MAX = 3_000;

export type OpenedStore = {
  readonly disk: Disk;
  readonly durable: DurableStore;
  readonly entries: readonly LogEntry[];
  /** Places that were told to whoever asks for the state of the service. */
  readonly damages: readonly Damage[];
};

export type StoreOptions = {
  readonly disk: Disk;
  readonly nowUs: number;
  /** DATA unless given. */
  readonly dataDir?: string;
  readonly sources?: readonly string[];
  /** Bytes of sealed segments that may be in memory; no limit unless given. */
  readonly segmentBytesMax?: number | undefined;
  /** Called for each entry of the log of the service. */
  readonly onEntry?: (entry: LogEntry) => void;
  /** Called before something is sealed, merged or packed; may take a while, or reject. */
  readonly beforeWork?: () => Promise<void>;
};

/** A store as the service has it, on one thread, recovered. */
export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  const { disk, nowUs, dataDir = DATA, segmentBytesMax, beforeWork = async () => {} } = options;
  const entries: LogEntry[] = [];
  const damages: Damage[] = [];
  const engine = segmentEngineOn(disk, { before: beforeWork });
  const durable = new DurableStore({
    ...{ disk, dataDir, sources: options.sources ?? SOURCES, retentionUs: RETENTION_US },
    summarize: summarizeSegment,
    engine: () => engine,
    budget: segmentBytesMax === undefined ? undefined : new TightBudget(segmentBytesMax),
    log: (entry) => {
      entries.push(entry);
      options.onEntry?.(entry);
    },
    stacks: new StackThrottle(() => 0),
    logFileBytesMax: FILE_BYTES_MAX,
  });
  const observer = { progress: () => {}, damage: (damage: Damage) => void damages.push(damage) };
  await durable.recover(nowUs, observer);
  return { disk, durable, entries, damages };
}

/**
 * A limit on what can leave memory, and none on what cannot: rows come and are sealed as without one.
 * Between two ticks is a minute, so that some blocks of a segment were needed later than others.
 */
class TightBudget extends MemoryBudget {
  constructor(segmentBytesMax: number) {
    // Where all else takes the whole limit, segments have the part that is theirs in any case.
    const memoryBytesMax = segmentBytesMax / BLOCKS_SHARE_MIN;
    super({ memoryBytesMax, othersBytesMax: memoryBytesMax });
  }

  override tick(): boolean {
    super.tick();
    Atomics.add(this.gauge, GAUGE_CLOCK, 1);
    return true;
  }

  /** Few segments are merged, and are more than one segment can hold. */
  override get mergeBounds(): MergeBounds {
    return { rowCount: 100, byteSize: 4_000, stepSize: 4_000, runsMin: 2 };
  }

  override get backlogBytesMax(): number {
    return Number.POSITIVE_INFINITY;
  }

  override get openBytesMax(): number {
    return Number.POSITIVE_INFINITY;
  }
}

/** What a query of all rows would read now. Rejects as `rowsOf` does. */
export async function allRows(
  { durable, disk }: OpenedStore,
  columns: ColumnsRead = 'all',
): Promise<Map<string, StoredRow[]>> {
  const rows = new Map<string, StoredRow[]>();
  for (const source of SOURCES)
    rows.set(source, await rowsOf(durable.store, source, disk, columns));
  return rows;
}

/** Has one post of one event sealed and stored, by a store that is opened for it and closed. */
export async function storePost(disk: Disk, nowUs: number, id: string): Promise<void> {
  const { durable } = await openStore({ disk, nowUs });
  await durable.store.append('a', smallBatch([id], nowUs), nowUs);
  durable.tick(nowUs);
  durable.tick(nowUs + SEAL_AGE_US);
  await durable.store.flush();
  await durable.store.settled();
  await durable.close();
}
