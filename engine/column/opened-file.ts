import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * The file that this thread read last: blocks of one segment are read one after another. One file is open at a time, and
 * none between tasks, so a file that is removed gives its room back.
 */
let opened: { readonly path: string; readonly file: number } | undefined;

/** Reads into `bytes` until they are full or the file ends; how many were read. Throws what the system says. */
export function readAt(path: string, bytes: Uint8Array, offset: number): number {
  const file = openFile(path);
  let read = 0;
  try {
    while (read < bytes.length) {
      const count = readSync(file, bytes, read, bytes.length - read, offset + read);
      if (count === 0) break;
      read += count;
    }
  } catch (error) {
    closeFile();
    throw error;
  }
  return read;
}

/** Bytes of a file. Throws what the system says. */
export function measureFile(path: string): number {
  return fstatSync(openFile(path)).size;
}

/** Closes the file that was read last. To be called at the end of a task, and of what reads a segment beside tasks. */
export function closeFile(): void {
  if (opened === undefined) return;
  const { file } = opened;
  opened = undefined;
  closeSync(file);
}

function openFile(path: string): number {
  if (opened?.path === path) return opened.file;
  closeFile();
  opened = { path, file: openSync(path, 'r') };
  return opened.file;
}
