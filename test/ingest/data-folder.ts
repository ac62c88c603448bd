import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { must } from '../../engine/assert.ts';
import { mergeSegments } from '../../engine/column/merge-segments.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { packImage } from '../../engine/column/packed-image.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { readFooter } from '../../engine/column/sealed-layout.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import { PARTITION_US, toPartition } from '../../ingest/partition.ts';
import type { SegmentFile } from '../../ingest/segment-file.ts';
import { SegmentFolder } from '../../ingest/segment-folder.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';

export const DAY = 20_468;

/** Microseconds since the epoch: `second` of the day, or of one after it. */
export function at(second: number, day = DAY): number {
  return day * PARTITION_US + second * 1e6;
}

/** Events at these times, with some metadata. */
export function eventsAt(...timesUs: readonly number[]): TestEvent[] {
  return timesUs.map((timestampUs) => ({
    id: `id-${timestampUs}`,
    timestampUs,
    event_message: 'GET | 200',
    project: 'alpha',
    metadata: { status: timestampUs % 7, path: `/rest/v1/orders/${timestampUs}` },
  }));
}

/** A data folder in a temporary place, written by what the service writes with. */
export class DataFolder {
  readonly path: string;
  readonly log: WriteAheadLog;
  readonly segments: SegmentFolder;
  readonly #posted = new Map<number, { source: string; events: readonly TestEvent[] }>();

  private constructor(path: string, log: WriteAheadLog, segments: SegmentFolder) {
    this.path = path;
    this.log = log;
    this.segments = segments;
  }

  static async make(fileBytesMax?: number): Promise<DataFolder> {
    const path = await mkdtemp(join(tmpdir(), 'weir-folder-'));
    const disk = new NodeDisk();
    await disk.makeFolder(join(path, 'log'));
    const log = await WriteAheadLog.open({
      ...{ disk, folder: join(path, 'log'), files: [], fileBytesMax },
      ...{ nextSequence: 1, durableBefore: 1, nextNumber: 1, onEvent: () => {} },
    });
    const { folder } = await SegmentFolder.recover({
      ...{ disk, path: join(path, 'segments'), quarantinePath: join(path, 'quarantine') },
      ...{ retentionNowUs: at(0, DAY + 1), retentionUs: 90 * PARTITION_US },
      pack: async (buffer) => packImage(buffer),
    });
    return new DataFolder(path, log, folder);
  }

  async remove(): Promise<void> {
    await this.log.close();
    await rm(this.path, { recursive: true });
  }

  /** Posts events; resolves to the sequence of their record. */
  async post(source: string, events: readonly TestEvent[]): Promise<number> {
    const batch = batchOf(events);
    const sequence = await this.log.append({ source, receivedUs: 0, arrivalBase: 0, batch });
    this.#posted.set(sequence, { source, events });
    return sequence;
  }

  /** The sequence that no record had yet. */
  get nextSequence(): number {
    return Math.max(0, ...this.#posted.keys()) + 1;
  }

  /** Seals the records of a source from `first` to `last` to a file for each day. */
  async store(source: string, first: number, last = first): Promise<SegmentFile[]> {
    const stored: SegmentFile[] = [];
    for (const buffer of this.seal(source, first, last))
      stored.push(await this.add(source, buffer, first, last));
    return stored;
  }

  /** The segments, one for each day, of some records of a source. */
  seal(source: string, first: number, last = first): readonly SharedArrayBuffer[] {
    const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
    for (let sequence = first; sequence <= last; sequence++) {
      const { source: its, events } = must(this.#posted.get(sequence));
      if (its !== source) continue;
      segment.append(batchOf(events), 0, events.length);
    }
    segment.publish();
    return sealSegment(segment.handle(), { partitionUs: PARTITION_US });
  }

  add(
    source: string,
    buffer: SharedArrayBuffer,
    first: number,
    last = first,
  ): Promise<SegmentFile> {
    const partition = toPartition(readFooter(buffer).timestampUsMax);
    const covered = [{ fromSequence: first, throughSequence: last }];
    return this.segments.add({ source, partition, buffer, covered });
  }

  /** Puts one file in place of some. */
  async merge(files: readonly SegmentFile[]): Promise<SegmentFile | undefined> {
    const buffers: SharedArrayBuffer[] = [];
    for (const file of files) buffers.push((await file.load()).buffer);
    return this.segments.replace(mergeSegments(buffers), files);
  }

  /** Turns one bit of the byte at `offset` of a file; negative offsets count from its end. */
  async turn(path: string, offset: number): Promise<void> {
    const bytes = await readFile(path);
    const index = offset < 0 ? bytes.length + offset : offset;
    bytes[index]! ^= 4;
    await writeFile(path, bytes);
  }

  /** Path of the log file of a number. */
  logFile(number: number): string {
    return join(this.path, 'log', `${String(number).padStart(8, '0')}.log`);
  }

  /** Every name below the folder with its size and time of change. */
  async contents(): Promise<readonly string[]> {
    const entries = await readdir(this.path, { recursive: true, withFileTypes: true });
    const lines = entries.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      const { size, mtimeMs, ctimeMs } = await stat(path);
      return `${relative(this.path, path)} ${size} ${mtimeMs} ${ctimeMs}`;
    });
    return (await Promise.all(lines)).sort();
  }
}

/** Gives a folder of its own to a test, and removes it afterwards. */
export async function withFolder(
  use: (folder: DataFolder) => Promise<void>,
  fileBytesMax?: number,
): Promise<void> {
  const folder = await DataFolder.make(fileBytesMax);
  try {
    await use(folder);
  } finally {
    await folder.remove();
  }
}
