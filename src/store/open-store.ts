import { join } from 'node:path';
import { namesIn } from '../../ingest/disk/disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { readShipped, ShipCheckpointError } from '../clickhouse/ship-checkpoint.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Settings } from '../settings.ts';
import { StartError } from '../start-error.ts';
import type { Backend } from './backend.ts';
import { openBackend } from './log-backend.ts';

/**
 * Opens the store that the settings name.
 *
 * @throws StartError if the folder has events of the other one.
 */
export async function openStore(options: {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
}): Promise<Backend> {
  const { settings, log, clock } = options;
  await checkFolder(settings);
  if (settings.store === 'embedded') {
    return openBackend({ settings, log, nowMs: clock.monotonicMs });
  }
  // Loaded only here: the embedded store starts without the client of ClickHouse.
  const { openClickHouseBackend } = await import('../clickhouse/clickhouse-backend.ts');
  return openClickHouseBackend(options);
}

/**
 * Either store would hide events of the other one, and the embedded store would take what was not sent from the log. While
 * a folder is being moved, the embedded store may go on with it: the move finds what it has sent.
 */
async function checkFolder({ dataDir, store }: Settings): Promise<void> {
  const disk = new NodeDisk();
  const move = await findMove(disk, dataDir);
  if (store === 'embedded') {
    if (move !== 'ended') return;
    throw new StartError(
      'DATA_DIR belongs to a service with STORE=clickhouse: it may hold events that ClickHouse does not have. Start with STORE=clickhouse, or with another DATA_DIR',
    );
  }
  if (move === 'ended') return;
  if (move === 'begun') {
    throw new StartError(
      'weir ship has begun to send the events of DATA_DIR to ClickHouse and has not ended: run it again until it ends, or start with STORE=embedded',
    );
  }
  const segments = (await namesIn(disk, join(dataDir, 'segments'))) ?? [];
  if (segments.length > 0) {
    throw new StartError(
      'DATA_DIR holds events of the embedded store, which STORE=clickhouse would not show. Send them with weir ship, or start with STORE=embedded, or with another DATA_DIR',
    );
  }
}

/** Whether the events of a folder were sent to ClickHouse; `undefined` if none ever was. */
async function findMove(disk: NodeDisk, dataDir: string): Promise<'begun' | 'ended' | undefined> {
  try {
    const shipped = await readShipped(disk, dataDir);
    if (shipped === undefined) return undefined;
    return shipped.move !== undefined && shipped.move.before === undefined ? 'begun' : 'ended';
  } catch (error) {
    if (error instanceof ShipCheckpointError) throw new StartError(error.message, error);
    throw error;
  }
}
