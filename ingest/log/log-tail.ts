import { join } from 'node:path';
import type { Batch } from '../../engine/columns.ts';
import { type Disk, DiskError, type DiskReader } from '../disk/disk.ts';
import { SteadyDisk } from '../disk/steady-disk.ts';
import { FILE_HEADER_SIZE, logFileName } from './log-layout.ts';
import { type LogItem, scanLogFile } from './log-scan.ts';
import {
  describeLogFile,
  type FoundFile,
  listLogNumbers,
  type ReplayedRecord,
} from './log-walk.ts';
import { LogWindow } from './log-window.ts';
import { decodeBatch, decodeEnvelope, RecordError } from './record-body.ts';

/** A file whose first sequence is known. It holds the records [firstSequence, voidFrom). */
type TailedFile = Pick<FoundFile, 'number' | 'path' | 'id'> & {
  readonly firstSequence: number;
  readonly voidFrom: number;
};

/** No file of the log has a record that must be there. */
export class LogMissingError extends Error {
  constructor(folder: string, sequence: number) {
    super(`${folder} must have a file with record ${sequence}; got none`);
    this.name = 'LogMissingError';
  }
}

/**
 * Reads the records of a log, each once and in order, while another part of the process writes the log and trims what
 * was read. Changes nothing. Reading goes on where it stopped, so that a record that was just written comes from the
 * system's memory.
 *
 * A damaged record is passed over: the start of a service reports damage, and a reader that stopped here would keep all
 * later records.
 */
export class LogTail {
  readonly #disk: SteadyDisk;
  readonly #folder: string;
  /** Of files that were begun; what they state never changes. */
  readonly #files = new Map<number, FoundFile>();
  #sequence: number;
  /** Where the next record is expected; `undefined` before the first one. */
  #place: { readonly number: number; readonly offset: number } | undefined;
  #missingCount = 0;

  /** `sequence`: of the first record to read. */
  constructor(disk: Disk, folder: string, sequence: number) {
    this.#disk = SteadyDisk.of(disk);
    this.#folder = folder;
    this.#sequence = sequence;
  }

  /** All records before this one were read, or are missing. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Number of sequences that were passed over because they have no readable record. */
  get missingCount(): number {
    return this.#missingCount;
  }

  /**
   * Yields the next records before the sequence `end`, all of which must be durable. A record's data is valid until the
   * next one is asked for. Stopping early is allowed; the record that was yielded last counts as read.
   *
   * Rejects with a ReadError if the disk fails, with a LogVersionError, or with a LogMissingError. Reading again is
   * allowed then.
   */
  async *read(end: number): AsyncGenerator<ReplayedRecord> {
    while (this.#sequence < end) {
      const file = await this.#findFile();
      const fileEnd = Math.min(end, file.voidFrom);
      // The files before it are gone.
      this.#passTo(Math.min(file.firstSequence, fileEnd));
      const reader = await this.#disk.open(file.path);
      try {
        yield* this.#readFile(reader, file, fileEnd);
      } finally {
        await reader.close();
      }
      this.#passTo(fileEnd);
    }
  }

  /** The newest file that begins at or before the next record, or else the oldest file. */
  async #findFile(): Promise<TailedFile> {
    const files = await this.#listFiles();
    let found: TailedFile | undefined;
    let voidFrom = Number.POSITIVE_INFINITY;
    for (const file of files.toReversed()) {
      const { number, path, id, firstSequence } = file;
      if (firstSequence === undefined) continue;
      if (found !== undefined && found.firstSequence <= this.#sequence) break;
      // A later file without records voids nothing of an earlier one but what is void already.
      if (firstSequence < voidFrom) found = { number, path, id, firstSequence, voidFrom };
      voidFrom = Math.min(voidFrom, firstSequence);
    }
    if (found === undefined) throw new LogMissingError(this.#folder, this.#sequence);
    return found;
  }

  /** The files of the log, oldest first. */
  async #listFiles(): Promise<FoundFile[]> {
    const numbers = listLogNumbers(await this.#disk.list(this.#folder));
    const isThere = new Set(numbers);
    for (const number of this.#files.keys()) if (!isThere.has(number)) this.#files.delete(number);
    const files: FoundFile[] = [];
    for (const number of numbers) {
      const file = this.#files.get(number) ?? (await this.#describe(number));
      if (file === undefined) continue;
      // Without a first sequence the file is being begun, or was never used.
      if (file.firstSequence !== undefined) this.#files.set(number, file);
      files.push(file);
    }
    return files;
  }

  /** `undefined` if the file was trimmed meanwhile. */
  async #describe(number: number): Promise<FoundFile | undefined> {
    const path = join(this.#folder, logFileName(number));
    try {
      const reader = await this.#disk.open(path);
      try {
        return await describeLogFile(number, path, reader);
      } finally {
        await reader.close();
      }
    } catch (error) {
      if (error instanceof DiskError && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async *#readFile(
    reader: DiskReader,
    file: TailedFile,
    end: number,
  ): AsyncGenerator<ReplayedRecord> {
    const isGoingOn = this.#place?.number === file.number;
    const start = isGoingOn ? this.#place!.offset : FILE_HEADER_SIZE;
    for await (const item of scanLogFile(new LogWindow(reader), file, start)) {
      if (item.kind === 'damage' || item.header.sequence < this.#sequence) continue;
      const { sequence } = item.header;
      if (sequence >= end) return;
      this.#passTo(sequence);
      this.#sequence = sequence + 1;
      this.#place = { number: file.number, offset: item.offset + item.size };
      const record = recordOf(item);
      if (record === undefined) this.#missingCount++;
      else yield record;
      // Only here, because what comes after it need not be durable, or whole.
      if (this.#sequence === end) return;
    }
  }

  #passTo(sequence: number): void {
    if (sequence <= this.#sequence) return;
    this.#missingCount += sequence - this.#sequence;
    this.#sequence = sequence;
  }
}

/** `undefined` if the item is not a record that can be applied. */
function recordOf(item: Extract<LogItem, { kind: 'record' }>): ReplayedRecord | undefined {
  try {
    const envelope = decodeEnvelope(item.envelope);
    const decoded = decodeBatch(envelope, item.data);
    const batch = (): Batch => decoded;
    return { ...envelope, sequence: item.header.sequence, batch };
  } catch (error) {
    if (error instanceof RecordError) return undefined;
    throw error;
  }
}
