import { randomBytes } from 'node:crypto';
import { type Disk, DiskError } from './disk/disk.ts';

/** Some blocks of any file system: a lock takes one, a rename another. */
const SPARE_BYTES = 64 * 1024;

/** The system's error codes for a full disk. */
const FULL_CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/**
 * A file that is removed to free the space that a start needs on a full disk. Its bytes are random, because some file
 * systems compress others.
 */
export class SpareFile {
  readonly #disk: Disk;
  readonly #path: string;

  constructor(disk: Disk, path: string) {
    this.#disk = disk;
    this.#path = path;
  }

  /** Runs `work`, which writes little. If the disk is full, removes the spare file and runs it again. */
  async tryWith<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isFull(error) || !(await this.#remove())) throw error;
      return await work();
    }
  }

  /** Creates the file if it is missing and the disk has room. */
  async make(): Promise<void> {
    try {
      const file = await this.#disk.create(this.#path);
      try {
        await file.write([randomBytes(SPARE_BYTES)]);
        await file.sync();
      } finally {
        await file.close();
      }
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      if (isFull(error)) await this.#remove();
      else if (error.code !== 'EEXIST') throw error;
    }
  }

  /** Returns whether the file existed. */
  async #remove(): Promise<boolean> {
    try {
      // Some file systems free the space of a removed file later.
      await this.#disk.truncate(this.#path, 0);
      await this.#disk.remove(this.#path);
      return true;
    } catch (error) {
      if (error instanceof DiskError) return false;
      throw error;
    }
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && FULL_CODES.has(String(error.code));
}
