import { randomUUID } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readSync,
  statfsSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { RunStoppedError } from '../query-error.ts';

/**
 * Bytes that one query may write to disk for distinct values that do not fit into memory: some ten million texts, or forty
 * million numbers. To write and read more takes a large part of QUERY_TIME_MS_MAX.
 */
export const SPILLED_BYTES_MAX = 1024 * 1024 * 1024;

/**
 * Bytes that spill files leave free on the disk. The log has priority: posts are refused below some hundred MiB
 * (`DISK_FREE_BYTES_ENOUGH` of `ingest/limits.ts`), and go on while queries write.
 */
export const SPILL_FREE_BYTES_MIN = 1024 * 1024 * 1024;

/** Bounds of a spill file; SPILLED_BYTES_MAX and SPILL_FREE_BYTES_MIN where left out. */
type SpillBounds = {
  readonly bytesMax: number;
  /** Bytes that stay free on the disk. */
  readonly freeBytesMin: number;
};

/** Only the owner of the folder may read logs. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Bytes between two looks at the free room of the disk: several threads may write between two looks of one. */
const CHECKED_BYTES = 1024 * 1024;

/**
 * A file for what one task cannot hold in memory, created with its first byte. It loses its name before anything is
 * written, so the system frees its room when it is closed, also if the thread or the process dies. To be used in a worker: writing and
 * reading hold the thread up.
 */
export class SpillFile {
  readonly #folder: string;
  readonly #bytesMax: number;
  readonly #freeBytesMin: number;
  #file: number | undefined;
  #size = 0;

  constructor(folder: string, bounds: Partial<SpillBounds> = {}) {
    this.#folder = folder;
    this.#bytesMax = bounds.bytesMax ?? SPILLED_BYTES_MAX;
    this.#freeBytesMin = bounds.freeBytesMin ?? SPILL_FREE_BYTES_MIN;
  }

  /** Bytes written. */
  get size(): number {
    return this.#size;
  }

  /**
   * Appends bytes, and gives where they begin.
   *
   * @throws RunStoppedError `query_limit` if the file would have too many bytes, `storage_failed` if the disk has no room or
   * cannot be written.
   */
  append(bytes: Uint8Array): number {
    const start = this.#size;
    const end = start + bytes.length;
    if (end > this.#bytesMax) throw tooManyBytes(this.#bytesMax, end);
    try {
      this.#file ??= openUnnamed(this.#folder);
      for (let at = 0; at < bytes.length; ) {
        const size = Math.min(CHECKED_BYTES, bytes.length - at);
        this.#checkRoom(size);
        at += writeSync(this.#file, bytes, at, size, start + at);
      }
    } catch (error) {
      throw error instanceof RunStoppedError ? error : failed('written', error);
    }
    this.#size = end;
    return start;
  }

  /**
   * Reads bytes that were appended until `bytes` is full.
   *
   * @throws RunStoppedError `storage_failed`.
   */
  read(bytes: Uint8Array, start: number): void {
    for (let at = 0; at < bytes.length; ) {
      const count = this.#readSome(bytes, at, start + at);
      if (count === 0) throw failed('read', { code: 'the file is too short' });
      at += count;
    }
  }

  /** Frees its room. Afterwards it is empty. */
  close(): void {
    if (this.#file === undefined) return;
    const file = this.#file;
    this.#file = undefined;
    this.#size = 0;
    closeSync(file);
  }

  #readSome(bytes: Uint8Array, at: number, from: number): number {
    try {
      return this.#file === undefined
        ? 0
        : readSync(this.#file, bytes, at, bytes.length - at, from);
    } catch (error) {
      throw failed('read', error);
    }
  }

  #checkRoom(size: number): void {
    const { bavail, bsize } = statfsSync(this.#folder);
    const freeBytes = bavail * bsize;
    if (freeBytes - size >= this.#freeBytesMin) return;
    throw new RunStoppedError(
      'storage_failed',
      `this query does not fit into memory and would be continued on disk; ${this.#freeBytesMin} bytes must stay free there, ${freeBytes} are free`,
    );
  }
}

/** What a file must not have become meanwhile. */
export function damagedSpill(): RunStoppedError {
  return failed('read', { code: 'its bytes are not those that were written' });
}

/** The folder is made by the first query that needs it, and not if the folder above it has gone to another process. */
function openUnnamed(folder: string): number {
  try {
    mkdirSync(folder, { mode: FOLDER_MODE });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  const path = join(folder, randomUUID());
  const file = openSync(path, 'wx+', FILE_MODE);
  try {
    unlinkSync(path);
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return file;
}

function tooManyBytes(bytesMax: number, size: number): RunStoppedError {
  return new RunStoppedError(
    'query_limit',
    `a query that does not fit into memory may write ${bytesMax} bytes to disk (SPILLED_BYTES_MAX); this one would write ${size} or more`,
  );
}

/** Callers need not learn the paths that messages of the system contain. */
function failed(what: 'written' | 'read', error: unknown): RunStoppedError {
  return new RunStoppedError(
    'storage_failed',
    `the file of this query, which does not fit into memory, cannot be ${what} (${codeOf(error)})`,
  );
}

function codeOf(error: unknown): string {
  const isCoded = typeof error === 'object' && error !== null && 'code' in error;
  return isCoded ? String(error.code) : String(error);
}
