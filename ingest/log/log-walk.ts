import { join } from 'node:path';
import { type Batch, must } from '../../engine/columns.ts';
import { type Disk, DiskError, type DiskReader } from '../disk/disk.ts';
import { SteadyDisk } from '../disk/steady-disk.ts';
import { LOG_END_FILE, type LogEnd } from './log-end.ts';
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

/** A record of the log. `batch` decodes its data, which is valid until the next record is read. */
export type ReplayedRecord = RecordSummary & {
  readonly sequence: number;
  /** @throws RecordError if the data is not that of a batch. */
  readonly batch: () => Batch;
};

/** A damaged place of the log. */
export type WalkedDamage = {
  /** The name of the log file, or LOG_END_FILE. */
  readonly file: string;
  /** Offset and size in bytes; size 0 for missing records. */
  readonly offset: number;
  readonly size: number;
  readonly reason:
    | 'file_header'
    | 'record'
    /** The record is whole but cannot be applied. */
    | 'not_applicable'
    /** Records are missing. */
    | 'missing'
    /** The file with the end of the log is damaged, so it is unknown whether the last records exist. */
    | 'log_end'
    /** A write that a crash cut off: not acknowledged. */
    | 'tail';
  /** Number of records that existed and cannot be read here, and their first sequence. */
  readonly recordsLost: number;
  readonly firstSequence: number;
};

/** A file that was read to its end. */
export type WalkedFile = {
  readonly number: number;
  readonly path: string;
  readonly firstSequence: number;
  /** Bytes up to the end of its last whole record, and of the whole file. */
  readonly wholeSize: number;
  readonly size: number;
  /** The newest timestamp of its records; -Infinity if it has none. */
  readonly timestampUsMax: number;
  /** No later file determines where its records end. */
  readonly isNewest: boolean;
  /** Its header was never written completely, so it was never used. */
  readonly isUnused: boolean;
};

/** Receives the findings of a walk, which continues when a method resolves. */
export interface LogVisitor {
  /** A record of `byteSize` bytes, in the order of sequences. A RecordError skips this record only. */
  record(record: ReplayedRecord, byteSize: number): Promise<void>;
  /** `reader` reads the log file with the damage, if there is one, and is closed after the call. */
  damage(damage: WalkedDamage, reader: DiskReader | undefined): Promise<void>;
  fileEnd(file: WalkedFile): Promise<void>;
  /**
   * A file cannot be opened or read to its end. If this throws, the walk ends; else the rest of the file is skipped,
   * and nothing is reported of it.
   */
  unread(path: string, error: DiskError | LogVersionError): void;
  progress(bytesDone: number, bytesTotal: number): void;
}

export type LogWalkOptions = {
  readonly disk: Disk;
  readonly folder: string;
  /** The numbers of the files to walk, ascending. */
  readonly numbers: readonly number[];
  /** The end of the log, as read before the folder was listed. */
  readonly end: LogEnd | 'damaged' | undefined;
  readonly visitor: LogVisitor;
};

export type WalkedLog = {
  readonly nextSequence: number;
  /** Records from this sequence on may be missing, because a crash cut off the group that was being written. */
  readonly durableBefore: number;
  readonly recordCount: number;
};

/** A log file has a version that this program does not know. */
export class LogVersionError extends Error {
  readonly version: number;

  constructor(path: string, version: number) {
    super(`${path} must be of version ${LOG_VERSION}; got version ${version}`);
    this.name = 'LogVersionError';
    this.version = version;
  }
}

/** The numbers of the log files among the names, ascending. */
export function listLogNumbers(names: readonly string[]): number[] {
  const numbers = names.map(logFileNumber).filter((number) => number !== undefined);
  return numbers.sort((left, right) => left - right);
}

/**
 * Reads a log, oldest file first and each record once, and distinguishes damage from writes that were cut off. Changes
 * nothing. The log may grow meanwhile: each file is read up to its size when it was opened, and a group that is being written
 * looks like one that a crash cut off.
 */
export function walkLog(options: LogWalkOptions): Promise<WalkedLog> {
  return new LogWalk(options).run();
}

/** A log file, by what its header or its first record states. */
export type FoundFile = {
  readonly number: number;
  readonly path: string;
  readonly size: number;
  readonly id: bigint | undefined;
  /** `undefined` if neither the header nor a record states it. */
  readonly firstSequence: number | undefined;
  /** All records of earlier files before this sequence were durable. */
  readonly durableBefore: number;
  readonly hasHeader: boolean;
};

/** A range of a file without readable records. */
type Hole = {
  readonly offset: number;
  readonly size: number;
  /** The missing sequences, [from, to). */
  readonly from: number;
  to: number;
};

/** The end of a file's records, as the next file states it. */
type Bound = {
  readonly firstSequence: number;
  readonly durableBefore: number;
  /** Whether no file in between was skipped. */
  readonly isAdjacent: boolean;
};

class LogWalk {
  readonly #options: LogWalkOptions;
  readonly #disk: SteadyDisk;
  /** `undefined` if it is unknown, or if a skipped file may reach as far. */
  #end: LogEnd | undefined;
  #recordCount = 0;
  #bytesDone = 0;
  #bytesTotal = 0;
  /** The next expected sequence; `undefined` before the first one is known. */
  #expected: number | undefined;
  #durableBefore = 1;

  constructor(options: LogWalkOptions) {
    this.#options = options;
    this.#disk = SteadyDisk.of(options.disk);
    this.#end = options.end === 'damaged' ? undefined : options.end;
  }

  async run(): Promise<WalkedLog> {
    if (this.#options.end === 'damaged') await this.#reportDamagedEnd();
    const files: (FoundFile | undefined)[] = [];
    for (const number of this.#options.numbers) files.push(await this.#find(number));
    if (files.includes(undefined)) this.#end = undefined;
    this.#bytesTotal = files.reduce((sum, file) => sum + (file?.size ?? 0), 0);
    for (const [index, file] of files.entries()) {
      if (file !== undefined) await this.#walkFile(file, findBound(files.slice(index + 1)));
    }
    if (files.length === 0 && this.#end !== undefined) await this.#reportAllMissing(this.#end);
    const nextSequence = this.#expected ?? 1;
    return {
      nextSequence,
      durableBefore: Math.min(this.#durableBefore, nextSequence),
      recordCount: this.#recordCount,
    };
  }

  async #reportDamagedEnd(): Promise<void> {
    const place = { file: LOG_END_FILE, offset: 0, size: 0, firstSequence: 0 };
    const damage: WalkedDamage = { ...place, reason: 'log_end', recordsLost: 0 };
    await this.#options.visitor.damage(damage, undefined);
  }

  /** Reports the missing records of a log without files. */
  async #reportAllMissing(end: LogEnd): Promise<void> {
    const { firstSequence, acknowledgedBefore, fileNumber } = end;
    this.#expected = acknowledgedBefore;
    this.#durableBefore = acknowledgedBefore;
    const recordsLost = acknowledgedBefore - firstSequence;
    if (recordsLost <= 0) return;
    const place = { file: logFileName(fileNumber), offset: 0, size: 0, firstSequence };
    await this.#options.visitor.damage({ ...place, reason: 'missing', recordsLost }, undefined);
  }

  /** `undefined` if the file is skipped. */
  async #find(number: number): Promise<FoundFile | undefined> {
    const path = join(this.#options.folder, logFileName(number));
    return this.#reading(path, (reader) => describeLogFile(number, path, reader));
  }

  /** Runs `read` on a file; `undefined` if the file is skipped. */
  async #reading<T>(
    path: string,
    read: (reader: DiskReader) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      const reader = await this.#disk.open(path);
      try {
        return await read(reader);
      } finally {
        await reader.close();
      }
    } catch (error) {
      if (!(error instanceof DiskError || error instanceof LogVersionError)) throw error;
      this.#options.visitor.unread(path, error);
      return undefined;
    }
  }

  /** `bound` is `undefined` for the newest file. */
  async #walkFile(file: FoundFile, bound: Bound | undefined): Promise<void> {
    const walked = await this.#reading(file.path, (reader) => this.#walkOpen(reader, file, bound));
    if (walked === undefined) return;
    await this.#options.visitor.fileEnd(walked);
    this.#bytesDone += file.size;
    this.#progress(0);
  }

  async #walkOpen(
    reader: DiskReader,
    file: FoundFile,
    bound: Bound | undefined,
  ): Promise<WalkedFile> {
    const { number, path, firstSequence } = file;
    let wholeSize = Math.min(FILE_HEADER_SIZE, file.size);
    // A file without a complete header was never used, so it holds nothing.
    if (!file.hasHeader && file.size > FILE_HEADER_SIZE) {
      const place = { offset: 0, size: FILE_HEADER_SIZE, firstSequence: firstSequence ?? 0 };
      await this.#damaged(reader, file, { ...place, reason: 'file_header', recordsLost: 0 });
    }
    // Before the oldest file with a known start, no records are expected.
    const known = firstSequence ?? this.#expected ?? bound?.firstSequence;
    const begin = known ?? this.#end?.firstSequence ?? 1;
    this.#expected = Math.max(begin, this.#expected ?? begin);
    const walked = await this.#walkRecords(reader, file, bound);
    wholeSize = Math.max(wholeSize, walked.end);
    await this.#judge(reader, file, walked.holes, bound?.durableBefore ?? walked.durableBefore);
    if (bound === undefined) this.#durableBefore = walked.durableBefore;
    else this.#expected = Math.max(this.#expected, bound.firstSequence);
    return {
      ...{ number, path, wholeSize, timestampUsMax: walked.timestampUsMax },
      size: reader.size,
      firstSequence: firstSequence ?? this.#expected,
      isNewest: bound === undefined,
      isUnused: !file.hasHeader && file.size <= FILE_HEADER_SIZE,
    };
  }

  async #walkRecords(
    reader: DiskReader,
    file: FoundFile,
    bound: Bound | undefined,
  ): Promise<{ end: number; timestampUsMax: number; durableBefore: number; holes: Hole[] }> {
    const voidFrom = bound?.firstSequence ?? Number.POSITIVE_INFINITY;
    const acknowledgedBefore = this.#end?.acknowledgedBefore ?? 0;
    const holes: Hole[] = [];
    let end = 0;
    let timestampUsMax = Number.NEGATIVE_INFINITY;
    let durableBefore = Math.max(file.firstSequence ?? 0, acknowledgedBefore);
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
      timestampUsMax = Math.max(timestampUsMax, await this.#visit(reader, file, item));
      end = offset + size;
      this.#progress(end);
    }
    const expected = must(this.#expected);
    const endBefore = bound === undefined ? acknowledgedBefore : adjacentSequence(bound);
    if (endBefore > expected) {
      closeHole(holes, { offset: reader.size, size: 0, from: expected, to: endBefore });
      if (bound === undefined) this.#expected = endBefore;
    }
    return { end, timestampUsMax, durableBefore, holes };
  }

  /** Distinguishes damage from a write that a crash cut off, which begins at the sequence `durableBefore`. */
  async #judge(
    reader: DiskReader,
    file: FoundFile,
    holes: readonly Hole[],
    durableBefore: number,
  ): Promise<void> {
    for (const { offset, size, from, to } of holes) {
      const isTail = from >= durableBefore;
      if (size === 0 && isTail) continue;
      const recordsLost = Math.max(0, Math.min(to, durableBefore) - from);
      const reason = size === 0 ? 'missing' : isTail ? 'tail' : 'record';
      const place = { offset, size, firstSequence: from };
      await this.#damaged(reader, file, { ...place, reason, recordsLost });
    }
  }

  /** Resolves to the newest timestamp of the record. */
  async #visit(
    reader: DiskReader,
    file: FoundFile,
    item: Extract<LogItem, { kind: 'record' }>,
  ): Promise<number> {
    const { sequence } = item.header;
    const { offset, size } = item;
    try {
      const envelope = decodeEnvelope(item.envelope);
      const batch = (): Batch => decodeBatch(envelope, item.data);
      await this.#options.visitor.record({ ...envelope, sequence, batch }, size);
      this.#recordCount++;
      return envelope.timestampUsMax;
    } catch (error) {
      if (!(error instanceof RecordError)) throw error;
      const place = { offset, size, firstSequence: sequence };
      await this.#damaged(reader, file, { ...place, reason: 'not_applicable', recordsLost: 1 });
      return Number.NEGATIVE_INFINITY;
    }
  }

  async #damaged(
    reader: DiskReader,
    file: FoundFile,
    damage: Omit<WalkedDamage, 'file'>,
  ): Promise<void> {
    await this.#options.visitor.damage({ file: logFileName(file.number), ...damage }, reader);
  }

  #progress(bytesOfFile: number): void {
    this.#options.visitor.progress(this.#bytesDone + bytesOfFile, this.#bytesTotal);
  }
}

/** Reads a file's first sequence from its header, or from its first readable record. */
export async function describeLogFile(
  number: number,
  path: string,
  reader: DiskReader,
): Promise<FoundFile> {
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
}

/** The end of a file's records, from the files after it. A file that a crash left incomplete was never used. */
function findBound(later: readonly (FoundFile | undefined)[]): Bound | undefined {
  let isAdjacent = true;
  for (const file of later) {
    if (file === undefined) isAdjacent = false;
    else if (file.firstSequence !== undefined) {
      const { firstSequence, durableBefore } = file;
      return { firstSequence, durableBefore, isAdjacent };
    }
  }
  return undefined;
}

/** The sequence that the records of the previous file must reach; 0 if a file in between was skipped. */
function adjacentSequence({ isAdjacent, firstSequence }: Bound): number {
  return isAdjacent ? firstSequence : 0;
}

/** Records missing sequences: in the holes since the last record, or at a place of their own. */
function closeHole(holes: Hole[], hole: Hole): void {
  const last = holes.at(-1);
  if (last !== undefined && last.from === hole.from) last.to = hole.to;
  else holes.push(hole);
}
