import { join } from 'node:path';
import { readCheckedJson, writeChecked } from './checked-file.ts';
import type { Disk } from './disk/disk.ts';
import type { ClockState } from './retention-clock.ts';

/** Name of the file, in the store folder. */
export const CLOCK_FILE = 'clock';

/** Files of older versions do not say whether the time is provisional: to them none was. */
type StoredState = Omit<ClockState, 'isProvisional'> & { readonly isProvisional?: boolean };

/**
 * The file that keeps the state of a retention clock, with a checksum. Only the process that owns the data folder
 * writes it, one call at a time.
 */
export class ClockFile {
  readonly path: string;
  readonly #disk: Disk;

  /** `storePath` is absolute. */
  constructor(disk: Disk, storePath: string) {
    this.path = join(storePath, CLOCK_FILE);
    this.#disk = disk;
  }

  /** Changes nothing. Rejects with a `DiskError` when the file is there and cannot be read. */
  async read(): Promise<ClockState | 'missing' | 'damaged'> {
    const state = await readCheckedJson<StoredState>(this.#disk, this.path);
    return typeof state === 'string' ? state : { isProvisional: false, ...state };
  }

  /** After a crash there is the state from before or this one. Rejects with a `DiskError`. */
  async write(state: ClockState): Promise<void> {
    const { trustedUs, clockUs, heldUs, isProvisional } = state;
    const body = `${JSON.stringify({ trustedUs, clockUs, heldUs, isProvisional })}\n`;
    await writeChecked(this.#disk, this.path, body);
  }
}
