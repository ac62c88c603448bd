import { join } from 'node:path';
import { readCheckedJson, writeChecked } from '../../ingest/checked-file.ts';
import type { Disk } from '../../ingest/disk/disk.ts';

/** Name of the file, in the store folder. */
export const QUOTA_FILE = 'quota-use';

/** Events and bytes that were accepted. */
export type DailyUse = { readonly events: number; readonly bytes: number };

/** The use of each owner of a quota. Days are UTC days, counted from the epoch. */
export type QuotaState = {
  readonly day: number;
  /** The uses of that day by owner. */
  readonly uses: Readonly<Record<string, DailyUse>>;
  /** Stored bytes by owner, as `StoredBytes` formats them; absent in files of earlier versions. */
  readonly stored?: Readonly<Record<string, string>>;
};

/**
 * The file that keeps the use of quotas, with a checksum. Only the owner of the data folder writes
 * it.
 */
export class QuotaFile {
  readonly path: string;
  readonly #disk: Disk;

  /** `storePath` is absolute. */
  constructor(disk: Disk, storePath: string) {
    this.path = join(storePath, QUOTA_FILE);
    this.#disk = disk;
  }

  /** Rejects with a `DiskError` when the file exists and cannot be read. */
  read(): Promise<QuotaState | 'missing' | 'damaged'> {
    return readCheckedJson<QuotaState>(this.#disk, this.path);
  }

  /** Replaces the state; a crash leaves the old or the new one. Rejects with a `DiskError`. */
  write(state: QuotaState): Promise<void> {
    return writeChecked(this.#disk, this.path, `${JSON.stringify(state)}\n`);
  }
}
