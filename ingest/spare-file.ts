import { randomBytes } from 'node:crypto';
import { type Disk, DiskError } from './disk/disk.ts';

/** Some blocks of any file system: a lock takes one, the change of names another. */
const SPARE_BYTES = 64 * 1024;

/** What a system says when there is no room for a file. */
const FULL_CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/**
 * A file that is there to be removed: on a full disk it gives back the room that a start needs. Its bytes are random,
 * as some file systems keep others in less room.
 */
export class SpareFile {
  readonly #disk: Disk;
  readonly #path: string;

  constructor(disk: Disk, path: string) {
    this.#disk = disk;
    this.#path = path;
  }

  /** Does what writes a little; where the disk is full, once more without the spare file. */
  async tryWith<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isFull(error) || !(await this.#remove())) throw error;
      return await work();
    }
  }

  /** Makes the file where there is none. A disk that has no room for it is left without one. */
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

  /** Whether there was one. */
  async #remove(): Promise<boolean> {
    try {
      // A file that is removed gives its room back a little later.
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
