import { systemCode, systemReason } from '../system-reason.ts';

/**
 * The file system as durable storage uses it. Tests replace it by one that crashes, fails and tears writes. Every method
 * rejects with a `DiskError`. A write that rejected may have written any part of its bytes, and a sync that rejected may have
 * made any part of them durable.
 *
 * Paths are absolute. Written bytes are durable when `sync` of the file has resolved. A created, changed or removed name is
 * durable when `syncFolder` of its folder has resolved.
 */
export interface Disk {
  /** Creates a file that must not exist, open for writing. */
  create(path: string): Promise<DiskFile>;
  /** Opens a file for reading. */
  open(path: string): Promise<DiskReader>;
  /** Renames a file or a folder. A file replaces an existing file of the new name. */
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Cuts a file to its first `size` bytes. When it resolves, these are durable and the rest is gone. */
  truncate(path: string, size: number): Promise<void>;
  /** Creates a folder in an existing one. Does nothing if it exists. */
  makeFolder(path: string): Promise<void>;
  syncFolder(path: string): Promise<void>;
  /** The names in a folder, unsorted; none if the folder does not exist. */
  list(path: string): Promise<readonly string[]>;
  /** Free bytes of the file system that holds a folder. */
  freeBytes(path: string): Promise<number>;
}

/** A file that is written from its start on. Calls must not overlap. */
export interface DiskFile {
  /** Appends all parts, end to end. */
  write(parts: readonly Uint8Array[]): Promise<void>;
  /** Makes the written bytes durable, but not the file's name. */
  sync(): Promise<void>;
  /**
   * Rejects if the path under which the file was created no longer leads to it: the file was removed, renamed or
   * replaced, or a folder above it was. Bytes that are synced later would not be found again.
   */
  checkPlace(): Promise<void>;
  /** Never rejects: `sync` has reported what matters. */
  close(): Promise<void>;
}

/** A file that is read. */
export interface DiskReader {
  readonly size: number;
  /**
   * Reads bytes [offset, offset + target.length) into `target`. Resolves to the number of bytes before the end of the
   * file. Fewer bytes than the size of the file promises do not prove an end; a caller that depends on the end must use
   * a `SteadyDisk`.
   */
  read(target: Uint8Array, offset: number): Promise<number>;
  close(): Promise<void>;
}

/** An error of a file system. */
export class DiskError extends Error {
  /** The system's code: EIO, ENOSPC, … */
  readonly code: string;
  readonly path: string;

  constructor(action: string, path: string, cause: unknown) {
    super(`${path} cannot be ${action}: ${systemReason(cause)}`, { cause });
    this.name = 'DiskError';
    this.code = systemCode(cause) ?? String(cause);
    this.path = path;
  }
}

/**
 * A file or folder could not be opened, read or listed, in several attempts. This does not mean that its contents are
 * damaged, missing or shorter.
 */
export class ReadError extends DiskError {
  constructor(action: string, path: string, cause: unknown) {
    super(action, path, cause);
    this.name = 'ReadError';
  }
}

/** Whether an error says that the file system, or the user's quota, is full. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof DiskError && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

/** The names in a folder; `undefined` if the path is not that of a folder. */
export async function namesIn(disk: Disk, path: string): Promise<readonly string[] | undefined> {
  try {
    return await disk.list(path);
  } catch (error) {
    if (error instanceof DiskError && error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}
