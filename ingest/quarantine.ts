import { basename, dirname, join } from 'node:path';
import type { Disk } from './disk/disk.ts';

/**
 * Takes a damaged file out of the way without losing it. Its name there begins with its folder's,
 * so that files of different folders do not meet. Rejects with a `DiskError`.
 */
export async function moveToQuarantine(disk: Disk, path: string, folder: string): Promise<void> {
  const from = dirname(path);
  await disk.makeFolder(folder);
  await disk.rename(path, join(folder, `${basename(from)}.${basename(path)}`));
  await disk.syncFolder(folder);
  await disk.syncFolder(from);
}
