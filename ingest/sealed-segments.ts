import {
  must,
  type ScanScope,
  type SealedSegmentHandle,
  type SegmentContent,
  SegmentDamagedError,
  SegmentGoneError,
  type TimeScope,
} from '../engine/columns.ts';
import { type HeldParts, HeldSegment, type SegmentIds } from './held-segment.ts';
import { MERGE_RETRY_TICKS_MAX } from './limits.ts';
import { LostDays } from './lost-days.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { chooseMerge, type MergeCandidate, type MergeChoice } from './merge-choice.ts';
import { PARTITION_US, toPartition } from './partition.ts';
import { RetryWait } from './retry-wait.ts';
import type { SegmentEngine } from './segment-engine.ts';
import type { SegmentFile } from './segment-file.ts';
import type { PartitionKey, SegmentFolder, SegmentLoad } from './segment-folder.ts';
import { SegmentPartitions, type SegmentTotals } from './segment-partitions.ts';
import type { SegmentSummary } from './segment-summary.ts';

/** The log records from which segments are sealed. */
export type SealOrigin = {
  /** The range of sequences. The segments hold all rows of each record of the source in it. */
  readonly firstSequence: number;
  readonly lastSequence: number;
};

/**
 * A failed step of storing segments. Each kind is reported once until it succeeds; failed reads by queries are reported
 * once until a tick without one.
 */
export type StorageFailure = {
  readonly step: 'store' | 'merge' | 'drop' | 'load' | 'read';
  readonly source: string;
  readonly error: unknown;
};

/** Stores sealed segments durably, and merges small ones. */
export type SegmentStorage = {
  readonly folder: SegmentFolder;
  readonly merge: SegmentEngine['merge'];
  readonly divide: SegmentEngine['divide'];
  readonly onFailure: (failure: StorageFailure) => void;
  readonly onDamage: (damage: SegmentDamage) => void;
};

/**
 * The factor by which a part may exceed its share of a day: projects are not divided, and a small part would be left
 * otherwise.
 */
const PART_ROOM = 9 / 8;

/** The damage of a stored segment. */
export type SegmentDamage = PartitionKey & {
  /** The path of the damaged file before it was moved. */
  readonly path: string;
  readonly load: Extract<SegmentLoad, { kind: 'repaired' | 'lost' }>;
};

export type SealedStats = SegmentTotals & {
  readonly mergeCount: number;
  readonly storageFailureCount: number;
};

/** The segments that one open segment was sealed to and that no file holds yet. */
type UnstoredSealing = { readonly origin: SealOrigin; readonly segments: HeldSegment[] };

export type MergeRoom = {
  /** Bytes of memory that a merge may take. */
  readonly bytesMax?: number;
  /** All segments of a merge have fewer bytes than this together. */
  readonly totalBelow?: number;
};

/**
 * The sealed segments of one source, by partition. They are in memory when they are sealed, are then written to files,
 * and are merged to fewer and larger ones over time.
 *
 * Invariant: each row is in exactly one segment here. Segments are replaced within one turn of the event loop.
 */
export class SealedSegments {
  readonly #source: string;
  readonly #summarize: (buffer: SharedArrayBuffer) => SegmentSummary;
  readonly #ids: SegmentIds;
  readonly #budget: MemoryBudget;
  readonly #onChange: () => void;
  readonly #betweenSteps: (totalBytes: number) => Promise<boolean>;
  readonly #partitions = new SegmentPartitions();
  readonly #unstored: UnstoredSealing[] = [];
  /** Days whose files could not be removed. */
  readonly #undropped = new Set<number>();
  readonly #lostDays = new LostDays();
  readonly #failing = new Set<StorageFailure['step']>();
  #storage: SegmentStorage | undefined;
  /** Set while segments are written; never rejects. */
  #storing: Promise<void> | undefined;
  /** Segments that are being merged, and the merges under way; these never reject. */
  readonly #inMerge = new Set<HeldSegment>();
  readonly #merges = new Set<Promise<void>>();
  readonly #repairing = new Map<number, Promise<boolean>>();
  readonly #mergeRetry = new RetryWait(MERGE_RETRY_TICKS_MAX);
  /** Apart: the disk may have no room for a division and enough for the other merges. */
  readonly #divisionRetry = new RetryWait(MERGE_RETRY_TICKS_MAX);
  /** Whether a query failed to read a file since the last tick. */
  #hasUnread = false;
  #mergeCount = 0;
  #storageFailureCount = 0;

  constructor(parts: {
    readonly source: string;
    readonly summarize: (buffer: SharedArrayBuffer) => SegmentSummary;
    readonly ids: SegmentIds;
    readonly budget: MemoryBudget;
    /** Called when the memory of segments, or what of it can be evicted, has changed. */
    readonly onChange: () => void;
    /**
     * Called between the steps of a long merge, with the bytes of all that it merges. Smaller merges may run until it
     * resolves. Resolves to whether the long merge goes on.
     */
    readonly betweenSteps?: (totalBytes: number) => Promise<boolean>;
  }) {
    this.#source = parts.source;
    this.#summarize = parts.summarize;
    this.#ids = parts.ids;
    this.#budget = parts.budget;
    this.#onChange = parts.onChange;
    this.#betweenSteps = parts.betweenSteps ?? (() => Promise.resolve(true));
  }

  /** Stores later segments in files, but not those that are here already. */
  useStorage(storage: SegmentStorage): void {
    this.#storage = storage;
  }

  /** Adds a segment that is in a file already. Nothing of it is in memory before a query reads it. */
  restore(file: SegmentFile, summary: SegmentSummary): void {
    const partition = this.#partitions.insert(HeldSegment.stored(this.#createParts(summary), file));
    partition.quietSinceUs = (partition.day + 1) * PARTITION_US;
  }

  /**
   * Adds sealed segments with all rows of their origin. Returns their contents. Throws, and changes nothing, if the
   * number of their rows is not `rowCount`.
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

  /** Records that damage has lost rows or values of this day. */
  noteLost(day: number): void {
    this.#lostDays.add(day);
  }

  /** The days of the scope for which rows or values were lost to damage. */
  lostDays(scope: TimeScope): readonly number[] {
    return this.#lostDays.within(scope);
  }

  /** The first record with rows in a segment that no file holds yet; `undefined` if all rows are in files. */
  get firstUnstoredSequence(): number | undefined {
    const firsts = this.#unstored.map(({ origin }) => origin.firstSequence);
    return firsts.length === 0 ? undefined : Math.min(...firsts);
  }

  /** Bytes of segments that wait to be written to files. */
  get unstoredSize(): number {
    let size = 0;
    for (const { segments } of this.#unstored) {
      for (const segment of segments) size += segment.unstoredSize;
    }
    return size;
  }

  /** Retries failed steps, and drops partitions that end before `oldestUs`. */
  tick(nowUs: number, oldestUs: number): void {
    for (const partition of this.#partitions) partition.quietSinceUs ??= nowUs;
    this.#mergeRetry.tick();
    this.#divisionRetry.tick();
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
   * Starts to merge segments of one partition: a merge that takes at most `bytesMax` bytes of memory at a time, of segments
   * of fewer than `totalBelow` bytes together. Returns `undefined` if no merge is worthwhile. Never rejects. A partition
   * without new rows since `quietUs` is taken to be complete.
   */
  mergeSome(
    quietUs: number,
    { bytesMax = Number.POSITIVE_INFINITY, totalBelow = Number.POSITIVE_INFINITY }: MergeRoom = {},
  ): Promise<void> | undefined {
    if (this.#storage === undefined) return undefined;
    const { mergeBounds } = this.#budget;
    const bounds = { ...mergeBounds, byteSize: Math.min(mergeBounds.byteSize, bytesMax) };
    for (const { segments, quietSinceUs = Number.POSITIVE_INFINITY } of this.#partitions) {
      const candidates = segments.flatMap((segment) =>
        segment.file === undefined || this.#inMerge.has(segment)
          ? []
          : [{ ...createCandidate(segment, segment.file), segment }],
      );
      const chosen = chooseMerge(candidates, quietSinceUs <= quietUs, bounds);
      if (chosen === undefined || chosen.byteSize > bytesMax) continue;
      if (chosen.totalBytes >= totalBelow) continue;
      const retry = chosen.partCount === 1 ? this.#mergeRetry : this.#divisionRetry;
      if (retry.isWaiting) continue;
      const some = chosen.segments.map(({ segment }) => segment);
      return this.#startMerge({ segments: some, byteSize: chosen.byteSize }, retry, () =>
        chosen.partCount === 1 ? this.#merge(some) : this.#mergeByParts(some, chosen),
      );
    }
    return undefined;
  }

  /** All segments, oldest partitions first. */
  segments(): Iterable<HeldSegment> {
    return this.#partitions.segments();
  }

  /**
   * Reads again a segment in which a thread found damage; `undefined` if it is not one of these. Resolves to true if
   * the segment was replaced or dropped. Never rejects.
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

  /** Records that a query could not read the file of a segment, if it is one of these. The segment is not changed. */
  noteUnread(id: number, error: Error): void {
    for (const segment of this.segments()) {
      if (segment.id !== id) continue;
      this.#failed('read', error);
      this.#hasUnread = true;
    }
  }

  /** Settles when the storing under way ends, successful or not; `undefined` if there is none. */
  storing(): Promise<void> | undefined {
    return this.#storing;
  }

  /** Settles when all writes under way have ended, successful or not. */
  async settled(): Promise<void> {
    while (this.#storing !== undefined || this.#merges.size > 0) {
      await this.#storing;
      await Promise.all(this.#merges);
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

  /** Stores segments until all are in files, or one fails; a later tick retries. */
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

  /** Stores a segment. Resolves to whether it needs no more attempts. */
  async #store(segment: HeldSegment, origin: SealOrigin): Promise<boolean> {
    const partition = toPartition(segment.summary.timestampUsMax);
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

  #startMerge(
    { segments, byteSize }: Pick<MergeChoice<HeldSegment>, 'segments' | 'byteSize'>,
    retry: RetryWait,
    merge: () => Promise<void>,
  ): Promise<void> {
    for (const segment of segments) this.#inMerge.add(segment);
    this.#budget.mergeBegins(byteSize);
    const merging = this.#attempt('merge', merge).then((isDone) => {
      retry.note(isDone);
      for (const segment of segments) this.#inMerge.delete(segment);
      this.#merges.delete(merging);
      this.#budget.mergeEnds(byteSize);
    });
    this.#merges.add(merging);
    return merging;
  }

  async #merge(segments: readonly HeldSegment[]): Promise<void> {
    const { folder, merge } = must(this.#storage, 'there is a folder to store in');
    const usedAt = findLastUse(segments);
    const residentBytes = sumResident(segments);
    const buffer = await this.#readOrRepair(segments, merge);
    if (buffer === undefined) return;
    await folder.replace(buffer, listFiles(segments), (file) => {
      const merged = HeldSegment.stored(this.#createParts(this.#summarize(buffer)), file);
      const contents = segments.map(({ content }) => content);
      const became = (): void => this.#ids.became(contents, merged.content);
      if (!this.#takePlace(segments, [merged], became)) return;
      if (2 * residentBytes >= buffer.byteLength) merged.becomeStored(file, { buffer, usedAt });
      this.#onChange();
    });
  }

  /**
   * Merges to several segments, each with the rows of some projects. Of these no more bytes stay in memory than there were
   * of the segments before, and of a long merge only what there is room for: it would take that from queries for minutes.
   */
  async #mergeByParts(
    segments: readonly HeldSegment[],
    { partCount, totalBytes }: Pick<MergeChoice<unknown>, 'partCount' | 'totalBytes'>,
  ): Promise<void> {
    const { folder, merge, divide } = must(this.#storage, 'there is a folder to store in');
    const usedAt = findLastUse(segments);
    const rowCount = segments.reduce((sum, { summary }) => sum + summary.rowCount, 0);
    const rowsMax = Math.ceil((PART_ROOM * rowCount) / partCount);
    const parts = await this.#readOrRepair(segments, (handles) => divide(handles, rowsMax));
    if (parts === undefined) return;
    const made: { readonly summary: SegmentSummary; readonly buffer?: SharedArrayBuffer }[] = [];
    const residentBytes = sumResident(segments);
    const { mergeBounds } = this.#budget;
    const isLong = totalBytes > mergeBounds.byteSize || rowCount > mergeBounds.rowCount;
    let keptBytes = 0;
    const make = async (index: number): Promise<SharedArrayBuffer | undefined> => {
      if (!(await this.#betweenSteps(totalBytes))) return undefined;
      const part = must(parts[index]);
      const buffer = await this.#readOrRepair(segments, (handles) => merge(handles, part));
      if (buffer === undefined) return undefined;
      const summary = this.#summarize(buffer);
      const { byteLength } = buffer;
      const hasRoom = !isLong || this.#budget.hasRoomFor(byteLength);
      const isKept = hasRoom && keptBytes + byteLength <= residentBytes;
      if (isKept) {
        keptBytes += byteLength;
        this.#budget.mergesKeep(byteLength);
      }
      made.push({ summary, ...(isKept && { buffer }) });
      return buffer;
    };
    const take = (files: readonly SegmentFile[]): void => {
      const merged = files.map((file, index) => {
        const { summary } = must(made[index]);
        return HeldSegment.stored(this.#createParts(summary), file);
      });
      if (!this.#takePlace(segments, merged)) return;
      for (const [index, segment] of merged.entries()) {
        const { buffer } = must(made[index]);
        if (buffer !== undefined) segment.becomeStored(must(files[index]), { buffer, usedAt });
      }
      this.#onChange();
    };
    try {
      await folder.replaceByParts(listFiles(segments), { count: parts.length, make }, take);
    } finally {
      this.#budget.mergesKeep(-keptBytes);
    }
  }

  /** Runs `read`; `undefined` if a segment was damaged or dropped, after which it was replaced or is gone. */
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

  /** Whether all segments are still held, with these files. */
  #isUnchanged(
    segments: readonly HeldSegment[],
    files: readonly (SegmentFile | undefined)[],
  ): boolean {
    const held = new Set(this.segments());
    return segments.every((segment, index) => held.has(segment) && segment.file === files[index]);
  }

  /**
   * Replaces segments. Calls `became` before it drops the old ones. Returns false, and changes nothing, if they were
   * dropped before.
   */
  #takePlace(
    segments: readonly HeldSegment[],
    merged: readonly HeldSegment[],
    became: () => void = () => {},
  ): boolean {
    const held = this.#partitions.holding(must(segments[0]))?.segments;
    // The segments were dropped before the files were replaced, or since. Late rows may have come since.
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
    // Files that the folder no longer has were merged, or their day was dropped.
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

  /** Runs a step and resolves to whether it succeeded. Reports its first failure. */
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
    return HeldSegment.sealed(this.#createParts(this.#summarize(buffer)), buffer);
  }

  #createParts(summary: SegmentSummary): HeldParts {
    return { summary, ids: this.#ids, gauge: this.#budget.gauge };
  }
}

function createCandidate({ summary }: HeldSegment, { envelope }: SegmentFile): MergeCandidate {
  const { rowCount, byteSize, projectCount } = summary;
  const { awaits, areBlocksWhole } = envelope;
  // All parts of a division await the same files, and each file is replaced by one division.
  return { rowCount, byteSize, projectCount, division: awaits[0], areBlocksWhole };
}

function sumResident(segments: readonly HeldSegment[]): number {
  return segments.reduce((sum, { residentSize }) => sum + residentSize, 0);
}

/** Reading a segment to merge it counts as a use: call this before. */
function findLastUse(segments: readonly HeldSegment[]): number {
  return Math.max(...segments.map(({ lastUse }) => lastUse));
}

function listFiles(segments: readonly HeldSegment[]): SegmentFile[] {
  return segments.map(({ file }) => must(file, 'what is merged is in files'));
}
