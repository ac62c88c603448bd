import type { Disk } from '../../ingest/disk/disk.ts';
import type { FolderDamage, UncheckedFile } from '../../ingest/folder-damage.ts';
import type { ReplayedRecord } from '../../ingest/log/log-walk.ts';
import { surveyLog } from '../../ingest/log-survey.ts';
import { toPartition } from '../../ingest/partition.ts';
import { SegmentCoverage } from '../../ingest/segment-coverage.ts';
import { SegmentListing } from '../../ingest/segment-listing.ts';
import { MoveError } from './folder-move.ts';
import type { MovedTable } from './moved-table.ts';
import { readShipped, type ShipCheckpoint } from './ship-checkpoint.ts';
import { dayText } from './shipped-row.ts';

/** Number of events of a source and a UTC day, in the folder and in ClickHouse. */
type DayDifference = {
  readonly source: string;
  readonly day: string;
  readonly folderCount: number;
  readonly storeCount: number;
};

export type StoreComparison = {
  /** Days whose counts differ and must not. */
  readonly differences: readonly DayDifference[];
  readonly dayCount: number;
  /** Events of the folder that ClickHouse must have, and those that it has of them. */
  readonly folderCount: number;
  readonly storeCount: number;
  /** Events of the log that the service has not sent yet. */
  readonly waitingCount: number;
  /** Events that only ClickHouse has, because the service has sent them and deleted them from its log. */
  readonly deletedCount: number;
  readonly damageCount: number;
  readonly unchecked: readonly UncheckedFile[];
};

export type StoreComparisonOptions = {
  readonly disk: Disk;
  /** The store folder. */
  readonly folder: string;
  readonly table: MovedTable;
  readonly signal: AbortSignal;
  readonly onDamage: (damage: FolderDamage) => void;
  readonly onProgress: (bytesDone: number, bytesTotal: number) => void;
};

/**
 * Compares the number of events of a folder and of ClickHouse, by source and UTC day. Changes nothing; a service may use
 * the folder. Rejects with a DiskError, a ShipCheckpointError, or a MoveError if ClickHouse fails.
 */
export async function compareStore(options: StoreComparisonOptions): Promise<StoreComparison> {
  const { disk, folder } = options;
  const shipped = await readShipped(disk, folder);
  const listed = await new SegmentListing(disk, folder).read();
  const counts = new DayCounts();
  for (const { envelope } of listed.segments) {
    counts.add(envelope.source, dayText(envelope.partition), { folder: envelope.rowCount });
  }
  for (const damage of listed.damages) options.onDamage(damage);
  const coverage = new SegmentCoverage(listed.segments);
  let waitingCount = 0;
  const log = await surveyLog({
    ...{ disk, dataDir: folder, onDamage: options.onDamage, onProgress: options.onProgress },
    onRecord: (record) => {
      // What is not there was never sent, or is still to be moved.
      const isWaiting = shipped?.move === undefined || shipped.move.before !== undefined;
      if (shipped !== undefined && isWaiting && record.sequence >= shipped.shippedBefore) {
        waitingCount += record.rowCount;
      } else countRecord(record, coverage, counts);
    },
  });
  if (shipped !== undefined) await countStored(options, shipped, log.firstSequence, counts);
  const mayLackDeleted =
    shipped !== undefined && shipped.shippedBefore > (shipped.move?.before ?? 1);
  return {
    ...counts.compare(mayLackDeleted),
    ...{ waitingCount, damageCount: listed.damages.length + log.damageCount },
    unchecked: [...listed.unchecked, ...log.unchecked],
  };
}

/** Counts the rows of a record that are in no segment file. */
function countRecord(record: ReplayedRecord, coverage: SegmentCoverage, counts: DayCounts): void {
  const { source, sequence } = record;
  for (const timestampUs of record.batch().timestampsUs) {
    const partition = toPartition(timestampUs);
    if (coverage.covers({ source, partition, sequence })) continue;
    counts.add(source, dayText(partition), { folder: 1 });
  }
}

/** Counts the rows of the folder in ClickHouse: those of its move, and those of records that the log still has. */
async function countStored(
  { table, signal }: StoreComparisonOptions,
  { gateway, shippedBefore, move }: Pick<ShipCheckpoint, 'gateway' | 'shippedBefore' | 'move'>,
  firstSequence: number | undefined,
  counts: DayCounts,
): Promise<void> {
  const end = move === undefined ? 1 : (move.before ?? Number.MAX_SAFE_INTEGER);
  const parts = [
    { gateway: move?.gateway ?? gateway, first: 0, end },
    { gateway, first: Math.max(end, firstSequence ?? shippedBefore), end: shippedBefore },
  ];
  for (const { gateway: its, ...part } of parts) {
    if (part.first >= part.end) continue;
    const days = await table.countDays(its, part, signal).catch((error: unknown): never => {
      const { message } = error instanceof Error ? error : { message: String(error) };
      throw new MoveError(`ClickHouse cannot be asked: ${message}`, error);
    });
    for (const { source, day, count } of days) counts.add(source, day, { store: count });
  }
}

class DayCounts {
  readonly #days = new Map<
    string,
    { source: string; day: string; folder: number; store: number }
  >();

  add(
    source: string,
    day: string,
    { folder = 0, store = 0 }: { readonly folder?: number; readonly store?: number },
  ): void {
    const key = `${source} ${day}`;
    const known = this.#days.get(key);
    if (known === undefined) this.#days.set(key, { source, day, folder, store });
    else {
      known.folder += folder;
      known.store += store;
    }
  }

  compare(
    mayLackDeleted: boolean,
  ): Pick<
    StoreComparison,
    'differences' | 'dayCount' | 'folderCount' | 'storeCount' | 'deletedCount'
  > {
    const differences: DayDifference[] = [];
    let [folderCount, storeCount, deletedCount] = [0, 0, 0];
    for (const key of [...this.#days.keys()].sort()) {
      const { source, day, folder, store } = this.#days.get(key)!;
      folderCount += folder;
      const isDeleted = mayLackDeleted && store > folder;
      storeCount += isDeleted ? folder : store;
      if (isDeleted) deletedCount += store - folder;
      else if (folder !== store) {
        differences.push({ source, day, folderCount: folder, storeCount: store });
      }
    }
    return { differences, dayCount: this.#days.size, folderCount, storeCount, deletedCount };
  }
}
