import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { must } from '../../engine/columns.ts';
import { type Disk, DiskError, type DiskFile, isDiskFull } from '../disk/disk.ts';
import { StorageError } from '../ingest-error.ts';
import {
  DISK_FREE_BYTES_LOW,
  LOG_BYTES_MAX,
  LOG_FILE_BYTES_MAX,
  LOG_GROUP_BYTES_MAX,
} from '../limits.ts';
import { systemReason } from '../system-reason.ts';
import { FreeSpace } from './free-space.ts';
import { LogEndFile } from './log-end.ts';
import {
  encodeFileHeader,
  encodeRecordHeader,
  FILE_HEADER_SIZE,
  type FileHeader,
  logFileName,
  RECORD_HEADER_SIZE,
} from './log-layout.ts';
import { computeChecksum, type EncodedBody, encodeBody, type LogRecord } from './record-body.ts';

/** An event to report to the operator. Each kind is reported once until it is over. */
export type LogEvent =
  | { readonly kind: 'write_failed'; readonly error: unknown }
  | { readonly kind: 'write_resumed' }
  | { readonly kind: 'trim_failed' | 'end_failed'; readonly error: unknown }
  | { readonly kind: 'disk_low' | 'disk_enough'; readonly freeBytes: number };

/** A log file that is not written any more. */
export type ClosedLogFile = {
  readonly number: number;
  readonly firstSequence: number;
  readonly size: number;
  /** The newest timestamp of its records; -Infinity if it has none. */
  readonly timestampUsMax: number;
};

export type WriteAheadLogOptions = {
  readonly disk: Disk;
  /** Absolute path of the folder of log files, which must exist. */
  readonly folder: string;
  /** Existing log files, oldest first. */
  readonly files: readonly ClosedLogFile[];
  /** The sequence of the next record. All existing files hold earlier records, or void ones. */
  readonly nextSequence: number;
  /** Records of existing files from this sequence on may be missing. They were not acknowledged. */
  readonly durableBefore: number;
  /** No log file ever had this number or a later one. */
  readonly nextNumber: number;
  readonly onEvent: (event: LogEvent) => void;
  /** The monotonic clock, in milliseconds; constant by default. */
  readonly nowMs?: (() => number) | undefined;
  /** Bytes from which a new file is begun; for tests. */
  readonly fileBytesMax?: number | undefined;
};

export type LogStats = {
  readonly fileCount: number;
  readonly byteSize: number;
  readonly syncCount: number;
  readonly recordCount: number;
  /** Bytes that are queued or being written. */
  readonly waitingBytes: number;
  /** The recent average time in which a group becomes durable, in milliseconds; 0 before the first group. */
  readonly groupMs: number;
  /** The reason why no record is accepted; `undefined` if they are. */
  readonly refusal: string | undefined;
  /** Whether no record is accepted until the disk has more room. */
  readonly isDiskLow: boolean;
};

/** Groups over which `groupMs` is averaged; recent ones weigh most. */
const GROUPS_REMEMBERED = 16;

type Waiting = {
  readonly body: EncodedBody;
  readonly size: number;
  readonly resolve: (sequence: number) => void;
  readonly reject: (error: unknown) => void;
};

type OpenLogFile = {
  readonly header: FileHeader;
  readonly file: DiskFile;
  size: number;
  timestampUsMax: number;
};

/**
 * The write-ahead log. Every batch is in it before the batch is acknowledged.
 *
 * A single loop writes the log. It takes the queued records, up to a group, writes and syncs them, and resolves their
 * promises. Records that come meanwhile form the next group. So at most one sync is under way, however many posts there
 * are, and records become durable in order.
 *
 * Invariant: after a failed write or sync, the file is never written again, because its contents on disk are unknown (a
 * later sync may succeed without having written anything). A later file voids, by its first sequence, all records that
 * were not known to be durable, and their sequences are used again. Until that file exists, records are refused. A file
 * whose path no longer leads to it is abandoned in the same way, because the next start would not find what is synced
 * in it.
 */
export class WriteAheadLog {
  readonly #options: WriteAheadLogOptions;
  readonly #space: FreeSpace;
  readonly #endFile: LogEndFile;
  /** Oldest first. */
  readonly #files: ClosedLogFile[];
  /** Numbers of files whose header may be missing on disk; a start ignores them. */
  readonly #unbegun = new Set<number>();
  #open: OpenLogFile | undefined;
  #nextNumber: number;
  #nextSequence: number;
  #durableBefore: number;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #groupMs = 0;
  /** Set while the loop runs; never rejects. */
  #underWay: Promise<void> | undefined;
  /** Trims the log, then writes its end; never rejects. */
  #trimming: Promise<void> | undefined;
  #failure: unknown;
  #isClosed = false;
  #hasTrimFailed = false;
  #hasEndFailed = false;
  /** Records before this sequence are in segment files. */
  #storedBefore = 0;
  #mustRotate = false;
  #mustCheckPlace = false;
  #syncCount = 0;
  #recordCount = 0;

  private constructor(options: WriteAheadLogOptions) {
    this.#options = options;
    const { disk, folder, onEvent } = options;
    this.#space = new FreeSpace({
      ...{ disk, folder },
      onChange: (isLow, freeBytes) => {
        onEvent({ kind: isLow ? 'disk_low' : 'disk_enough', freeBytes });
      },
    });
    this.#endFile = new LogEndFile(disk, folder);
    this.#files = [...options.files];
    this.#nextNumber = options.nextNumber;
    this.#nextSequence = options.nextSequence;
    this.#durableBefore = options.durableBefore;
  }

  /**
   * Begins a new file after the existing ones. On a full disk the log opens without one, as after a failed write, and
   * refuses records until a tick can begin a file. Rejects with any other DiskError.
   */
  static async open(options: WriteAheadLogOptions): Promise<WriteAheadLog> {
    const log = new WriteAheadLog(options);
    await log.#space.measure();
    try {
      await log.#beginFile();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      await log.#fail(error, []);
    }
    return log;
  }

  /**
   * Makes a record durable, and resolves to its sequence. Records become durable in the order of the calls: if one
   * fails, all later calls that have not resolved fail, too. The batch must not change before that.
   *
   * Rejects with a StorageError if the record is not known to be durable; a restart may find it.
   */
  async append(record: LogRecord): Promise<number> {
    this.check();
    const body = encodeBody(record);
    const size = RECORD_HEADER_SIZE + body.envelopeSize + body.dataSize;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ body, size, resolve, reject });
      this.#waitingBytes += size;
      this.#start();
    });
  }

  /** The sequence of the next record. All records before it are durable, and none of them is void. */
  get nextSequence(): number {
    return this.#nextSequence;
  }

  /** @throws StorageError if records are not accepted at present. */
  check(): void {
    const { refusal } = this;
    if (refusal !== undefined) throw new StorageError(refusal, this.#failure);
  }

  get refusal(): string | undefined {
    if (this.#isClosed) return 'the log is closed';
    if (this.#open === undefined) return failureText(this.#failure);
    if (!this.#space.isLow) return undefined;
    return `the disk is nearly full: less than ${DISK_FREE_BYTES_LOW} bytes are free`;
  }

  /**
   * Must be called about once a second. Checks the free space and the file's path, begins a new file after a failure,
   * writes the end of the log, and removes each file whose records all are older than `oldestUs` or precede
   * `beforeSequence`.
   */
  tick(oldestUs: number, beforeSequence = 0): void {
    if (this.#isClosed) return;
    this.#storedBefore = Math.max(this.#storedBefore, beforeSequence);
    void this.#space.measure();
    // After a failure each tick tries to begin a new file: posts wait for it, and an attempt is cheap. Otherwise the
    // path of the file is checked, because without posts nothing else would notice its loss.
    this.#mustCheckPlace = this.#open !== undefined;
    this.#start();
    const open = this.#open;
    if (open !== undefined && open.size > FILE_HEADER_SIZE && open.timestampUsMax < oldestUs) {
      this.#mustRotate = true;
      this.#start();
    }
    this.#trimming ??= this.#trim(oldestUs, beforeSequence)
      .then(() => this.#noteEnd())
      .finally(() => {
        this.#trimming = undefined;
      });
  }

  /**
   * Accepts no more records. Resolves when the accepted ones are durable or have failed. Records before
   * `beforeSequence` are in segment files.
   */
  async close(beforeSequence = 0): Promise<void> {
    this.#isClosed = true;
    this.#storedBefore = Math.max(this.#storedBefore, beforeSequence);
    await this.#underWay;
    await this.#trimming;
    await this.#noteEnd();
    await this.#space.measure();
    await this.#open?.file.close();
    this.#open = undefined;
  }

  stats(): LogStats {
    const closedSize = this.#files.reduce((sum, file) => sum + file.size, 0);
    return {
      fileCount: this.#files.length + (this.#open === undefined ? 0 : 1),
      byteSize: closedSize + (this.#open?.size ?? 0),
      syncCount: this.#syncCount,
      recordCount: this.#recordCount,
      waitingBytes: this.#waitingBytes,
      groupMs: this.#groupMs,
      refusal: this.refusal,
      isDiskLow: this.#space.isLow,
    };
  }

  #start(): void {
    this.#underWay ??= this.#run();
  }

  /** Runs until the queue is empty. Never rejects. */
  async #run(): Promise<void> {
    // Callers that are resumed in this turn of the event loop may still join the first group.
    await undefined;
    if (this.#open === undefined) await this.#resume();
    while (this.#open !== undefined && this.#hasWork) {
      const group = this.#takeGroup();
      try {
        await this.#writeGroup(group);
      } catch (error) {
        await this.#fail(error, group);
        await this.#resume();
      }
    }
    // Without an await, so that a record that comes now starts a new loop.
    this.#underWay = undefined;
  }

  get #hasWork(): boolean {
    return this.#waiting.length > 0 || this.#mustRotate || this.#mustCheckPlace;
  }

  #takeGroup(): Waiting[] {
    let size = 0;
    let count = 0;
    for (const waiting of this.#waiting) {
      size += waiting.size;
      if (count > 0 && size > LOG_GROUP_BYTES_MAX) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    const size = group.reduce((sum, waiting) => sum + waiting.size, 0);
    const sizeMax = this.#options.fileBytesMax ?? LOG_FILE_BYTES_MAX;
    const before = must(this.#open);
    const isFull = before.size > FILE_HEADER_SIZE && before.size + size > sizeMax;
    if (isFull || this.#mustRotate) await this.#beginFile();
    const open = must(this.#open);
    this.#mustCheckPlace = false;
    if (group.length === 0) return open.file.checkPlace();
    const parts: Uint8Array[] = [];
    for (const [index, { body }] of group.entries()) {
      const header = encodeRecordHeader({
        file: open.header,
        sequence: this.#nextSequence + index,
        durableBefore: this.#nextSequence,
        envelopeSize: body.envelopeSize,
        dataSize: body.dataSize,
        bodyCrc: await computeChecksum(body),
      });
      parts.push(header, ...body.parts);
    }
    const { nowMs = () => 0 } = this.#options;
    const startMs = nowMs();
    await open.file.write(parts);
    await open.file.sync();
    // After the sync, so that a file that was removed before it is noticed.
    await open.file.checkPlace();
    this.#groupMs += (nowMs() - startMs - this.#groupMs) / GROUPS_REMEMBERED;
    this.#syncCount++;
    this.#recordCount += group.length;
    open.size += size;
    this.#waitingBytes -= size;
    for (const { body, resolve } of group) {
      open.timestampUsMax = Math.max(open.timestampUsMax, body.timestampUsMax);
      resolve(this.#nextSequence++);
    }
    this.#durableBefore = this.#nextSequence;
  }

  /** Abandons the file and rejects all waiting records: none may become durable before an earlier one. */
  async #fail(error: unknown, group: readonly Waiting[]): Promise<void> {
    const open = this.#open;
    if (open !== undefined) {
      this.#open = undefined;
      this.#retire(open);
    }
    this.#failure = error;
    this.#options.onEvent({ kind: 'write_failed', error });
    const refused = [...group, ...this.#waiting.splice(0)];
    this.#waitingBytes = 0;
    const refusal = new StorageError(failureText(error), error);
    for (const { reject } of refused) reject(refusal);
    await open?.file.close();
  }

  /** Tries to begin a file after a failure. If that fails, the next tick tries again. */
  async #resume(): Promise<void> {
    if (this.#isClosed) return;
    try {
      await this.#beginFile();
      this.#failure = undefined;
      this.#options.onEvent({ kind: 'write_resumed' });
    } catch (error) {
      this.#failure = error;
    }
  }

  /** Continues in a new file. If it rejects, the previous file is still in use. */
  async #beginFile(): Promise<void> {
    const { disk, folder } = this.#options;
    const header: FileHeader = {
      number: this.#nextNumber++,
      firstSequence: this.#nextSequence,
      id: randomBytes(8).readBigUInt64LE(),
      durableBefore: this.#durableBefore,
    };
    const path = join(folder, logFileName(header.number));
    const file = await disk.create(path);
    try {
      await file.write([encodeFileHeader(header)]);
      await file.sync();
      await disk.syncFolder(folder);
    } catch (error) {
      await file.close();
      try {
        await disk.remove(path);
      } catch {
        // The file is empty but announces records, so it must be removed together with the files before it.
        this.#unbegun.add(header.number);
        this.#retire({ header, size: FILE_HEADER_SIZE, timestampUsMax: Number.NEGATIVE_INFINITY });
      }
      throw error;
    }
    const before = this.#open;
    const size = FILE_HEADER_SIZE;
    this.#open = { header, file, size, timestampUsMax: Number.NEGATIVE_INFINITY };
    this.#mustRotate = false;
    if (before !== undefined) {
      this.#retire(before);
      await before.file.close();
    }
  }

  /** Never rejects: without this file a start knows less, but no record is lost. */
  async #noteEnd(): Promise<void> {
    // A failure of the disk was reported, and nothing has become durable since.
    if (this.#open === undefined && !this.#isClosed) return;
    const oldest = this.#files[0] ?? this.#open?.header;
    try {
      await this.#endFile.write({
        firstSequence: Math.max(oldest?.firstSequence ?? this.#nextSequence, this.#storedBefore),
        acknowledgedBefore: this.#durableBefore,
        fileNumber: this.#nextNumber - 1,
      });
      this.#hasEndFailed = false;
    } catch (error) {
      if (!this.#hasEndFailed) this.#options.onEvent({ kind: 'end_failed', error });
      this.#hasEndFailed = true;
    }
  }

  #retire({ header, size, timestampUsMax }: Omit<OpenLogFile, 'file'>): void {
    const { number, firstSequence } = header;
    this.#files.push({ number, firstSequence, size, timestampUsMax });
    // A file that could neither be begun nor removed precedes the one that is still open.
    this.#files.sort((left, right) => left.number - right.number);
  }

  /**
   * Removes files, oldest first, while all of their records may be dropped. The removal of each name is durable before
   * the next one, because a missing file between others would look like a loss. Freeing a large file delays syncs, so,
   * unless the log has grown long, the others are removed at later ticks. The newest file that was begun remains: it
   * states the position of the log.
   */
  async #trim(oldestUs: number, beforeSequence: number): Promise<void> {
    const { disk, folder, onEvent } = this.#options;
    let removedSize = 0;
    try {
      for (;;) {
        const [file, ...later] = this.#files;
        const next = later.find(({ number }) => !this.#unbegun.has(number)) ?? this.#open?.header;
        if (file === undefined || next === undefined) break;
        const isCovered = next.firstSequence <= beforeSequence;
        if (!isCovered && file.timestampUsMax >= oldestUs) break;
        await disk.remove(join(folder, logFileName(file.number))).catch((error) => {
          // The file was removed before, but the sync of its folder failed.
          if (!(error instanceof DiskError && error.code === 'ENOENT')) throw error;
        });
        await disk.syncFolder(folder);
        this.#files.shift();
        this.#unbegun.delete(file.number);
        removedSize += file.size;
        if (removedSize >= LOG_FILE_BYTES_MAX && this.stats().byteSize <= LOG_BYTES_MAX) break;
      }
      this.#hasTrimFailed = false;
    } catch (error) {
      if (!this.#hasTrimFailed) onEvent({ kind: 'trim_failed', error });
      this.#hasTrimFailed = true;
    }
  }
}

/** The reason for refusing records, for senders: without paths of the server. */
function failureText(error: unknown): string {
  const sentence = 'logs cannot be written to disk at present';
  if (!(error instanceof DiskError)) return sentence;
  const isGone = error.code === 'ENOENT' || error.code === 'ENOTDIR';
  const reason = isGone ? 'the folder or the file of the log is gone' : systemReason(error);
  return `${sentence}: ${reason}`;
}
