import { dirname } from 'node:path';
import type { Disk } from './disk/disk.ts';
import { SYNC_BYTES_MAX } from './limits.ts';
import { TEMPORARY_ENDING } from './segment-name.ts';

/**
 * Writes a file aside, makes it durable, and gives it its name. Rejects with a `DiskError`; the file
 * may be there then all the same.
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

/** Writes a file and makes it durable, under another name than its own. Rejects with a `DiskError`; nothing is there then. */
export async function writeAside(
  disk: Disk,
  path: string,
  parts: readonly Uint8Array[],
): Promise<void> {
  const file = await disk.create(asidePath(path));
  try {
    try {
      for (const piece of piecesOf(parts)) {
        await file.write(piece);
        // Each by itself: a sync of the log, for which senders wait, never stands behind more.
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

/** Gives a file that was written aside its name, which is durable once the folder is. Rejects with a `DiskError`. */
export function nameWritten(disk: Disk, path: string): Promise<void> {
  return disk.rename(asidePath(path), path);
}

/** Never rejects: what cannot be removed a start removes. */
export async function removeAside(disk: Disk, path: string): Promise<void> {
  await disk.remove(asidePath(path)).catch(() => {});
}

function asidePath(path: string): string {
  return `${path}${TEMPORARY_ENDING}`;
}

/** The parts, in pieces of at most `SYNC_BYTES_MAX`. */
function* piecesOf(parts: readonly Uint8Array[]): Generator<readonly Uint8Array[]> {
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
