import { join } from 'node:path';
import type { Disk, DiskReader } from '../disk/disk.ts';
import { SteadyDisk } from '../disk/steady-disk.ts';
import { DAMAGES_LISTED_MAX, LOG_READ_BYTES } from '../limits.ts';
import type { Quarantine } from '../quarantine.ts';
import { type LogEnd, LogEndFile } from './log-end.ts';
import { logFileName } from './log-layout.ts';
import {
  type LogVisitor,
  listLogNumbers,
  type ReplayedRecord,
  type WalkedDamage,
  type WalkedFile,
  walkLog,
} from './log-walk.ts';
import type { ClosedLogFile } from './write-ahead-log.ts';

export { LogVersionError, type ReplayedRecord } from './log-walk.ts';

export type RecoveryProgress = {
  readonly recordsDone: number;
  readonly bytesDone: number;
  readonly bytesTotal: number;
};

/** A damaged place of the log. */
export type LogDamage = Pick<WalkedDamage, 'file' | 'offset' | 'size' | 'reason'> & {
  /** The path of its copy in quarantine; `undefined` if there is none. */
  readonly quarantined: string | undefined;
};

type DamageReport = {
  /** At most DAMAGES_LISTED_MAX, without tails. */
  readonly damages: readonly LogDamage[];
  readonly damageCount: number;
  /** Number of records that existed and could not be read. */
  readonly recordsLost: number;
  /** Bytes that a crash cut off. */
  readonly tailBytes: number;
};

export type RecoveredLog = DamageReport & {
  readonly files: readonly ClosedLogFile[];
  readonly nextSequence: number;
  /** Records from this sequence on may be missing, because a crash cut off the group that was being written. */
  readonly durableBefore: number;
  readonly nextNumber: number;
  readonly recordCount: number;
};

export type LogRecoveryOptions = {
  readonly disk: Disk;
  /** An absolute path; the folder need not exist. */
  readonly folder: string;
  readonly quarantine: Quarantine;
  /**
   * Applies a record. Called in the order of sequences; the next record is read when the promise resolves. A
   * RecordError skips this record only.
   */
  readonly apply: (record: ReplayedRecord) => Promise<void>;
  readonly onDamage: (damage: LogDamage) => void;
  readonly onProgress: (progress: RecoveryProgress) => void;
};

/**
 * Reads every byte of the log in `folder` and of its end file. Changes nothing. A start calls this before it changes
 * anything. Rejects with a ReadError if any of it cannot be read.
 */
export async function checkReadable(folder: string, diskUnderneath: Disk): Promise<void> {
  const disk = SteadyDisk.of(diskUnderneath);
  const bytes = new Uint8Array(LOG_READ_BYTES);
  await new LogEndFile(disk, folder).read();
  for (const number of listLogNumbers(await disk.list(folder))) {
    const reader = await disk.open(join(folder, logFileName(number)));
    try {
      for (let at = 0; at < reader.size; at += bytes.length) await reader.read(bytes, at);
    } finally {
      await reader.close();
    }
  }
}

/**
 * Replays the log in `folder`, oldest file first. Cuts the newest file after its last whole record, after copying the
 * rest to quarantine. The remaining log is durable, and a new file may be begun after it.
 *
 * Rejects with a LogVersionError, or with a ReadError if a file cannot be read to its end; that file is not changed.
 */
export async function recoverLog(options: LogRecoveryOptions): Promise<RecoveredLog> {
  const { folder } = options;
  const disk = SteadyDisk.of(options.disk);
  const end = await new LogEndFile(disk, folder).read();
  const numbers = listLogNumbers(await disk.list(folder));
  const recovery = new LogRecovery(options);
  const { nextSequence, durableBefore, recordCount } = await walkLog({
    ...{ disk, folder, numbers, end },
    visitor: recovery,
  });
  return {
    ...recovery.report(),
    files: recovery.files,
    nextSequence,
    durableBefore,
    nextNumber: Math.max(numbers.at(-1) ?? 0, getFileNumber(end)) + 1,
    recordCount,
  };
}

function getFileNumber(end: LogEnd | 'damaged' | undefined): number {
  return end === undefined || end === 'damaged' ? 0 : end.fileNumber;
}

class LogRecovery implements LogVisitor {
  readonly files: ClosedLogFile[] = [];
  readonly #options: LogRecoveryOptions;
  readonly #damages: LogDamage[] = [];
  #damageCount = 0;
  #recordsLost = 0;
  #tailBytes = 0;
  #recordsDone = 0;
  /** Ranges of the current file that are in quarantine. */
  #copies: { readonly offset: number; readonly end: number }[] = [];

  constructor(options: LogRecoveryOptions) {
    this.#options = options;
  }

  report(): DamageReport {
    return {
      damages: this.#damages,
      damageCount: this.#damageCount,
      recordsLost: this.#recordsLost,
      tailBytes: this.#tailBytes,
    };
  }

  async record(record: ReplayedRecord): Promise<void> {
    await this.#options.apply(record);
    this.#recordsDone++;
  }

  async damage(found: WalkedDamage, reader: DiskReader | undefined): Promise<void> {
    const { file, offset, size, reason, recordsLost } = found;
    const quarantined =
      reason === 'missing' || reader === undefined
        ? undefined
        : await this.#copy(reader, { file, offset, size });
    const damage: LogDamage = { file, offset, size, reason, quarantined };
    if (quarantined !== undefined) this.#copies.push({ offset, end: offset + size });
    this.#recordsLost += recordsLost;
    if (reason === 'tail') this.#tailBytes += size;
    else {
      this.#damageCount++;
      if (this.#damages.length < DAMAGES_LISTED_MAX) this.#damages.push(damage);
    }
    this.#options.onDamage(damage);
  }

  async fileEnd(file: WalkedFile): Promise<void> {
    const { number, path, firstSequence, timestampUsMax, isNewest, isUnused } = file;
    // An earlier owner that was suspended while it began the file could still write its header, and so void records
    // that are replayed now.
    if (isUnused) return this.#options.disk.remove(path);
    const size = isNewest ? this.#sizeToKeep(file) : file.size;
    this.#copies = [];
    // Also if nothing is cut: this makes the replayed records durable.
    if (isNewest) await this.#options.disk.truncate(path, size);
    this.files.push({ number, firstSequence, size, timestampUsMax });
  }

  /**
   * The size to which a file is cut. Only bytes that are in quarantine are cut off. Bytes that remain after the last
   * whole record are harmless: the next file voids them, and each start finds them again.
   */
  #sizeToKeep({ wholeSize, size }: WalkedFile): number {
    let end = wholeSize;
    for (const copy of this.#copies.toSorted((left, right) => left.offset - right.offset)) {
      if (copy.offset <= end) end = Math.max(end, copy.end);
    }
    return end < size ? size : wholeSize;
  }

  unread(_path: string, error: Error): never {
    throw error;
  }

  progress(bytesDone: number, bytesTotal: number): void {
    this.#options.onProgress({ recordsDone: this.#recordsDone, bytesDone, bytesTotal });
  }

  async #copy(
    reader: DiskReader,
    place: { readonly file: string; readonly offset: number; readonly size: number },
  ): Promise<string | undefined> {
    try {
      return await this.#options.quarantine.copy(reader, place);
    } catch {
      // The damaged bytes stay where they are: a start must not fail because a copy failed.
      return undefined;
    }
  }
}
