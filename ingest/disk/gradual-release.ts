import { setTimeout as pause } from 'node:timers/promises';

/** The part of a file's handle that letting go of its blocks takes. */
export type ReleasedFile = {
  stat(): Promise<{ readonly size: number }>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
};

/**
 * Bytes given back at a time, and milliseconds between two times. A file system that tells the device
 * of free blocks (ext4 with `discard`) does so within the transaction that the next sync of the log
 * waits for: 73 ms for 64 MiB at once, 1 to 3 ms for this.
 */
export const RELEASE_STEP_BYTES = 256 * 1024;
const RELEASE_PAUSE_MS = 2;

/**
 * Bytes of files that wait to give back their blocks; beyond, a file gives them back at once. It is
 * disk that nobody can use: four files of the log.
 */
export const RELEASE_BYTES_MAX = 256 * 1024 * 1024;

/**
 * Gives the blocks of removed files back a little at a time, one file after the other. Nobody need
 * wait: whatever is not given back when the process ends, the system gives back.
 */
export class GradualRelease {
  #waitingBytes = 0;
  #last: Promise<void> = Promise.resolve();

  /**
   * Takes over the handle of a file that has no name any more. Resolves when it is closed, and never
   * rejects.
   */
  async release(file: ReleasedFile): Promise<void> {
    const size = await sizeOf(file);
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

async function sizeOf(file: ReleasedFile): Promise<number> {
  try {
    return (await file.stat()).size;
  } catch {
    // Then it is closed as it is.
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
    // Closing it gives back the rest at once.
  }
}

async function closed(file: ReleasedFile): Promise<void> {
  try {
    await file.close();
  } catch {
    // It has no name, and nothing was to be written.
  }
}
