import { join } from 'node:path';
import { readCheckedJson, writeChecked } from './checked-file.ts';
import type { Disk } from './disk/disk.ts';
import type { ClockState } from './retention-clock.ts';

/** Name of the file, in the store folder. */
export const CLOCK_FILE = 'clock';

/** Files of older versions lack `isProvisional`; it is false for them. */
type StoredState = Omit<ClockState, 'isProvisional'> & { readonly isProvisional?: boolean };

/**
 * The file that stores the state of a retention clock, with a checksum. Only the owner of the data folder writes it,
 * one call at a time.
 */
export class ClockFile {
  readonly path: string;
  readonly #disk: Disk;

  /** `storePath` is absolute. */
  constructor(disk: Disk, storePath: string) {
    this.path = join(storePath, CLOCK_FILE);
    this.#disk = disk;
  }

  /** Does not change the file. Rejects with a `DiskError` if it exists and cannot be read. */
  async read(): Promise<ClockState | 'missing' | 'damaged'> {
    const state = await readCheckedJson<StoredState>(this.#disk, this.path);
    return typeof state === 'string' ? state : { isProvisional: false, ...state };
  }

  /** After a crash, the file holds the previous state or this one. Rejects with a `DiskError`. */
  async write(state: ClockState): Promise<void> {
    const { trustedUs, clockUs, heldUs, isProvisional } = state;
    const body = `${JSON.stringify({ trustedUs, clockUs, heldUs, isProvisional })}\n`;
    await writeChecked(this.#disk, this.path, body);
  }
}
