import { join } from 'node:path';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { inspectFolder } from '../../ingest/inspection.ts';
import { findLockHolder } from '../../ingest/lock-file.ts';
import { folderCommand, jsonText } from './folder-command.ts';
import { inspectionText } from './inspection-text.ts';
import { showShare } from './progress.ts';

/** `weir inspect`. */
export const INSPECT = folderCommand({
  name: 'inspect',
  usage: '[--segments] [--json]',
  about: `
For each source and in total it shows events, days, the first and the last time, and bytes in memory
and on disk; the segment files, the log, and which of its records are in no segment file yet; what
is damaged, left over or in quarantine; and which process uses the folder.

It only reads files, so a running service may use the folder, and it may be a copy. It reads the
envelopes of segment files and every record of the log; weir verify reads every byte. Damage does
not change the exit status.`,
  flags: {
    segments: { text: 'show each segment file, too' },
    json: { text: 'write everything as JSON; times are microseconds since the epoch, sizes bytes' },
  },
  run: async ({ dataDir, storePath }, words, world) => {
    const lock = await findLockHolder(join(dataDir, 'lock'));
    const onProgress = showShare('reading the log');
    const inspection = await inspectFolder({
      ...{ disk: new NodeDisk(), dataDir: storePath, onProgress },
    }).finally(onProgress.end);
    const withFiles = words.has('segments');
    if (!words.has('json')) {
      world.out(inspectionText({ dataDir: storePath, lock, inspection, withFiles }));
      return 0;
    }
    const { files, ...rest } = inspection;
    const found = { folder: storePath, lock, ...rest, ...(withFiles ? { files } : {}) };
    world.out(`${jsonText(found)}\n`);
    return 0;
  },
});
