/**
 * All that durable storage asks of a file system, so that a test can stand in for one that crashes,
 * fails and tears. Every method rejects with a `DiskError`; a write that rejected may have written
 * any part of its bytes, a sync that rejected may have made any part of them durable.
 *
 * Paths are absolute. What was written to a file is durable once its `sync` has resolved; that a
 * name exists, was changed or is gone is durable once `syncFolder` of its folder has resolved.
 */
export interface Disk {
  /** Makes a file that is not there yet, open for writing. */
  create(path: string): Promise<DiskFile>;
  /** Opens a file for reading. */
  open(path: string): Promise<DiskReader>;
  /** Gives a file or a folder another name. A file takes the place of one that has the name. */
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Cuts a file to its first `size` bytes; when it resolves, these are durable and the rest is not. */
  truncate(path: string, size: number): Promise<void>;
  /** Makes a folder in one that is there; a folder that is there already is no error. */
  makeFolder(path: string): Promise<void>;
  syncFolder(path: string): Promise<void>;
  /** Names in a folder, in no order; none when there is no such folder. */
  list(path: string): Promise<readonly string[]>;
  /** Bytes that can still be written to the file system of a folder. */
  freeBytes(path: string): Promise<number>;
}

/** A file being written, from its start on. One call at a time. */
export interface DiskFile {
  /** Writes all parts end to end, behind what was written before. */
  write(parts: readonly Uint8Array[]): Promise<void>;
  /** Makes what was written durable; not the file's name. */
  sync(): Promise<void>;
  /**
   * Rejects when the path it was created under does not lead to it any more: it was removed, renamed or replaced, or a
   * folder above it was. Bytes that are synced then are not found again.
   */
  checkPlace(): Promise<void>;
  /** Never rejects: what matters was said by `sync`. */
  close(): Promise<void>;
}

/** A file being read. */
export interface DiskReader {
  readonly size: number;
  /**
   * Bytes [offset, offset + target.length) into `target`; how many there were before the end. Fewer than
   * the size of the file promises are no end: whoever decides by them reads through a `SteadyDisk`.
   */
  read(target: Uint8Array, offset: number): Promise<number>;
  close(): Promise<void>;
}

/** What a file system refused. */
export class DiskError extends Error {
  /** Of the system: EIO, ENOSPC, … */
  readonly code: string;
  readonly path: string;

  constructor(action: string, path: string, cause: unknown) {
    const code = errorCode(cause);
    super(`${path} cannot be ${action}: ${code}`, { cause });
    this.name = 'DiskError';
    this.code = code;
    this.path = path;
  }
}

/**
 * What could not be opened, read or listed, however often it was tried. It says nothing of what is stored
 * there: nothing may be taken for damaged, missing or ended because of it.
 */
export class ReadError extends DiskError {
  constructor(action: string, path: string, cause: unknown) {
    super(action, path, cause);
    this.name = 'ReadError';
  }
}

/** Whether a file system had no room, or none left for this user. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof DiskError && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

/** What `list` gives; `undefined` when there is something else than a folder. */
export async function namesIn(disk: Disk, path: string): Promise<readonly string[] | undefined> {
  try {
    return await disk.list(path);
  } catch (error) {
    if (error instanceof DiskError && error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}

function errorCode(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
}
