import { relative } from 'node:path';
import { unreachable } from '../../engine/columns.ts';
import { count } from '../../engine/index.ts';
import { CLOCK_FILE } from '../../ingest/clock-file.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import type { FolderDamage } from '../../ingest/folder-damage.ts';
import { FOLDER_DAMAGES_LISTED_MAX } from '../../ingest/limits.ts';
import { restoreFolder } from '../../ingest/segment-restoring.ts';
import type { SmallFileNames } from '../../ingest/small-files.ts';
import { type Verification, verifyFolder } from '../../ingest/verification.ts';
import { QUOTA_FILE } from '../access/quota-file.ts';
import { TOKEN_FILE_NAME } from '../access/token-file.ts';
import { byteText } from '../byte-text.ts';
import { SHIPPED_FILE } from '../clickhouse/ship-checkpoint.ts';
import { DEFINITION_ENDING } from '../definition/definition-reading.ts';
import { KEPT_ENDING } from '../definition/kept-files.ts';
import { echo } from '../echo.ts';
import { INSTANCE_KEY_FILE } from '../instance-key.ts';
import { SOURCE_FILE_NAME } from '../store/source-file.ts';
import { type CommandWorld, UsageError } from './command.ts';
import { damageText, events, tailText } from './damage-text.ts';
import { type FoundFolder, folderCommand, jsonText } from './folder-command.ts';
import { withFolderLock } from './folder-lock.ts';
import { showShare } from './progress.ts';
import { verifyStore } from './store-verification.ts';

/** Checksummed files besides the log and the segments. */
export const SMALL_FILES: SmallFileNames = {
  pairs: [TOKEN_FILE_NAME, SOURCE_FILE_NAME, SHIPPED_FILE],
  singles: [CLOCK_FILE, INSTANCE_KEY_FILE, QUOTA_FILE],
  folders: [
    { name: 'endpoints', ending: DEFINITION_ENDING, hasCopies: true },
    { name: 'endpoints-kept', ending: KEPT_ENDING, hasCopies: false },
  ],
};

/** `weir verify`. */
export const VERIFY = folderCommand({
  name: 'verify',
  usage: '[--restore | --store] [--json]',
  about: `
It reads each segment file (both of its envelopes and every block), each record of the log and where
the log ended, tokens and definitions with their copies. It reports what is damaged, which segment
files are missing, and what is lost. It repairs nothing: the next start repairs what it can. Without
--restore it changes nothing, a running service may use the folder, and the folder may be a copy.

Not damage: an incomplete record at the end of the log that was never acknowledged; left-over files,
which a start removes; files that a running service merges or removes in the meantime. It lists
files that do not belong to weir. It reports which segment files in the folder quarantine are
intact: the next start restores them.

With --store it compares the number of events of each source and day with that in ClickHouse, which
the settings CLICKHOUSE_… name, and reads only the log and the envelopes of segment files.`,
  flags: {
    restore: { text: 'restore intact segment files now, then verify; the service must be stopped' },
    store: { text: 'compare the number of events with that in ClickHouse, after weir ship' },
    json: { text: 'write everything as JSON when all has been read' },
  },
  run: async (folder, words, world) => {
    const isJson = words.has('json');
    if (words.has('store')) {
      if (words.has('restore')) throw new UsageError('--restore cannot be used with --store');
      return verifyStore(folder, isJson, world);
    }
    const { storePath, quarantine } = await lookIntoQuarantine(folder, words.has('restore'), world);
    if (!isJson) for (const file of quarantine) world.out(`in quarantine: ${fateText(file)}\n`);
    const damages: FolderDamage[] = [];
    const onProgress = showShare('verifying');
    const onDamage = (damage: FolderDamage): void => {
      if (!isJson) {
        onProgress.end();
        world.out(`damaged: ${damageText(damage)}\n`);
      } else if (damages.length < FOLDER_DAMAGES_LISTED_MAX) damages.push(damage);
    };
    const found = await verifyFolder({
      ...{ disk: new NodeDisk(), dataDir: storePath, onDamage, onProgress },
      smallFiles: SMALL_FILES,
    }).finally(onProgress.end);
    if (isJson) world.out(`${jsonText({ folder: storePath, ...found, damages, quarantine })}\n`);
    else world.out(summaryText(found));
    return found.damageCount + found.unchecked.length === 0 ? 0 : 1;
  },
});

/** A quarantined segment file, by its path in the data folder. */
type QuarantinedFile = {
  readonly path: string;
  readonly fate: 'restored' | 'whole' | 'stays';
  /** Why it stays in quarantine. */
  readonly reason?: string;
};

/**
 * Reports which quarantined segment files could be restored; with `isRestoring`, restores them. The
 * store folder then has another path.
 */
async function lookIntoQuarantine(
  folder: FoundFolder,
  isRestoring: boolean,
  world: CommandWorld,
): Promise<{ readonly storePath: string; readonly quarantine: readonly QuarantinedFile[] }> {
  const look = async (storePath: string) => {
    const isTrial = !isRestoring;
    const found = await restoreFolder({ disk: new NodeDisk(), dataDir: storePath, isTrial });
    const fate = isRestoring ? 'restored' : 'whole';
    const restored = found.restored.map(
      ({ path }) => ({ path: relative(storePath, path), fate }) as const,
    );
    const left = found.left.map(
      ({ path, reason }) => ({ path: relative(storePath, path), fate: 'stays', reason }) as const,
    );
    return { storePath, quarantine: [...restored, ...left] };
  };
  if (!isRestoring) return look(folder.storePath);
  const advice = 'Stop the service that runs there; its next start restores the files, too';
  return withFolderLock({ dataDir: folder.dataDir, advice }, world, look);
}

function fateText({ path, fate, reason = '' }: QuarantinedFile): string {
  switch (fate) {
    case 'restored':
      return `${echo(path)} is intact, and was restored`;
    case 'whole':
      return `${echo(path)} is intact: the next start, or --restore, restores it`;
    case 'stays':
      return `${echo(path)} stays: ${reason}`;
    default:
      return unreachable(fate);
  }
}

function summaryText(found: Verification): string {
  const { segments, log, smallFiles, damageCount, unchecked, unknown } = found;
  const lines = [
    ...unchecked.map(({ path, reason }) => `not checked: ${path}: ${reason}`),
    ...unknown.map((path) => `not ours: ${echo(path)}`),
    `segment files  ${count(segments.fileCount)} of ${byteText(segments.byteSize)} with ${events(segments.eventCount)}, ${count(segments.damagedCount)} damaged`,
    `log files      ${count(log.fileCount)} of ${byteText(log.byteSize)} with ${events(log.eventCount)} in ${count(log.recordCount)} whole records, ${damagedPlaces(log.damageCount)}`,
  ];
  const { goneCount, leftoverCount } = segments;
  if (goneCount > 0) {
    lines.push(`               ${count(goneCount)} segment files were merged or removed meanwhile`);
  }
  if (leftoverCount > 0) {
    lines.push(`               ${count(leftoverCount)} left-over files were not read`);
  }
  if (log.tailSize > 0) lines.push(`               ${tailText(log.tailSize)}`);
  lines.push(...smallFileLines(smallFiles));
  const isWhole = damageCount + unchecked.length === 0;
  const verdict = isWhole
    ? 'all is whole'
    : `${count(damageCount)} damaged, ${count(unchecked.length)} not checked`;
  return `${[...lines, verdict].join('\n')}\n`;
}

function smallFileLines(found: Verification['smallFiles']): readonly string[] {
  const { fileCount, damagedCount, leftoverCount, withoutChecksum, leftOut } = found;
  const lines = [`other files    ${count(fileCount)}, ${count(damagedCount)} damaged`];
  if (leftoverCount > 0) {
    lines.push(`               ${count(leftoverCount)} left-over files were not read`);
  }
  if (withoutChecksum.length > 0) {
    lines.push(`               without a checksum yet: ${withoutChecksum.map(echo).join(', ')}`);
  }
  if (leftOut.length > 0) lines.push(`               left out: ${leftOut.map(echo).join(', ')}`);
  return lines;
}

function damagedPlaces(damageCount: number): string {
  return `${count(damageCount)} ${damageCount === 1 ? 'place' : 'places'} damaged`;
}
