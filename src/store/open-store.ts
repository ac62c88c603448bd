import { join } from 'node:path';
import { namesIn } from '../../ingest/disk/disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { SHIPPED_FILE } from '../clickhouse/ship-checkpoint.ts';
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

/** Either store would hide events of the other one, and the embedded store would take what was not sent from the log. */
async function checkFolder({ dataDir, store }: Settings): Promise<void> {
  const disk = new NodeDisk();
  const isShipped = (await namesIn(disk, dataDir))?.includes(SHIPPED_FILE) === true;
  if (store === 'embedded' && isShipped) {
    throw new StartError(
      'DATA_DIR belongs to a service with STORE=clickhouse: it may hold events that ClickHouse does not have. Start with STORE=clickhouse, or with another DATA_DIR',
    );
  }
  if (store === 'embedded' || isShipped) return;
  const segments = (await namesIn(disk, join(dataDir, 'segments'))) ?? [];
  if (segments.length > 0) {
    throw new StartError(
      'DATA_DIR holds events of the embedded store, which STORE=clickhouse would not show. Start with STORE=embedded, or with another DATA_DIR',
    );
  }
}
