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
  help: `weir inspect tells what a data folder holds.

  weir inspect DATA_DIR [--segments] [--json]

For each source and in all: events, days, the first and the last time, bytes in memory and on disk;
the segment files, the log and which of its records no segment file has yet; what is damaged, left
over or in quarantine; and which process has the folder.

Only the files are read, and nothing is changed: the folder may be that of a running weir, of a
stopped one, or a copy. Of segment files only the envelopes are read, of the log every record;
weir verify reads every byte.

  --segments   each segment file, too
  --json       everything as JSON; times are microseconds since the epoch, sizes bytes
  --help       this text

Exit status: 0 when the folder was read, damaged or not; 1 when it cannot be read, does not exist or
is not one of weir; 2 when the command was not understood.
`,
  flags: ['segments', 'json'],
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
