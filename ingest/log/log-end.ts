import { dirname, join } from 'node:path';
import { readCheckedJson, writeChecked } from '../checked-file.ts';
import type { Disk } from '../disk/disk.ts';

/** The end of the log, as it is stored outside of the log. */
export type LogEnd = {
  /** Records before this sequence are in segment files, or never existed. */
  readonly firstSequence: number;
  /** All records before this sequence were durable; a log that ends before it has lost records. */
  readonly acknowledgedBefore: number;
  /** The number of the newest log file. */
  readonly fileNumber: number;
};

/** The name of the file, which lies beside the log's folder and so survives its loss. */
export const LOG_END_FILE = 'log-end';

/**
 * The file that stores a `LogEnd`. Each record of the log states which earlier records were durable, so without this
 * file only the last group is uncertain: a start cannot tell whether a crash cut it off, or whether it was acknowledged
 * and is damaged.
 *
 * The file is written at a clean stop, and once a second while posts come. After a clean stop nothing is uncertain;
 * after a crash only a last group whose sync ended within the last second is.
 *
 * Cost: two small syncs, of the file and of its folder, for all posts of a second, where the log syncs once for each
 * group. No post waits for them.
 */
export class LogEndFile {
  readonly #disk: Disk;
  readonly #path: string;
  #written: string | undefined;

  /** `logFolder` is absolute. */
  constructor(disk: Disk, logFolder: string) {
    this.#disk = disk;
    this.#path = join(dirname(logFolder), LOG_END_FILE);
  }

  /** `undefined` if the file does not exist; older versions did not write it. Rejects with a ReadError. */
  async read(): Promise<LogEnd | 'damaged' | undefined> {
    const found = await readCheckedJson<LogEnd>(this.#disk, this.#path);
    return found === 'missing' ? undefined : found;
  }

  /** Calls must not overlap. Rejects with a DiskError. */
  async write(end: LogEnd): Promise<void> {
    const body = `${JSON.stringify(end)}\n`;
    if (body === this.#written) return;
    await writeChecked(this.#disk, this.#path, body);
    this.#written = body;
  }
}
