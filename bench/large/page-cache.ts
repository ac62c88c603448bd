import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Asks the system to forget what it has of the files below a folder, so that they are read from the disk again:
 * `dd` calls posix_fadvise for a whole file where it copies nothing of it. Whether it worked.
 */
export function dropPageCache(folder: string): boolean {
  const files = filesOf(folder);
  if (files.length === 0) return true;
  // The system cannot forget what is not on the disk yet. An engine may remove a file meanwhile.
  spawnSync('sync', files, { stdio: 'ignore' });
  return files.every((path) => {
    const { status } = spawnSync('dd', [`if=${path}`, 'iflag=nocache', 'count=0', 'status=none']);
    return status === 0 || !existsSync(path);
  });
}

/** Bytes of the files below a folder that the system has in memory; `undefined` where `fincore` is not installed. */
export function cachedBytes(folder: string): number | undefined {
  const files = filesOf(folder);
  if (files.length === 0) return 0;
  const { status, stdout } = spawnSync(
    'fincore',
    ['--bytes', '--noheadings', '--output', 'RES', ...files],
    { encoding: 'utf8' },
  );
  if (status !== 0) return undefined;
  return stdout.split('\n').reduce((sum, line) => sum + Number(line), 0);
}

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
