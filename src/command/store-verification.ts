import { count } from '../../engine/index.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import type { FolderDamage } from '../../ingest/folder-damage.ts';
import { FOLDER_DAMAGES_LISTED_MAX } from '../../ingest/limits.ts';
import { MoveError } from '../clickhouse/folder-move.ts';
import { ShipCheckpointError } from '../clickhouse/ship-checkpoint.ts';
import { compareStore, type StoreComparison } from '../clickhouse/store-comparison.ts';
import { CommandFailure, type CommandWorld, type ExitStatus } from './command.ts';
import { damageText, events } from './damage-text.ts';
import { type FoundFolder, jsonText } from './folder-command.ts';
import { showShare } from './progress.ts';
import { openTable } from './ship-command.ts';

/** `weir verify --store`: compares the counts of a folder with those of ClickHouse. */
export async function verifyStore(
  { storePath }: FoundFolder,
  isJson: boolean,
  world: CommandWorld,
): Promise<ExitStatus> {
  const table = openTable(world, { mayMake: false });
  const onProgress = showShare('reading the log');
  const damages: FolderDamage[] = [];
  const onDamage = (damage: FolderDamage): void => {
    if (!isJson) {
      onProgress.end();
      world.out(`damaged: ${damageText(damage)}\n`);
    } else if (damages.length < FOLDER_DAMAGES_LISTED_MAX) damages.push(damage);
  };
  try {
    const found = await compareStore({
      ...{ disk: new NodeDisk(), folder: storePath, table, signal: world.ended() },
      ...{ onDamage, onProgress },
    });
    onProgress.end();
    world.out(isJson ? `${jsonText({ folder: storePath, ...found, damages })}\n` : text(found));
    return found.differences.length + found.damageCount + found.unchecked.length === 0 ? 0 : 1;
  } catch (error) {
    if (error instanceof ShipCheckpointError || error instanceof MoveError) {
      throw new CommandFailure(error.message, error);
    }
    throw error;
  } finally {
    onProgress.end();
    await table.close();
  }
}

function text(found: StoreComparison): string {
  const { differences, dayCount, folderCount, storeCount, waitingCount, deletedCount } = found;
  const lines = [
    ...found.unchecked.map(({ path, reason }) => `not checked: ${path}: ${reason}`),
    ...differences.map(
      (each) =>
        `differs: ${each.source} ${each.day}: ${events(each.folderCount)} in the folder, ${events(each.storeCount)} in ClickHouse`,
    ),
    `folder         ${events(folderCount)}, in ${count(dayCount)} days of sources`,
    `ClickHouse     ${events(storeCount)} of them`,
  ];
  if (waitingCount > 0) {
    lines.push(`               ${events(waitingCount)} of the log are not sent yet`);
  }
  if (deletedCount > 0) {
    lines.push(
      `               ${events(deletedCount)} more, which the service has sent and deleted from its log`,
    );
  }
  const isWhole = found.damageCount + found.unchecked.length === 0;
  const verdict =
    differences.length > 0
      ? `${count(differences.length)} of ${count(dayCount)} days differ`
      : isWhole
        ? 'all days agree'
        : `all days agree; ${count(found.damageCount)} damaged, ${count(found.unchecked.length)} not checked`;
  return `${[...lines, verdict].join('\n')}\n`;
}
