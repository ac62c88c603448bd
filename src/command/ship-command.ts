import { count } from '../../engine/index.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { connectionOf } from '../clickhouse/client.ts';
import { ClickHouseTable } from '../clickhouse/event-table.ts';
import { type Moved, MoveError } from '../clickhouse/folder-move.ts';
import { type ShippedFolder, shipFolder } from '../clickhouse/folder-shipping.ts';
import { EVENTS_TABLE } from '../clickhouse/schema.ts';
import { ShipCheckpointError } from '../clickhouse/ship-checkpoint.ts';
import { parseSettings } from '../settings.ts';
import { CommandFailure, type CommandWorld, UsageError } from './command.ts';
import { damageText, events } from './damage-text.ts';
import { folderCommand } from './folder-command.ts';
import { withFolderLock } from './folder-lock.ts';
import { showShare } from './progress.ts';

/** `weir ship`. */
export const SHIP = folderCommand({
  name: 'ship',
  usage: '',
  about: `
It sends all events of the folder, those in segment files and those in the log, to the ClickHouse
that CLICKHOUSE_URL, CLICKHOUSE_USER, CLICKHOUSE_PASSWORD, CLICKHOUSE_DATABASE and
CLICKHOUSE_CLUSTER name, and makes the table there if it is missing. The service must be stopped.

Each event is sent once. After an interruption of any kind, run the command again: it goes on where
it stopped. It changes nothing in the folder but the files shipped and shipped.copy, which say how
far it has come. Start the service with STORE=clickhouse on this folder only after the command has
ended with 0 or has reported what is lost. Damaged files are reported, and all else is sent.

Of a folder that a service has used with STORE=clickhouse, it sends the rest of the log.`,
  flags: {},
  run: async ({ dataDir }, _words, world) => {
    const table = openTable(world, { mayMake: true });
    const advice = 'Stop the service that runs there';
    try {
      return await withFolderLock({ dataDir, advice }, world, async (folder) => {
        const shipped = await ship(folder, table, world);
        world.out(shippedText(shipped));
        return isWhole(shipped) ? 0 : 1;
      });
    } finally {
      await table.close();
    }
  },
});

/**
 * The table that the settings name. `mayMake`: whether it is made where it is missing.
 *
 * @throws UsageError without CLICKHOUSE_URL, SettingsError.
 */
export function openTable(
  { environment }: Pick<CommandWorld, 'environment'>,
  { mayMake }: { readonly mayMake: boolean },
): ClickHouseTable {
  const settings = parseSettings(environment);
  if (settings.clickhouseUrl === undefined) {
    throw new UsageError(
      'CLICKHOUSE_URL must be set to the HTTP interface of ClickHouse; got none',
    );
  }
  const { clickhouseCluster: cluster, retentionDays } = settings;
  return new ClickHouseTable({
    ...connectionOf(settings),
    table: EVENTS_TABLE,
    made: mayMake ? { cluster, retentionDays } : undefined,
  });
}

async function ship(
  folder: string,
  table: ClickHouseTable,
  world: CommandWorld,
): Promise<ShippedFolder> {
  const onProgress = showShare('sending');
  try {
    return await shipFolder({
      ...{ disk: new NodeDisk(), folder, table, signal: world.ended(), onProgress },
      onDamage: (damage) => {
        onProgress.end();
        world.out(`damaged: ${damageText(damage)}\n`);
      },
    });
  } catch (error) {
    if (error instanceof MoveError) {
      throw new CommandFailure(
        `${error.message}. What was sent stays; run weir ship again to send the rest`,
        error,
      );
    }
    if (error instanceof ShipCheckpointError) throw new CommandFailure(error.message, error);
    throw error;
  } finally {
    onProgress.end();
  }
}

function isWhole(shipped: ShippedFolder): boolean {
  if (shipped.kind === 'log') return shipped.missingCount === 0;
  return shipped.damageCount + shipped.unchecked.length === 0;
}

function shippedText(shipped: ShippedFolder): string {
  if (shipped.kind === 'log') {
    const { sentCount, missingCount } = shipped;
    const missing =
      missingCount === 0 ? '' : `; ${count(missingCount)} records of it could not be read`;
    return `the service has sent this folder before; sent the rest of its log: ${events(sentCount)}${missing}\n`;
  }
  return `${movedLines(shipped).join('\n')}\n`;
}

function movedLines(moved: Moved): readonly string[] {
  const { sentCount, presentCount, earlierFileCount, damageCount, lostCount, unchecked } = moved;
  const lines = [
    ...unchecked.map(({ path, reason }) => `not read: ${path}: ${reason}`),
    `sent           ${events(sentCount)}`,
  ];
  if (presentCount + earlierFileCount > 0) {
    lines.push(
      `sent before    ${count(earlierFileCount)} segment files, and ${events(presentCount)} of others`,
    );
  }
  if (damageCount > 0) {
    lines.push(`damaged        ${count(damageCount)}; at least ${events(lostCount)} are lost`);
  }
  const verdict =
    unchecked.length === 0
      ? 'ClickHouse has all events of the folder that can be read'
      : `${count(unchecked.length)} files were not read: run weir ship again`;
  return [...lines, verdict];
}
