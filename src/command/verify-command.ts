import { count } from '../../engine/plan/explanation.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import type { FolderDamage } from '../../ingest/folder-damage.ts';
import { FOLDER_DAMAGES_LISTED_MAX } from '../../ingest/limits.ts';
import { type Verification, verifyFolder } from '../../ingest/verification.ts';
import { byteText } from '../byte-text.ts';
import { echo } from '../echo.ts';
import { damageText, events, tailText } from './damage-text.ts';
import { folderCommand, jsonText } from './folder-command.ts';
import { showShare } from './progress.ts';

/** `weir verify`. */
export const VERIFY = folderCommand({
  name: 'verify',
  help: `weir verify holds every byte of a data folder against its checksum.

  weir verify DATA_DIR [--json]

It reads each segment file (both of its envelopes and every block) and each record of the log, and
tells what is damaged and what that costs. Nothing is changed, and nothing is mended: the next start
does that, as far as it can be. The folder may be that of a running weir, of a stopped one, or a
copy.

Not damage: what is being written, or was cut off by a crash, at the end of the log, as it was never
acknowledged; files left over, which a start removes; files that a running weir merges or removes
meanwhile. What is in the folder quarantine is not looked at.

  --json   everything as JSON, when all has been read
  --help   this text

Exit status: 0 when all is whole; 1 when something is damaged or cannot be read, or there is no such
folder, or not one of weir; 2 when the command was not understood.
`,
  flags: ['json'],
  run: async (dataDir, words, world) => {
    const isJson = words.has('json');
    const damages: FolderDamage[] = [];
    const onProgress = showShare('verifying');
    const onDamage = (damage: FolderDamage): void => {
      if (!isJson) {
        onProgress.end();
        world.out(`damaged: ${damageText(damage)}\n`);
      } else if (damages.length < FOLDER_DAMAGES_LISTED_MAX) damages.push(damage);
    };
    const found = await verifyFolder({
      ...{ disk: new NodeDisk(), dataDir, onDamage, onProgress },
    }).finally(onProgress.end);
    if (isJson) world.out(`${jsonText({ folder: dataDir, ...found, damages })}\n`);
    else world.out(summaryText(found));
    return found.damageCount + found.unchecked.length === 0 ? 0 : 1;
  },
});

function summaryText({ segments, log, damageCount, unchecked, unknown }: Verification): string {
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
    lines.push(`               ${count(leftoverCount)} files that are left over were not read`);
  }
  if (log.tailSize > 0) lines.push(`               ${tailText(log.tailSize)}`);
  const isWhole = damageCount + unchecked.length === 0;
  const verdict = isWhole
    ? 'all is whole'
    : `${count(damageCount)} damaged, ${count(unchecked.length)} not checked`;
  return `${[...lines, verdict].join('\n')}\n`;
}

function damagedPlaces(damageCount: number): string {
  return `${count(damageCount)} ${damageCount === 1 ? 'place' : 'places'} damaged`;
}
