import { join } from 'node:path';
import { must } from '../../engine/assert.ts';
import type { Batch } from '../../engine/column/batch.ts';
import type { Disk, DiskReader } from '../disk/disk.ts';
import { DAMAGES_LISTED_MAX } from '../limits.ts';
import type { Quarantine } from '../quarantine.ts';
import {
  decodeFileHeader,
  FILE_HEADER_SIZE,
  LOG_VERSION,
  logFileName,
  logFileNumber,
} from './log-layout.ts';
import { type LogItem, scanLogFile } from './log-scan.ts';
import { LogWindow } from './log-window.ts';
import { decodeBatch, decodeEnvelope, RecordError, type RecordSummary } from './record-body.ts';
import type { ClosedLogFile } from './write-ahead-log.ts';

/** A record as the log holds it; `batch` decodes its data. */
export type ReplayedRecord = RecordSummary & {
  readonly sequence: number;
  readonly batch: () => Batch;
};

export type RecoveryProgress = {
  readonly recordsDone: number;
  readonly bytesDone: number;
  readonly bytesTotal: number;
};

/** One place where the log is not as it was written. */
export type LogDamage = {
  readonly file: string;
  /** Bytes from the start of the file, and how many there are; none of records that are gone. */
  readonly offset: number;
  readonly size: number;
  readonly reason:
    | 'file_header'
    | 'record'
    /** Its bytes are whole, and yet it cannot be applied. */
    | 'not_applicable'
    /** Records that are not where they should be. */
    | 'missing'
    /** What a crash cut off while it was written: not acknowledged. */
    | 'tail';
  readonly quarantined: string | undefined;
};

export type DamageReport = {
  /** The first DAMAGES_LISTED_MAX, all but tails. */
  readonly damages: readonly LogDamage[];
  readonly damageCount: number;
  /** Records known to have been there that could not be read. */
  readonly recordsLost: number;
  /** Bytes of what a crash cut off. */
  readonly tailBytes: number;
};

export type RecoveredLog = DamageReport & {
  readonly files: readonly ClosedLogFile[];
  readonly nextSequence: number;
  /** Records from this sequence on may be missing: a crash cut off a group that was being written. */
  readonly durableBefore: number;
  readonly nextNumber: number;
  readonly recordCount: number;
};

export type LogRecoveryOptions = {
  readonly disk: Disk;
  /** Absolute; need not exist. */
  readonly folder: string;
  readonly quarantine: Quarantine;
  /**
   * Takes a record in, in the order of sequences; the next is read when it resolves. A RecordError
   * costs this record only.
   */
  readonly apply: (record: ReplayedRecord) => Promise<void>;
  readonly onDamage: (damage: LogDamage) => void;
  readonly onProgress: (progress: RecoveryProgress) => void;
};

/** A log file of a version that this program does not know. */
export class LogVersionError extends Error {
  constructor(path: string, version: number) {
    super(`${path} must be of version ${LOG_VERSION}; got version ${version}`);
    this.name = 'LogVersionError';
  }
}

/**
 * Replays the log in `folder`, oldest file first, and cuts the newest file behind its last whole
 * record. What is there then is durable, and a log may be opened behind it.
 *
 * Rejects with a LogVersionError, or with a DiskError of a file that cannot be read at all.
 */
export function recoverLog(options: LogRecoveryOptions): Promise<RecoveredLog> {
  return new LogRecovery(options).run();
}

type FoundFile = {
  readonly number: number;
  readonly path: string;
  readonly size: number;
  readonly id: bigint | undefined;
  /** `undefined`: neither the header nor a record tells. */
  readonly firstSequence: number | undefined;
  /** Of earlier files, records before this were durable. */
  readonly durableBefore: number;
  readonly hasHeader: boolean;
};

/** A stretch of a file that holds no record that could be read. */
type Hole = {
  readonly offset: number;
  readonly size: number;
  /** Sequences that are missing there, [from, to). */
  readonly from: number;
  to: number;
};

/** Where a file's records end for good: what the next file says. */
type Bound = { readonly firstSequence: number; readonly durableBefore: number };

class LogRecovery {
  readonly #options: LogRecoveryOptions;
  readonly #damages: LogDamage[] = [];
  #damageCount = 0;
  #recordsLost = 0;
  #tailBytes = 0;
  #recordCount = 0;
  #bytesDone = 0;
  #bytesTotal = 0;
  /** The sequence that should come next; `undefined` before the first is known. */
  #expected: number | undefined;
  #durableBefore = 1;

  constructor(options: LogRecoveryOptions) {
    this.#options = options;
  }

  async run(): Promise<RecoveredLog> {
    const { disk, folder } = this.#options;
    const numbers = (await disk.list(folder)).map(logFileNumber).filter((n) => n !== undefined);
    numbers.sort((left, right) => left - right);
    const files: FoundFile[] = [];
    for (const number of numbers) files.push(await this.#inspect(number));
    this.#bytesTotal = files.reduce((sum, file) => sum + file.size, 0);
    const closed: ClosedLogFile[] = [];
    for (const [index, file] of files.entries()) {
      // A crash while a file is made may leave one behind that was never in use.
      const next = files.slice(index + 1).find((later) => later.firstSequence !== undefined);
      const { firstSequence, durableBefore } = next ?? {};
      const bound =
        firstSequence === undefined || durableBefore === undefined
          ? undefined
          : { firstSequence, durableBefore };
      closed.push(await this.#replayFile(file, bound));
    }
    const nextSequence = this.#expected ?? 1;
    return {
      files: closed,
      nextSequence,
      durableBefore: Math.min(this.#durableBefore, nextSequence),
      nextNumber: (numbers.at(-1) ?? 0) + 1,
      recordCount: this.#recordCount,
      damages: this.#damages,
      damageCount: this.#damageCount,
      recordsLost: this.#recordsLost,
      tailBytes: this.#tailBytes,
    };
  }

  /** What a file says of itself: in its header, else in the first record that can be read. */
  async #inspect(number: number): Promise<FoundFile> {
    const path = join(this.#options.folder, logFileName(number));
    const reader = await this.#options.disk.open(path);
    try {
      const window = new LogWindow(reader);
      const header = decodeFileHeader(await window.bytes(0, FILE_HEADER_SIZE));
      if (header !== undefined && header.version !== LOG_VERSION) {
        throw new LogVersionError(path, header.version);
      }
      const { size } = window;
      if (header?.number === number) {
        const { id, firstSequence, durableBefore } = header;
        return { number, path, size, id, firstSequence, durableBefore, hasHeader: true };
      }
      for await (const item of scanLogFile(window, { number, id: undefined })) {
        if (item.kind !== 'record') continue;
        const { id, firstSequence } = item.header.file;
        const durableBefore = firstSequence;
        return { number, path, size, id, firstSequence, durableBefore, hasHeader: false };
      }
      const unknown = { id: undefined, firstSequence: undefined, durableBefore: 0 };
      return { number, path, size, ...unknown, hasHeader: false };
    } finally {
      await reader.close();
    }
  }

  /** `bound` is `undefined` for the newest file, which is cut behind its last whole record. */
  async #replayFile(file: FoundFile, bound: Bound | undefined): Promise<ClosedLogFile> {
    const { number, path, firstSequence } = file;
    const { disk } = this.#options;
    const reader = await disk.open(path);
    let end = Math.min(FILE_HEADER_SIZE, file.size);
    let timestampUsMax = Number.NEGATIVE_INFINITY;
    try {
      // A file whose header was never written whole holds nothing: it was never in use.
      if (!file.hasHeader && file.size > FILE_HEADER_SIZE) {
        await this.#damaged(reader, file, { offset: 0, size: FILE_HEADER_SIZE }, 'file_header');
      }
      // Nothing is known to come before the oldest file that says where it begins.
      const begin = firstSequence ?? this.#expected ?? bound?.firstSequence ?? 1;
      this.#expected = Math.max(begin, this.#expected ?? begin);
      const replay = await this.#replayRecords(reader, file, bound);
      end = Math.max(end, replay.end);
      timestampUsMax = replay.timestampUsMax;
      await this.#judge(reader, file, replay.holes, bound?.durableBefore ?? replay.durableBefore);
      if (bound === undefined) this.#durableBefore = replay.durableBefore;
      else this.#expected = Math.max(this.#expected, bound.firstSequence);
    } finally {
      await reader.close();
    }
    // Also when nothing is cut: what was replayed is durable from here on.
    if (bound === undefined) await disk.truncate(path, end);
    this.#bytesDone += file.size;
    this.#progress(0);
    const size = bound === undefined ? end : file.size;
    return { number, firstSequence: firstSequence ?? this.#expected, size, timestampUsMax };
  }

  async #replayRecords(
    reader: DiskReader,
    file: FoundFile,
    bound: Bound | undefined,
  ): Promise<{ end: number; timestampUsMax: number; durableBefore: number; holes: Hole[] }> {
    const voidFrom = bound?.firstSequence ?? Number.POSITIVE_INFINITY;
    const holes: Hole[] = [];
    let end = 0;
    let timestampUsMax = Number.NEGATIVE_INFINITY;
    let durableBefore = file.firstSequence ?? 0;
    for await (const item of scanLogFile(new LogWindow(reader), file)) {
      const expected = must(this.#expected);
      if (expected >= voidFrom) break;
      const { offset, size } = item;
      if (item.kind === 'damage' || item.header.sequence < expected) {
        holes.push({ offset, size, from: expected, to: expected });
        continue;
      }
      const { sequence } = item.header;
      if (sequence >= voidFrom) break;
      durableBefore = Math.max(durableBefore, item.header.durableBefore);
      if (sequence > expected) closeHole(holes, { offset, size: 0, from: expected, to: sequence });
      this.#expected = sequence + 1;
      timestampUsMax = Math.max(timestampUsMax, await this.#replay(reader, file, item));
      end = offset + size;
      this.#progress(end);
    }
    const expected = must(this.#expected);
    if (bound !== undefined && bound.firstSequence > expected) {
      closeHole(holes, { offset: file.size, size: 0, from: expected, to: bound.firstSequence });
    }
    return { end, timestampUsMax, durableBefore, holes };
  }

  /** Tells damage from what a crash cut off, which begins at the sequence `durableBefore`. */
  async #judge(
    reader: DiskReader,
    file: FoundFile,
    holes: readonly Hole[],
    durableBefore: number,
  ): Promise<void> {
    for (const hole of holes) {
      const isTail = hole.from >= durableBefore;
      this.#recordsLost += Math.max(0, Math.min(hole.to, durableBefore) - hole.from);
      if (hole.size > 0) await this.#damaged(reader, file, hole, isTail ? 'tail' : 'record');
      else if (!isTail) {
        const { offset, size } = hole;
        const name = logFileName(file.number);
        this.#report({ file: name, offset, size, reason: 'missing', quarantined: undefined });
      }
    }
  }

  /** Resolves to the newest timestamp of the record. */
  async #replay(
    reader: DiskReader,
    file: FoundFile,
    item: Extract<LogItem, { kind: 'record' }>,
  ): Promise<number> {
    const { sequence } = item.header;
    try {
      const envelope = decodeEnvelope(item.envelope);
      const batch = (): Batch => decodeBatch(envelope, item.data);
      await this.#options.apply({ ...envelope, sequence, batch });
      this.#recordCount++;
      return envelope.timestampUsMax;
    } catch (error) {
      if (!(error instanceof RecordError)) throw error;
      this.#recordsLost++;
      await this.#damaged(reader, file, item, 'not_applicable');
      return Number.NEGATIVE_INFINITY;
    }
  }

  async #damaged(
    reader: DiskReader,
    file: FoundFile,
    place: { readonly offset: number; readonly size: number },
    reason: LogDamage['reason'],
  ): Promise<void> {
    const name = logFileName(file.number);
    const { offset, size } = place;
    let quarantined: string | undefined;
    try {
      quarantined = await this.#options.quarantine.copy(reader, { file: name, offset, size });
    } catch {
      // It stays where it is, or it was the end of a write; a start must not fail for want of a copy.
    }
    if (reason === 'tail') this.#tailBytes += size;
    this.#report({ file: name, offset, size, reason, quarantined });
  }

  #report(damage: LogDamage): void {
    if (damage.reason !== 'tail') {
      this.#damageCount++;
      if (this.#damages.length < DAMAGES_LISTED_MAX) this.#damages.push(damage);
    }
    this.#options.onDamage(damage);
  }

  #progress(bytesOfFile: number): void {
    this.#options.onProgress({
      recordsDone: this.#recordCount,
      bytesDone: this.#bytesDone + bytesOfFile,
      bytesTotal: this.#bytesTotal,
    });
  }
}

/** Notes that sequences are missing: in the holes since the record before, else at a place of its own. */
function closeHole(holes: Hole[], hole: Hole): void {
  const last = holes.at(-1);
  if (last !== undefined && last.from === hole.from) last.to = hole.to;
  else holes.push(hole);
}
