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
  const temporaryPath = `${path}${TEMPORARY_ENDING}`;
  const file = await disk.create(temporaryPath);
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
    await disk.rename(temporaryPath, path);
  } catch (error) {
    // Where even this fails, recovery removes it.
    await disk.remove(temporaryPath).catch(() => {});
    throw error;
  }
  await disk.syncFolder(dirname(path));
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
