import { setTimeout as pause } from 'node:timers/promises';

/** The part of a file handle that is needed to free the file's blocks. */
export type ReleasedFile = {
  stat(): Promise<{ readonly size: number }>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
};

/**
 * Bytes that are freed at a time, and milliseconds between two times. A file system that tells the device about free
 * blocks (ext4 with `discard`) does so in the transaction for which the next sync of the log waits, so a large step
 * would delay posts.
 */
export const RELEASE_STEP_BYTES = 256 * 1024;
const RELEASE_PAUSE_MS = 2;

/**
 * Bytes of files that wait to be freed; above it, a file is freed at once. Until then nobody can use this space: four
 * log files.
 */
export const RELEASE_BYTES_MAX = 256 * 1024 * 1024;

/**
 * Frees the blocks of removed files gradually, one file after another. Callers need not wait: if the process ends, the
 * system frees the rest.
 */
export class GradualRelease {
  #waitingBytes = 0;
  #last: Promise<void> = Promise.resolve();

  /** Takes the handle of a removed file. Resolves when it is closed. Never rejects. */
  async release(file: ReleasedFile): Promise<void> {
    const size = await measureFile(file);
    if (size <= RELEASE_STEP_BYTES || this.#waitingBytes + size > RELEASE_BYTES_MAX) {
      return closed(file);
    }
    this.#waitingBytes += size;
    this.#last = this.#last.then(async () => {
      await shrink(file, size);
      await closed(file);
      this.#waitingBytes -= size;
    });
    return this.#last;
  }
}

async function measureFile(file: ReleasedFile): Promise<number> {
  try {
    return (await file.stat()).size;
  } catch {
    // The file is closed without being cut.
    return 0;
  }
}

async function shrink(file: ReleasedFile, size: number): Promise<void> {
  try {
    for (let left = size - RELEASE_STEP_BYTES; left > 0; left -= RELEASE_STEP_BYTES) {
      await file.truncate(left);
      await pause(RELEASE_PAUSE_MS, undefined, { ref: false });
    }
  } catch {
    // Closing the file frees the rest at once.
  }
}

async function closed(file: ReleasedFile): Promise<void> {
  try {
    await file.close();
  } catch {
    // The file has no name, and no data to write.
  }
}
