import { dirname } from 'node:path';
import type { Disk } from './disk/disk.ts';
import { SYNC_BYTES_MAX } from './limits.ts';
import { TEMPORARY_ENDING } from './segment-name.ts';

/**
 * Writes a file under a temporary name, syncs it and renames it. Rejects with a `DiskError`; the file may exist
 * nevertheless.
 */
export async function writeDurably(
  disk: Disk,
  path: string,
  parts: readonly Uint8Array[],
): Promise<void> {
  await writeAside(disk, path, parts);
  try {
    await nameWritten(disk, path);
  } catch (error) {
    await removeAside(disk, path);
    throw error;
  }
  await disk.syncFolder(dirname(path));
}

/** Writes and syncs a file under its temporary name. Rejects with a `DiskError`, after which no file is left. */
export async function writeAside(
  disk: Disk,
  path: string,
  parts: readonly Uint8Array[],
): Promise<void> {
  const file = await disk.create(asidePath(path));
  try {
    try {
      for (const piece of splitIntoPieces(parts)) {
        await file.write(piece);
        // Each piece has its own sync, so that a sync of the log, on which senders wait, waits for one piece at most.
        await file.sync();
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    await removeAside(disk, path);
    throw error;
  }
}

/** Renames a file from its temporary name. The name is durable once the folder is synced. Rejects with a `DiskError`. */
export function nameWritten(disk: Disk, path: string): Promise<void> {
  return disk.rename(asidePath(path), path);
}

/** Never rejects: the next start removes what is left. */
export async function removeAside(disk: Disk, path: string): Promise<void> {
  await disk.remove(asidePath(path)).catch(() => {});
}

function asidePath(path: string): string {
  return `${path}${TEMPORARY_ENDING}`;
}

/** Splits the parts into pieces of at most `SYNC_BYTES_MAX`. */
function* splitIntoPieces(parts: readonly Uint8Array[]): Generator<readonly Uint8Array[]> {
  let piece: Uint8Array[] = [];
  let room = SYNC_BYTES_MAX;
  for (const part of parts) {
    for (let start = 0; start < part.length; ) {
      const slice = part.subarray(start, start + room);
      piece.push(slice);
      start += slice.length;
      room -= slice.length;
      if (room > 0) continue;
      yield piece;
      piece = [];
      room = SYNC_BYTES_MAX;
    }
  }
  if (piece.length > 0) yield piece;
}
