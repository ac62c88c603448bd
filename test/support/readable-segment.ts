import { existsSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { threadFiles } from '../../engine/column/file-blocks.ts';
import type { SealedSegmentHandle } from '../../engine/column/segment.ts';
import { RESIDENT } from '../../engine/column/segment-backing.ts';
import { SegmentGoneError } from '../../engine/column/segment-image.ts';
import { type Disk, DiskError } from '../../ingest/disk/disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { readFile, SteadyDisk } from '../../ingest/disk/steady-disk.ts';

const MEMORY_FOLDER = '/dev/shm';
// Where there is a file system in memory: files elsewhere take their time to be written anew.
const parent = existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir();
const scratchPath = join(parent, `weir-readable-${process.pid}-${threadId}`);

/**
 * Reads a segment as threads do, who open files by their paths: of a modelled disk what its file holds
 * now is put where there is such a path. `read` may keep nothing that reads later. What it brings into
 * memory is shared by all who have the handle. Rejects with a SegmentGoneError when there is no such
 * file, with a DiskError when it cannot be opened, and with what `read` throws.
 */
export async function withReadable<T>(
  disk: Disk,
  handle: SealedSegmentHandle,
  read: (handle: SealedSegmentHandle) => T,
): Promise<T> {
  const { backing } = handle;
  const isWhole = backing?.states.every((state) => state === RESIDENT) ?? true;
  if (backing === undefined || isWhole || disk instanceof NodeDisk) return read(handle);
  const bytes = await fileBytes(disk, backing.path);
  // From here to the end nobody else of this thread runs: there is one such file for all.
  writeFileSync(scratchPath, bytes);
  try {
    return read({ ...handle, backing: { ...backing, path: scratchPath } });
  } finally {
    // As at the end of a task.
    threadFiles.close();
    unlinkSync(scratchPath);
  }
}

async function fileBytes(disk: Disk, path: string): Promise<Uint8Array> {
  try {
    return await readFile(SteadyDisk.of(disk), path);
  } catch (error) {
    if (error instanceof DiskError && error.code === 'ENOENT') throw new SegmentGoneError(path);
    throw error;
  }
}
