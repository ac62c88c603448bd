import { join } from 'node:path';
import { readCheckedJson, writeChecked } from '../../ingest/checked-file.ts';
import type { Disk } from '../../ingest/disk/disk.ts';

/** Name of the file, in the store folder. */
export const QUOTA_FILE = 'quota-use';

/** Events and bytes that were taken in. */
export type DailyUse = { readonly events: number; readonly bytes: number };

/** What was taken in of each owner of a quota. Days are UTC days, counted from the epoch. */
export type QuotaState = {
  readonly day: number;
  /** Of that day. */
  readonly uses: Readonly<Record<string, DailyUse>>;
  /** Of owners of a quota of stored bytes, as `StoredBytes` writes them; absent in files of earlier versions. */
  readonly stored?: Readonly<Record<string, string>>;
};

/** The file that keeps what has been used of quotas, with a checksum. Only the owner of the data folder writes it. */
export class QuotaFile {
  readonly path: string;
  readonly #disk: Disk;

  /** `storePath` is absolute. */
  constructor(disk: Disk, storePath: string) {
    this.path = join(storePath, QUOTA_FILE);
    this.#disk = disk;
  }

  /** Rejects with a `DiskError` when the file is there and cannot be read. */
  read(): Promise<QuotaState | 'missing' | 'damaged'> {
    return readCheckedJson<QuotaState>(this.#disk, this.path);
  }

  /** After a crash there is the state from before or this one. Rejects with a `DiskError`. */
  write(state: QuotaState): Promise<void> {
    return writeChecked(this.#disk, this.path, `${JSON.stringify(state)}\n`);
  }
}
