import { join, relative } from 'node:path';
import { type Disk, DiskError } from './disk/disk.ts';
import type { FolderDamage, UncheckedFile } from './folder-damage.ts';
import { LOG_END_FILE, type LogEnd, LogEndFile } from './log/log-end.ts';
import { logFileNumber } from './log/log-layout.ts';
import {
  type LogVersionError,
  type LogVisitor,
  listLogNumbers,
  type ReplayedRecord,
  type WalkedDamage,
  type WalkedFile,
  walkLog,
} from './log/log-walk.ts';

/** What a survey found in the log of a data folder. */
export type LogSurvey = {
  /** Number of files read, and their bytes. */
  readonly fileCount: number;
  readonly byteSize: number;
  /** Number of whole records. */
  readonly recordCount: number;
  /** Sequences of the first and the last whole record; `undefined` if there are none. */
  readonly firstSequence: number | undefined;
  readonly lastSequence: number | undefined;
  /**
   * Bytes at the end of the log that are no whole record and were never acknowledged: a write under way, or cut off by
   * a crash.
   */
  readonly tailSize: number;
  readonly damageCount: number;
  /** Records that existed and cannot be read. */
  readonly recordsLost: number;
  readonly unchecked: readonly UncheckedFile[];
  /** Names in the log's folder that are not those of log files. */
  readonly unknown: readonly string[];
};

export type LogSurveyOptions = {
  readonly disk: Disk;
  readonly dataDir: string;
  /** `byteSize`: bytes of the record. Throws a RecordError if the record cannot be decoded. */
  readonly onRecord: (record: ReplayedRecord, byteSize: number) => void;
  readonly onDamage: (damage: FolderDamage) => void;
  readonly onProgress: (bytesDone: number, bytesTotal: number) => void;
};

const FOLDER = 'log';

/**
 * Reads every record of a log of another process, which may write and trim it meanwhile. Changes nothing. Rejects with
 * a DiskError if the folder cannot be listed.
 */
export async function surveyLog(options: LogSurveyOptions): Promise<LogSurvey> {
  const { disk } = options;
  const folder = join(options.dataDir, FOLDER);
  // All records acknowledged by now are in the files that are listed below.
  const { end, unchecked } = await readEnd(disk, folder);
  // A listing may miss a file that is created meanwhile, and yet show a later one. All files of the first listing
  // existed when the second began, except those trimmed meanwhile.
  const newest = listLogNumbers(await disk.list(folder)).at(-1) ?? 0;
  const names = await disk.list(folder);
  const numbers = listLogNumbers(names).filter((number) => number <= newest);
  const survey = new Survey(options);
  if (unchecked !== undefined) survey.unread(unchecked.path, unchecked);
  await walkLog({ disk, folder, numbers, end, visitor: survey });
  const unknown = names.filter((name) => logFileNumber(name) === undefined).toSorted();
  return survey.result(unknown.map((name) => join(FOLDER, name)));
}

async function readEnd(
  disk: Disk,
  folder: string,
): Promise<{ readonly end?: LogEnd | 'damaged' | undefined; readonly unchecked?: DiskError }> {
  try {
    return { end: await new LogEndFile(disk, folder).read() };
  } catch (error) {
    if (!(error instanceof DiskError)) throw error;
    return { unchecked: error };
  }
}

class Survey implements LogVisitor {
  readonly #options: LogSurveyOptions;
  #fileCount = 0;
  #byteSize = 0;
  #recordCount = 0;
  #firstSequence: number | undefined;
  #lastSequence: number | undefined;
  #tailSize = 0;
  #damageCount = 0;
  #recordsLost = 0;
  readonly #unchecked = new Map<string, string>();

  constructor(options: LogSurveyOptions) {
    this.#options = options;
  }

  result(unknown: readonly string[]): LogSurvey {
    return {
      fileCount: this.#fileCount,
      byteSize: this.#byteSize,
      recordCount: this.#recordCount,
      firstSequence: this.#firstSequence,
      lastSequence: this.#lastSequence,
      tailSize: this.#tailSize,
      damageCount: this.#damageCount,
      recordsLost: this.#recordsLost,
      unchecked: Array.from(this.#unchecked, ([path, reason]) => ({ path, reason })),
      unknown,
    };
  }

  async record(record: ReplayedRecord, byteSize: number): Promise<void> {
    this.#options.onRecord(record, byteSize);
    this.#recordCount += 1;
    this.#firstSequence ??= record.sequence;
    this.#lastSequence = record.sequence;
  }

  async damage(damage: WalkedDamage): Promise<void> {
    const { file, offset, size, reason, recordsLost, firstSequence } = damage;
    if (reason === 'tail') {
      this.#tailSize += size;
      return;
    }
    this.#damageCount += 1;
    this.#recordsLost += recordsLost;
    const path = file === LOG_END_FILE ? file : join(FOLDER, file);
    const place = { path, offset, size, firstSequence };
    this.#options.onDamage({ kind: 'log', ...place, reason, recordsLost });
  }

  async fileEnd({ size }: WalkedFile): Promise<void> {
    this.#fileCount += 1;
    this.#byteSize += size;
  }

  unread(path: string, error: DiskError | LogVersionError): void {
    // The file was trimmed after it was listed.
    if (error instanceof DiskError && error.code === 'ENOENT') return;
    // A file is opened twice; the Map keeps one entry for it.
    this.#unchecked.set(relative(this.#options.dataDir, path), error.message);
  }

  progress(bytesDone: number, bytesTotal: number): void {
    this.#options.onProgress(bytesDone, bytesTotal);
  }
}
