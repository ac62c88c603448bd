import { join } from 'node:path';
import type { Disk } from '../../ingest/disk/disk.ts';
import { LogEndFile } from '../../ingest/log/log-end.ts';
import { type LogVisitor, listLogNumbers, walkLog } from '../../ingest/log/log-walk.ts';
import type { EventTable } from './event-table.ts';
import {
  ATTEMPTS_MAX,
  FolderMove,
  type FolderMoveOptions,
  type Moved,
  MoveError,
} from './folder-move.ts';
import { ShipCheckpoint } from './ship-checkpoint.ts';
import { Shipper } from './shipper.ts';

export type FolderShippingOptions = Omit<FolderMoveOptions, 'checkpoint'>;

/** What was sent: all that the folder holds, or what its log holds that the service has not sent yet. */
export type ShippedFolder =
  | ({ readonly kind: 'moved' } & Moved)
  | { readonly kind: 'log'; readonly sentCount: number; readonly missingCount: number };

/**
 * Sends what a folder holds and ClickHouse does not have. A folder of the embedded store is moved as a whole
 * (`FolderMove`). A folder of a service with STORE=clickhouse holds only a log, whose rest is sent as the service would.
 *
 * Rejects with a MoveError, a ShipCheckpointError or a DiskError.
 */
export async function shipFolder(options: FolderShippingOptions): Promise<ShippedFolder> {
  const { disk, folder } = options;
  const nextSequence = await readNextSequence(disk, folder);
  const checkpoint = await ShipCheckpoint.open({
    ...{ disk, folder, firstSequence: 1, nextSequence, forMove: true },
  });
  if (!checkpoint.isMoving) return sendLog(options, checkpoint, nextSequence);
  const moved = await new FolderMove({ ...options, checkpoint }).run();
  return { kind: 'moved', ...moved };
}

/** Sends the records of the log that were not sent, as the service does. */
async function sendLog(
  { disk, folder, table, signal, limits }: FolderShippingOptions,
  checkpoint: ShipCheckpoint,
  nextSequence: number,
): Promise<ShippedFolder> {
  let failure: unknown;
  let failureCount = 0;
  const counting =
    <Arguments extends unknown[]>(step: (...given: Arguments) => Promise<void>) =>
    async (...given: Arguments): Promise<void> => {
      try {
        await step(...given);
        failureCount = 0;
      } catch (error) {
        failure = error;
        if (++failureCount === ATTEMPTS_MAX) void shipper.close();
        throw error;
      }
    };
  const counted: EventTable = {
    insert: counting((...insert: Parameters<EventTable['insert']>) => table.insert(...insert)),
    count: (rows, stopped) => table.count(rows, stopped),
    appendArrivals: counting((...append: Parameters<EventTable['appendArrivals']>) =>
      table.appendArrivals(...append),
    ),
    close: () => table.close(),
  };
  const shipper = new Shipper({
    ...{ disk, folder: join(folder, 'log'), log: { nextSequence }, checkpoint, table: counted },
    onFailure: (error) => {
      failure = error;
    },
    limits: { batchWaitMs: 0, ...limits },
  });
  const stop = (): void => void shipper.close();
  signal.addEventListener('abort', stop);
  shipper.notify();
  await shipper.settled();
  signal.removeEventListener('abort', stop);
  if (shipper.shippedBefore < nextSequence) throw MoveError.of(signal, failure);
  const { rowCount: sentCount, missingCount } = shipper.stats(0);
  return { kind: 'log', sentCount, missingCount };
}

/** The sequence after the last record of the log. */
async function readNextSequence(disk: Disk, storePath: string): Promise<number> {
  const folder = join(storePath, 'log');
  const end = await new LogEndFile(disk, folder).read();
  const numbers = listLogNumbers(await disk.list(folder));
  return (await walkLog({ disk, folder, numbers, end, visitor: IGNORE })).nextSequence;
}

/** Damage is reported when records are sent. */
const IGNORE: LogVisitor = {
  record: async () => {},
  damage: async () => {},
  fileEnd: async () => {},
  unread: (_path, error) => {
    throw error;
  },
  progress: () => {},
};
