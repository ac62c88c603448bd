import { must } from '../engine/assert.ts';
import type { SealedSegmentHandle } from '../engine/column/segment.ts';
import type { ScanScope } from '../engine/column/snapshot.ts';
import { MERGE_RETRY_TICKS_MAX } from './limits.ts';
import { chooseMerge } from './merge-choice.ts';
import { PARTITION_US, partitionOf } from './partition.ts';
import type { SegmentFile } from './segment-file.ts';
import type { SegmentFolder } from './segment-folder.ts';

/** What a sealed segment says of itself without being read. */
export type SegmentSummary = {
  readonly rowCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  /** Bytes. */
  readonly byteSize: number;
  /** False only when no row is of the project and none of mixed ones. */
  mayHoldProject(projectKey: string): boolean;
};

/** Which rows segments are sealed from. */
export type SealOrigin = {
  /** Every record of the source from the first to the last of these sequences, all their rows. */
  readonly firstSequence: number;
  readonly lastSequence: number;
};

/** Numbers segments, and hears of those that are no more. */
export type SegmentIds = {
  readonly next: () => number;
  readonly drop: (id: number) => void;
};

/** A step of keeping segments in files that failed; each kind is told once until it has succeeded. */
export type StorageFailure = {
  readonly step: 'store' | 'merge' | 'drop';
  readonly source: string;
  readonly error: unknown;
};

/** Where sealed segments become durable, and small ones large. */
export type SegmentStorage = {
  readonly folder: SegmentFolder;
  /** The rows of several segments as one. */
  readonly merge: (buffers: readonly SharedArrayBuffer[]) => Promise<SharedArrayBuffer>;
  readonly onFailure: (failure: StorageFailure) => void;
};

export type SealedStats = {
  readonly rowCount: number;
  readonly segmentCount: number;
  /** Bytes in memory. */
  readonly byteSize: number;
  readonly storedCount: number;
  /** Bytes of segment files. */
  readonly storedSize: number;
  readonly mergeCount: number;
  readonly storageFailureCount: number;
  /** Infinity and -Infinity while there is no row. */
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
};

/** `file` is there once the segment is durable. */
type SealedSegment = {
  readonly handle: SealedSegmentHandle;
  readonly summary: SegmentSummary;
  file: SegmentFile | undefined;
};

/** Sealed segments with rows of one UTC day, which is the newest any of their rows has. */
type Partition = { readonly day: number; readonly segments: SealedSegment[] };

/** The segments that one open segment was sealed to and that no file holds yet. */
type UnstoredSealing = { readonly origin: SealOrigin; readonly segments: SealedSegment[] };

/**
 * The sealed segments of one source, by partition: in memory from the moment they are sealed, in
 * files a little later, in fewer and larger ones as time goes by.
 *
 * Invariant: a row is in exactly one segment here. What takes the place of what does so in one turn
 * of the event loop.
 */
export class SealedSegments {
  readonly #source: string;
  readonly #summarize: (buffer: SharedArrayBuffer) => SegmentSummary;
  readonly #ids: SegmentIds;
  /** Oldest first. */
  readonly #partitions: Partition[] = [];
  readonly #unstored: UnstoredSealing[] = [];
  /** Days whose files could not be removed. */
  readonly #undropped = new Set<number>();
  readonly #failing = new Set<StorageFailure['step']>();
  #storage: SegmentStorage | undefined;
  /** Set while segments are written; never rejects. */
  #storing: Promise<void> | undefined;
  #merging: Promise<void> | undefined;
  #ticksToMerge = 0;
  #retryTicks = 1;
  #mergeCount = 0;
  #storageFailureCount = 0;

  constructor(parts: {
    readonly source: string;
    readonly summarize: (buffer: SharedArrayBuffer) => SegmentSummary;
    readonly ids: SegmentIds;
  }) {
    this.#source = parts.source;
    this.#summarize = parts.summarize;
    this.#ids = parts.ids;
  }

  /** From now on segments are kept in files. Those that are there already are not. */
  useStorage(storage: SegmentStorage): void {
    this.#storage = storage;
  }

  /** A segment that is in a file already. */
  restore(file: SegmentFile, buffer: SharedArrayBuffer): void {
    this.#insert(this.#segment(buffer, file));
  }

  /**
   * Segments just sealed, of all rows of their origin. Throws when they hold another number of rows
   * than `rowCount`; nothing has changed then.
   */
  add(buffers: readonly SharedArrayBuffer[], origin: SealOrigin, rowCount: number): void {
    const segments = buffers.map((buffer) => this.#segment(buffer, undefined));
    const sealedCount = segments.reduce((sum, { summary }) => sum + summary.rowCount, 0);
    if (sealedCount !== rowCount) {
      throw new Error(`sealing made ${sealedCount} rows of ${rowCount}`);
    }
    for (const segment of segments) this.#insert(segment);
    if (this.#storage === undefined) return;
    const { firstSequence, lastSequence } = origin;
    this.#unstored.push({ origin: { firstSequence, lastSequence }, segments });
    this.#startStoring();
  }

  /** Handles of the segments that may hold rows of the scope; oldest partitions first. */
  handles(scope: ScanScope): SealedSegmentHandle[] {
    const handles: SealedSegmentHandle[] = [];
    const { projectKey } = scope;
    for (const { day, segments } of this.#partitions) {
      if ((day + 1) * PARTITION_US <= scope.timestampUsStart) continue;
      for (const { handle, summary } of segments) {
        if (!overlaps(summary, scope)) continue;
        if (projectKey === undefined || summary.mayHoldProject(projectKey)) handles.push(handle);
      }
    }
    return handles;
  }

  /** The first record with rows in a segment that no file holds yet; `undefined`: all are in files. */
  get firstUnstoredSequence(): number | undefined {
    const firsts = this.#unstored.map(({ origin }) => origin.firstSequence);
    return firsts.length === 0 ? undefined : Math.min(...firsts);
  }

  /** Tries again what failed, and drops the partitions that end before `oldestUs`. */
  tick(oldestUs: number): void {
    this.#ticksToMerge = Math.max(0, this.#ticksToMerge - 1);
    this.#startStoring();
    while (this.#partitions.length > 0) {
      const { day, segments } = this.#partitions[0]!;
      if ((day + 1) * PARTITION_US > oldestUs) break;
      this.#partitions.shift();
      for (const { handle } of segments) this.#ids.drop(handle.id);
      this.#undropped.add(day);
    }
    for (const day of this.#undropped) void this.#dropFiles(day);
  }

  /**
   * Begins to merge some segments of one partition. `undefined` when there are none worth it, or some
   * are being merged already; never rejects. Partitions that end before `quietUs` are taken to get
   * no more rows.
   */
  mergeSome(quietUs: number): Promise<void> | undefined {
    if (this.#storage === undefined || this.#merging !== undefined || this.#ticksToMerge > 0) {
      return undefined;
    }
    for (const { day, segments } of this.#partitions) {
      const candidates = segments.flatMap((segment) =>
        segment.file === undefined ? [] : [{ ...sizeOf(segment), segment }],
      );
      const chosen = chooseMerge(candidates, (day + 1) * PARTITION_US <= quietUs);
      if (chosen === undefined) continue;
      this.#merging = this.#merge(chosen.map(({ segment }) => segment)).finally(() => {
        this.#merging = undefined;
      });
      return this.#merging;
    }
    return undefined;
  }

  /** After all writing that is under way has ended, well or not. */
  async settled(): Promise<void> {
    while (this.#storing !== undefined || this.#merging !== undefined) {
      await this.#storing;
      await this.#merging;
    }
  }

  stats(): SealedStats {
    let timestampUsMin = Number.POSITIVE_INFINITY;
    let timestampUsMax = Number.NEGATIVE_INFINITY;
    const total = { rowCount: 0, segmentCount: 0, byteSize: 0, storedCount: 0, storedSize: 0 };
    for (const { summary, file } of this.#partitions.flatMap(({ segments }) => segments)) {
      total.rowCount += summary.rowCount;
      total.segmentCount += 1;
      total.byteSize += summary.byteSize;
      total.storedCount += file === undefined ? 0 : 1;
      total.storedSize += file?.byteSize ?? 0;
      timestampUsMin = Math.min(timestampUsMin, summary.timestampUsMin);
      timestampUsMax = Math.max(timestampUsMax, summary.timestampUsMax);
    }
    return {
      ...total,
      mergeCount: this.#mergeCount,
      storageFailureCount: this.#storageFailureCount,
      timestampUsMin,
      timestampUsMax,
    };
  }

  #startStoring(): void {
    if (this.#unstored.length === 0) return;
    this.#storing ??= this.#storeAll().finally(() => {
      this.#storing = undefined;
    });
  }

  /** Until all are in files, or one cannot be written: a later tick tries again. */
  async #storeAll(): Promise<void> {
    for (let sealing = this.#unstored[0]; sealing !== undefined; sealing = this.#unstored[0]) {
      for (let segment = sealing.segments[0]; segment !== undefined; ) {
        if (!(await this.#store(segment, sealing.origin))) return;
        sealing.segments.shift();
        segment = sealing.segments[0];
      }
      this.#unstored.shift();
    }
  }

  /** Whether the segment needs no more storing. */
  async #store(segment: SealedSegment, origin: SealOrigin): Promise<boolean> {
    const partition = partitionOf(segment.summary.timestampUsMax);
    const { folder } = must(this.#storage, 'there is a folder to store in');
    if (!this.#segmentsOf(partition).includes(segment)) return true;
    const { firstSequence, lastSequence } = origin;
    const covered = [{ fromSequence: firstSequence, throughSequence: lastSequence }];
    return this.#attempt('store', async () => {
      const { buffer } = segment.handle;
      segment.file = await folder.add({ source: this.#source, partition, buffer, covered });
    });
  }

  async #merge(segments: readonly SealedSegment[]): Promise<void> {
    const { folder, merge } = must(this.#storage, 'there is a folder to store in');
    const isDone = await this.#attempt('merge', async () => {
      const buffer = await merge(segments.map(({ handle }) => handle.buffer));
      const files = segments.map(({ file }) => must(file, 'what is merged is in files'));
      const file = await folder.replace(buffer, files);
      const partition = this.#partitions.find(({ day }) => day === file?.envelope.partition);
      // Dropped meanwhile, before the files were replaced or since.
      if (file === undefined || partition === undefined) return;
      for (const segment of segments) {
        partition.segments.splice(partition.segments.indexOf(segment), 1);
        this.#ids.drop(segment.handle.id);
      }
      partition.segments.push(this.#segment(buffer, file));
      this.#mergeCount += 1;
    });
    this.#retryTicks = isDone ? 1 : Math.min(this.#retryTicks * 2, MERGE_RETRY_TICKS_MAX);
    this.#ticksToMerge = isDone ? 0 : this.#retryTicks;
  }

  async #dropFiles(day: number): Promise<void> {
    this.#undropped.delete(day);
    if (this.#storage === undefined) return;
    const { folder } = this.#storage;
    const isDone = await this.#attempt('drop', () =>
      folder.dropPartition({ source: this.#source, partition: day }),
    );
    if (!isDone) this.#undropped.add(day);
  }

  /** Whether a step succeeded; tells when it first did not. */
  async #attempt(step: StorageFailure['step'], work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      this.#failing.delete(step);
      return true;
    } catch (error) {
      this.#storageFailureCount += 1;
      if (!this.#failing.has(step)) {
        this.#failing.add(step);
        this.#storage?.onFailure({ step, source: this.#source, error });
      }
      return false;
    }
  }

  #segment(buffer: SharedArrayBuffer, file: SegmentFile | undefined): SealedSegment {
    const handle: SealedSegmentHandle = { kind: 'sealed', id: this.#ids.next(), buffer };
    return { handle, summary: this.#summarize(buffer), file };
  }

  #segmentsOf(day: number): SealedSegment[] {
    return this.#partitions.find((partition) => partition.day === day)?.segments ?? [];
  }

  #insert(segment: SealedSegment): void {
    const day = partitionOf(segment.summary.timestampUsMax);
    let index = this.#partitions.length;
    while (index > 0 && this.#partitions[index - 1]!.day > day) index--;
    const partition = this.#partitions[index - 1];
    if (partition?.day === day) partition.segments.push(segment);
    else this.#partitions.splice(index, 0, { day, segments: [segment] });
  }
}

function sizeOf({ summary, handle }: SealedSegment): { rowCount: number; byteSize: number } {
  return { rowCount: summary.rowCount, byteSize: handle.buffer.byteLength };
}

type TimeRange = { readonly timestampUsMin: number; readonly timestampUsMax: number };

/** Whether some row of the range may be in the scope. */
export function overlaps(range: TimeRange, scope: ScanScope): boolean {
  return (
    range.timestampUsMax >= scope.timestampUsStart && range.timestampUsMin < scope.timestampUsEnd
  );
}
