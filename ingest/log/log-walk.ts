import { join } from 'node:path';
import { must } from '../../engine/assert.ts';
import type { Batch } from '../../engine/column/batch.ts';
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

/** A record as the log holds it; `batch` decodes its data, good until the next record is read. */
export type ReplayedRecord = RecordSummary & {
  readonly sequence: number;
  /** @throws RecordError when the data is not that of a batch. */
  readonly batch: () => Batch;
};

/** One place where the log is not as it was written. */
export type WalkedDamage = {
  /** Name of the log file, or LOG_END_FILE. */
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
    /** The file that says where the log ended cannot be read: whether its last records are there is not known. */
    | 'log_end'
    /** What a crash cut off while it was written: not acknowledged. */
    | 'tail';
  /** Records that were there once, that could not be read here, and from which sequence on. */
  readonly recordsLost: number;
  readonly firstSequence: number;
};

/** A file that was walked to its end. */
export type WalkedFile = {
  readonly number: number;
  readonly path: string;
  readonly firstSequence: number;
  /** Bytes, up to the end of its last whole record, and of all that is there. */
  readonly wholeSize: number;
  readonly size: number;
  /** Of all its records; -Infinity when it has none. */
  readonly timestampUsMax: number;
  /** No later file says where its records end for good. */
  readonly isNewest: boolean;
  /** Its header was never written whole: it was never in use. */
  readonly isUnused: boolean;
};

/** What is done with what a walk finds. The walk goes on when a method resolves. */
export interface LogVisitor {
  /** A record of `byteSize` bytes, in the order of sequences. A RecordError costs this record only. */
  record(record: ReplayedRecord, byteSize: number): Promise<void>;
  /** `reader` is of the log file that the damage is in, if there is one, and is closed behind the call. */
  damage(damage: WalkedDamage, reader: DiskReader | undefined): Promise<void>;
  fileEnd(file: WalkedFile): Promise<void>;
  /**
   * A file cannot be opened, or not be read to its end. Throws to end the walk; else the file is left out from
   * there on, and nothing is said of what is in it.
   */
  unread(path: string, error: DiskError | LogVersionError): void;
  progress(bytesDone: number, bytesTotal: number): void;
}

export type LogWalkOptions = {
  readonly disk: Disk;
  readonly folder: string;
  /** Of the files to walk, ascending. */
  readonly numbers: readonly number[];
  /** What was known of its end before the folder was listed. */
  readonly end: LogEnd | 'damaged' | undefined;
  readonly visitor: LogVisitor;
};

export type WalkedLog = {
  readonly nextSequence: number;
  /** Records from this sequence on may be missing: a crash cut off a group that was being written. */
  readonly durableBefore: number;
  readonly recordCount: number;
};

/** A log file of a version that this program does not know. */
export class LogVersionError extends Error {
  readonly version: number;

  constructor(path: string, version: number) {
    super(`${path} must be of version ${LOG_VERSION}; got version ${version}`);
    this.name = 'LogVersionError';
    this.version = version;
  }
}

/** The numbers of the log files among the names of a folder, ascending. */
export function logNumbersOf(names: readonly string[]): number[] {
  const numbers = names.map(logFileNumber).filter((number) => number !== undefined);
  return numbers.sort((left, right) => left - right);
}

/**
 * Reads a log, oldest file first, each record once, and tells damage from what was cut off. Changes
 * nothing, and needs nobody to stand still: of a file that grows it reads what was there when it was
 * opened, of which a group that is being written looks like one that a crash cut off.
 */
export function walkLog(options: LogWalkOptions): Promise<WalkedLog> {
  return new LogWalk(options).run();
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
type Bound = {
  readonly firstSequence: number;
  readonly durableBefore: number;
  /** No file in between was left out. */
  readonly isAdjacent: boolean;
};

class LogWalk {
  readonly #options: LogWalkOptions;
  readonly #disk: SteadyDisk;
  /** `undefined` when it is not known, or a file was left out that may reach as far. */
  #end: LogEnd | undefined;
  #recordCount = 0;
  #bytesDone = 0;
  #bytesTotal = 0;
  /** The sequence that should come next; `undefined` before the first is known. */
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
      if (file !== undefined) await this.#walkFile(file, boundOf(files.slice(index + 1)));
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

  /** Of a log without any file. */
  async #reportAllMissing(end: LogEnd): Promise<void> {
    const { firstSequence, acknowledgedBefore, fileNumber } = end;
    this.#expected = acknowledgedBefore;
    this.#durableBefore = acknowledgedBefore;
    const recordsLost = acknowledgedBefore - firstSequence;
    if (recordsLost <= 0) return;
    const place = { file: logFileName(fileNumber), offset: 0, size: 0, firstSequence };
    await this.#options.visitor.damage({ ...place, reason: 'missing', recordsLost }, undefined);
  }

  /** `undefined` when the file is left out. */
  async #find(number: number): Promise<FoundFile | undefined> {
    const path = join(this.#options.folder, logFileName(number));
    return this.#reading(path, (reader) => this.#describe(number, path, reader));
  }

  /** What `read` gives of a file; `undefined` when the file is left out. */
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

  /** What a file says of itself: in its header, else in the first record that can be read. */
  async #describe(number: number, path: string, reader: DiskReader): Promise<FoundFile> {
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
    // A file whose header was never written whole holds nothing: it was never in use.
    if (!file.hasHeader && file.size > FILE_HEADER_SIZE) {
      const place = { offset: 0, size: FILE_HEADER_SIZE, firstSequence: firstSequence ?? 0 };
      await this.#damaged(reader, file, { ...place, reason: 'file_header', recordsLost: 0 });
    }
    // Nothing is known to come before the oldest file that says where it begins.
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

  /** Tells damage from what a crash cut off, which begins at the sequence `durableBefore`. */
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

/** What the files behind one say of its end. A file that a crash left unfinished was never in use. */
function boundOf(later: readonly (FoundFile | undefined)[]): Bound | undefined {
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

/** Where the records of the file before must reach; 0 when a file in between was left out. */
function adjacentSequence({ isAdjacent, firstSequence }: Bound): number {
  return isAdjacent ? firstSequence : 0;
}

/** Notes that sequences are missing: in the holes since the record before, else at a place of its own. */
function closeHole(holes: Hole[], hole: Hole): void {
  const last = holes.at(-1);
  if (last !== undefined && last.from === hole.from) last.to = hole.to;
  else holes.push(hole);
}
