import { must } from '../engine/assert.ts';
import type { PartRows } from '../engine/column/divide-rows.ts';
import type { SealedSegmentHandle, SegmentContent } from '../engine/column/segment.ts';
import { SegmentDamagedError, SegmentGoneError } from '../engine/column/segment-image.ts';
import type { ScanScope, TimeScope } from '../engine/column/snapshot.ts';
import { type HeldParts, HeldSegment, type SegmentIds } from './held-segment.ts';
import { MERGE_RETRY_TICKS_MAX } from './limits.ts';
import { LostDays } from './lost-days.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { chooseMerge, type MergeCandidate } from './merge-choice.ts';
import { PARTITION_US, partitionOf } from './partition.ts';
import type { SegmentFile } from './segment-file.ts';
import type { PartitionKey, SegmentFolder, SegmentLoad } from './segment-folder.ts';
import { SegmentPartitions, type SegmentTotals } from './segment-partitions.ts';
import type { SegmentSummary } from './segment-summary.ts';

/** Which rows segments are sealed from. */
export type SealOrigin = {
  /** Every record of the source from the first to the last of these sequences, all their rows. */
  readonly firstSequence: number;
  readonly lastSequence: number;
};

/**
 * A step of keeping segments in files that failed; each kind is reported once until it has succeeded. Of reads by
 * queries only failures come here: they are told once until a tick has seen none.
 */
export type StorageFailure = {
  readonly step: 'store' | 'merge' | 'drop' | 'load' | 'read';
  readonly source: string;
  readonly error: unknown;
};

/** Where sealed segments become durable, and small ones large. */
export type SegmentStorage = {
  readonly folder: SegmentFolder;
  /** The rows of several segments as one, or those of a part. */
  readonly merge: (
    handles: readonly SealedSegmentHandle[],
    part?: PartRows,
  ) => Promise<SharedArrayBuffer>;
  /** Divides the rows of several segments into parts of at most so many rows, as `divideRows` does. */
  readonly divide: (
    handles: readonly SealedSegmentHandle[],
    rowsMax: number,
  ) => Promise<readonly PartRows[]>;
  readonly onFailure: (failure: StorageFailure) => void;
  readonly onDamage: (damage: SegmentDamage) => void;
};

/** So much larger than its share of a day a part may be: projects are not divided, and a small part would be left. */
const PART_ROOM = 9 / 8;

/** What a stored segment lost. */
export type SegmentDamage = PartitionKey & {
  /** Of the damaged file, where it was. */
  readonly path: string;
  readonly load: Extract<SegmentLoad, { kind: 'repaired' | 'lost' }>;
};

export type SealedStats = SegmentTotals & {
  readonly mergeCount: number;
  readonly storageFailureCount: number;
};

/** The segments that one open segment was sealed to and that no file holds yet. */
type UnstoredSealing = { readonly origin: SealOrigin; readonly segments: HeldSegment[] };

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
  readonly #budget: MemoryBudget;
  readonly #onChange: () => void;
  readonly #partitions = new SegmentPartitions();
  readonly #unstored: UnstoredSealing[] = [];
  /** Days whose files could not be removed. */
  readonly #undropped = new Set<number>();
  readonly #lostDays = new LostDays();
  readonly #failing = new Set<StorageFailure['step']>();
  #storage: SegmentStorage | undefined;
  /** Set while segments are written; never rejects. */
  #storing: Promise<void> | undefined;
  #merging: Promise<void> | undefined;
  readonly #repairing = new Map<number, Promise<boolean>>();
  #ticksToMerge = 0;
  /** Whether a query could not read a file since the last tick. */
  #hasUnread = false;
  #retryTicks = 1;
  #mergeCount = 0;
  #storageFailureCount = 0;

  constructor(parts: {
    readonly source: string;
    readonly summarize: (buffer: SharedArrayBuffer) => SegmentSummary;
    readonly ids: SegmentIds;
    readonly budget: MemoryBudget;
    /** Called when what is in memory has changed, or what of it may leave. */
    readonly onChange: () => void;
  }) {
    this.#source = parts.source;
    this.#summarize = parts.summarize;
    this.#ids = parts.ids;
    this.#budget = parts.budget;
    this.#onChange = parts.onChange;
  }

  /** From now on segments are kept in files. Those that are there already are not. */
  useStorage(storage: SegmentStorage): void {
    this.#storage = storage;
  }

  /** A segment that is in a file already. Nothing of it is in memory before a query asks for it. */
  restore(file: SegmentFile, summary: SegmentSummary): void {
    const partition = this.#partitions.insert(HeldSegment.stored(this.#partsOf(summary), file));
    partition.quietSinceUs = (partition.day + 1) * PARTITION_US;
  }

  /**
   * Segments just sealed, of all rows of their origin. Throws when they hold another number of rows
   * than `rowCount`; nothing has changed then. Gives what they hold.
   */
  add(
    buffers: readonly SharedArrayBuffer[],
    origin: SealOrigin,
    rowCount: number,
  ): readonly SegmentContent[] {
    const segments = buffers.map((buffer) => this.#segment(buffer));
    const sealedCount = segments.reduce((sum, { summary }) => sum + summary.rowCount, 0);
    if (sealedCount !== rowCount) {
      throw new Error(`sealing made ${sealedCount} rows of ${rowCount}`);
    }
    for (const segment of segments) this.#partitions.insert(segment);
    const contents = segments.map(({ content }) => content);
    if (this.#storage === undefined) return contents;
    const { firstSequence, lastSequence } = origin;
    this.#unstored.push({ origin: { firstSequence, lastSequence }, segments });
    this.#startStoring();
    return contents;
  }

  /** Handles of the segments that may hold rows of the scope; oldest partitions first. */
  handles(scope: ScanScope): SealedSegmentHandle[] {
    return this.#partitions.handles(scope);
  }

  /** Of this day rows, or values of rows, were lost to damage. */
  noteLost(day: number): void {
    this.#lostDays.add(day);
  }

  /** Days of the scope of which rows, or values of rows, were lost to damage. */
  lostDays(scope: TimeScope): readonly number[] {
    return this.#lostDays.within(scope);
  }

  /** The first record with rows in a segment that no file holds yet; `undefined`: all are in files. */
  get firstUnstoredSequence(): number | undefined {
    const firsts = this.#unstored.map(({ origin }) => origin.firstSequence);
    return firsts.length === 0 ? undefined : Math.min(...firsts);
  }

  /** Bytes of segments that are to be in files and are not yet. */
  get unstoredSize(): number {
    let size = 0;
    for (const { segments } of this.#unstored) {
      for (const segment of segments) size += segment.unstoredSize;
    }
    return size;
  }

  /** Tries again what failed, and drops the partitions that end before `oldestUs`. */
  tick(nowUs: number, oldestUs: number): void {
    for (const partition of this.#partitions) partition.quietSinceUs ??= nowUs;
    this.#ticksToMerge = Math.max(0, this.#ticksToMerge - 1);
    if (!this.#hasUnread) this.#failing.delete('read');
    this.#hasUnread = false;
    this.#startStoring();
    for (;;) {
      const over = this.#partitions.takeBefore(oldestUs);
      if (over === undefined) break;
      for (const segment of over.segments) segment.drop();
      this.#undropped.add(over.day);
    }
    this.#lostDays.forgetBefore(oldestUs);
    for (const day of this.#undropped) void this.#dropFiles(day);
  }

  /**
   * Begins to merge some segments of one partition, of at most so many bytes in memory. Returns `undefined` if there are
   * none worth it, or if a merge is running; never rejects. A partition that has got no rows since `quietUs` is taken to
   * get no more.
   */
  mergeSome(quietUs: number, bytesMax = Number.POSITIVE_INFINITY): Promise<void> | undefined {
    if (this.#storage === undefined || this.#merging !== undefined || this.#ticksToMerge > 0) {
      return undefined;
    }
    for (const { segments, quietSinceUs = Number.POSITIVE_INFINITY } of this.#partitions) {
      const candidates = segments.flatMap((segment) =>
        segment.file === undefined ? [] : [{ ...candidateOf(segment, segment.file), segment }],
      );
      const chosen = chooseMerge(candidates, quietSinceUs <= quietUs, this.#budget.mergeBounds);
      if (chosen === undefined || chosen.byteSize > bytesMax) continue;
      const { partCount } = chosen;
      const some = chosen.segments.map(({ segment }) => segment);
      this.#merging = this.#tryToMerge(() =>
        partCount === 1 ? this.#merge(some) : this.#mergeByParts(some, partCount),
      ).finally(() => {
        this.#merging = undefined;
      });
      return this.#merging;
    }
    return undefined;
  }

  /** All of them, oldest partitions first. */
  segments(): Iterable<HeldSegment> {
    return this.#partitions.segments();
  }

  /**
   * Does what can be done about a segment that a thread found damaged; `undefined` when it is none of
   * these. True when there is another in its place, or none; never rejects.
   */
  repair(id: number): Promise<boolean> | undefined {
    const underWay = this.#repairing.get(id);
    if (underWay !== undefined) return underWay;
    for (const segment of this.segments()) {
      if (segment.id !== id) continue;
      const repairing = this.#repair(segment).finally(() => this.#repairing.delete(id));
      this.#repairing.set(id, repairing);
      return repairing;
    }
    return undefined;
  }

  /** A query could not read the file of a segment, if it is one of these. It stays as it is. */
  noteUnread(id: number, error: Error): void {
    for (const segment of this.segments()) {
      if (segment.id !== id) continue;
      this.#failed('read', error);
      this.#hasUnread = true;
    }
  }

  /** After the storing that is under way has ended, well or not; `undefined` when none is. */
  storing(): Promise<void> | undefined {
    return this.#storing;
  }

  /** After all writing that is under way has ended, well or not. */
  async settled(): Promise<void> {
    while (this.#storing !== undefined || this.#merging !== undefined) {
      await this.#storing;
      await this.#merging;
    }
  }

  stats(): SealedStats {
    return {
      ...this.#partitions.totals(),
      mergeCount: this.#mergeCount,
      storageFailureCount: this.#storageFailureCount,
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
  async #store(segment: HeldSegment, origin: SealOrigin): Promise<boolean> {
    const partition = partitionOf(segment.summary.timestampUsMax);
    const { folder } = must(this.#storage, 'there is a folder to store in');
    if (this.#partitions.holding(segment) === undefined) return true;
    const { firstSequence, lastSequence } = origin;
    const covered = [{ fromSequence: firstSequence, throughSequence: lastSequence }];
    return this.#attempt('store', async () => {
      const { buffer } = segment.handle();
      const file = await folder.add({ source: this.#source, partition, buffer, covered });
      if (this.#partitions.holding(segment) === undefined) return;
      segment.becomeStored(file, { buffer, usedAt: this.#budget.clock });
      this.#onChange();
    });
  }

  async #tryToMerge(merge: () => Promise<void>): Promise<void> {
    const isDone = await this.#attempt('merge', merge);
    this.#retryTicks = isDone ? 1 : Math.min(this.#retryTicks * 2, MERGE_RETRY_TICKS_MAX);
    this.#ticksToMerge = isDone ? 0 : this.#retryTicks;
  }

  async #merge(segments: readonly HeldSegment[]): Promise<void> {
    const { folder, merge } = must(this.#storage, 'there is a folder to store in');
    // Being read to be merged is not being in use.
    const usedAt = Math.max(...segments.map(({ lastUse }) => lastUse));
    const buffer = await this.#readOrRepair(segments, merge);
    if (buffer === undefined) return;
    await folder.replace(buffer, filesOf(segments), (file) => {
      const merged = HeldSegment.stored(this.#partsOf(this.#summarize(buffer)), file);
      const contents = segments.map(({ content }) => content);
      const became = (): void => this.#ids.became(contents, merged.content);
      if (this.#takePlace(segments, [merged], became)) {
        merged.becomeStored(file, { buffer, usedAt });
        this.#onChange();
      }
    });
  }

  /** The same in several segments, of which few have rows of the same project. Nothing of them is in memory then. */
  async #mergeByParts(segments: readonly HeldSegment[], partCount: number): Promise<void> {
    const { folder, merge, divide } = must(this.#storage, 'there is a folder to store in');
    const rowCount = segments.reduce((sum, { summary }) => sum + summary.rowCount, 0);
    const rowsMax = Math.ceil((PART_ROOM * rowCount) / partCount);
    const parts = await this.#readOrRepair(segments, (handles) => divide(handles, rowsMax));
    if (parts === undefined) return;
    const summaries: SegmentSummary[] = [];
    const make = async (index: number): Promise<SharedArrayBuffer | undefined> => {
      const part = must(parts[index]);
      const buffer = await this.#readOrRepair(segments, (handles) => merge(handles, part));
      if (buffer !== undefined) summaries.push(this.#summarize(buffer));
      return buffer;
    };
    await folder.replaceByParts(filesOf(segments), { count: parts.length, make }, (files) => {
      const merged = files.map((file, index) =>
        HeldSegment.stored(this.#partsOf(must(summaries[index])), file),
      );
      this.#takePlace(segments, merged);
    });
  }

  /** `undefined`: one of them was damaged or dropped, and is another now or gone. */
  async #readOrRepair<T>(
    segments: readonly HeldSegment[],
    read: (handles: readonly SealedSegmentHandle[]) => Promise<T>,
  ): Promise<T | undefined> {
    const files = segments.map(({ file }) => file);
    try {
      return await read(segments.map((segment) => segment.handle()));
    } catch (error) {
      if (error instanceof SegmentGoneError && !this.#isUnchanged(segments, files)) {
        return undefined;
      }
      if (!(error instanceof SegmentDamagedError)) throw error;
      if ((await this.repair(error.segmentId)) === false) throw error;
      return undefined;
    }
  }

  /** Whether all of them are held, and in these files still. */
  #isUnchanged(
    segments: readonly HeldSegment[],
    files: readonly (SegmentFile | undefined)[],
  ): boolean {
    const held = new Set(this.segments());
    return segments.every((segment, index) => held.has(segment) && segment.file === files[index]);
  }

  /** Calls `became` before the segments are dropped. Gives false, and changes nothing, where they were dropped before. */
  #takePlace(
    segments: readonly HeldSegment[],
    merged: readonly HeldSegment[],
    became: () => void = () => {},
  ): boolean {
    const held = this.#partitions.holding(must(segments[0]))?.segments;
    // Dropped meanwhile, before the files were replaced or since; late rows may have come since.
    if (held === undefined || !segments.every((segment) => held.includes(segment))) return false;
    became();
    for (const segment of segments) {
      held.splice(held.indexOf(segment), 1);
      segment.drop();
    }
    held.push(...merged);
    this.#mergeCount += 1;
    this.#onChange();
    return true;
  }

  async #repair(segment: HeldSegment): Promise<boolean> {
    const { file } = segment;
    if (file === undefined || this.#storage === undefined) return false;
    const { folder, onDamage } = this.#storage;
    let isChanged = false;
    const isDone = await this.#attempt('load', async () => {
      await folder.load(file, (load) => {
        isChanged = true;
        const { source, partition } = file.envelope;
        if (load.kind !== 'whole') onDamage({ source, partition, path: file.path, load });
        this.#takeLoaded(segment, load);
      });
    });
    // What the folder does not know any more was merged, or its day is over.
    return isDone || isChanged;
  }

  #takeLoaded(segment: HeldSegment, load: SegmentLoad): void {
    const held = this.#partitions.holding(segment)?.segments;
    if (held === undefined) return;
    if (load.kind === 'lost') {
      held.splice(held.indexOf(segment), 1);
      segment.drop();
    } else {
      const { buffer } = load;
      const content = { buffer, usedAt: this.#budget.clock };
      segment.becomeStored(load.segment, content, this.#summarize(buffer));
    }
    this.#onChange();
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
      this.#failed(step, error);
      return false;
    }
  }

  #failed(step: StorageFailure['step'], error: unknown): void {
    this.#storageFailureCount += 1;
    if (this.#failing.has(step)) return;
    this.#failing.add(step);
    this.#storage?.onFailure({ step, source: this.#source, error });
  }

  #segment(buffer: SharedArrayBuffer): HeldSegment {
    return HeldSegment.sealed(this.#partsOf(this.#summarize(buffer)), buffer);
  }

  #partsOf(summary: SegmentSummary): HeldParts {
    return { summary, ids: this.#ids, gauge: this.#budget.gauge };
  }
}

function candidateOf({ summary }: HeldSegment, { envelope }: SegmentFile): MergeCandidate {
  const { rowCount, byteSize } = summary;
  const { awaits, areBlocksWhole } = envelope;
  return { rowCount, byteSize, isPart: awaits.length > 0, areBlocksWhole };
}

function filesOf(segments: readonly HeldSegment[]): SegmentFile[] {
  return segments.map(({ file }) => must(file, 'what is merged is in files'));
}
