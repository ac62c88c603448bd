import { dirname, join } from 'node:path';
import { readCheckedJson, writeChecked } from '../checked-file.ts';
import type { Disk } from '../disk/disk.ts';

/** What is known of the log's end without the log. */
export type LogEnd = {
  /** The log had no record before this sequence, or segment files have them. */
  readonly firstSequence: number;
  /** All records before this sequence were durable, so a log that ends before it has lost some. */
  readonly acknowledgedBefore: number;
  /** Number of the newest log file. */
  readonly fileNumber: number;
};

/** Name of the file, in the folder that the log's folder lies in: it outlasts the loss of that. */
export const LOG_END_FILE = 'log-end';

/**
 * The file that keeps a `LogEnd`. Each record of the log says which records before it were durable, so
 * without this file only the last group is in doubt: when a start cannot read it, nothing else tells
 * whether a crash cut it off or it was acknowledged and is damaged now.
 *
 * It is written at a clean stop, and else once a second when posts came. Behind a clean stop nothing is in
 * doubt; behind a crash the last group is, if its sync ended within the last second.
 *
 * Estimate: a write is two small syncs, of the file and of its folder, for all posts of a second, where the
 * log makes one for each group. No post waits for it.
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

  /** `undefined` where there is none, as older versions did not write it. Rejects with a ReadError. */
  async read(): Promise<LogEnd | 'damaged' | undefined> {
    const found = await readCheckedJson<LogEnd>(this.#disk, this.#path);
    return found === 'missing' ? undefined : found;
  }

  /** One call at a time. Rejects with a DiskError. */
  async write(end: LogEnd): Promise<void> {
    const body = `${JSON.stringify(end)}\n`;
    if (body === this.#written) return;
    await writeChecked(this.#disk, this.#path, body);
    this.#written = body;
  }
}
