import { must } from '../assert.ts';
import { PASSING_BYTES_MAX, READERS_BYTES_MAX } from '../limits.ts';
import { runMemory } from './arrays.ts';
import { EXTRACT_IMAGE_BYTES_MIN, type SegmentExtract } from './extract/segment-extract.ts';
import type { SkeletonCounts } from './field-tree.ts';
import { threadFiles } from './file-blocks.ts';
import {
  arrayBytes,
  collectGarbageBeside,
  collectNewGarbage,
  collectSoon,
  letCollect,
} from './garbage.ts';
import {
  memoryOf,
  type OpenSegmentMemory,
  OpenSegmentReader,
  skeletonArraysOf,
} from './open-segment-reader.ts';
import type { RowRanges } from './positions.ts';
import { rowTextsSize } from './row-texts.ts';
import {
  type ExtractFrom,
  type NewestRows,
  SealedSegmentReader,
  type SegmentOfExtract,
} from './sealed-segment.ts';
import type {
  DroppedSegments,
  NeededText,
  RowRange,
  RowRun,
  RowScope,
  RowSpan,
  RowWindow,
  SealedSegmentHandle,
  Segment,
  SegmentColumn,
  SegmentHandle,
} from './segment.ts';
import {
  GAUGE_CLOCK,
  GAUGE_LIMIT,
  GAUGE_RETIRED,
  isRetired,
  KIB,
  type MemoryGauge,
  releaseBuffer,
  type SegmentBacking,
} from './segment-backing.ts';
import { bytesCopied, bytesReadInParts, forgetReadInParts, SegmentImage } from './segment-image.ts';
import type { NestedVector, SplitBlock, Vector } from './vector.ts';

/** Sealed segments a thread keeps open: opening one again costs its columns, not its rows. */
const SEALED_READERS_MAX = 1024;

/** Open segments a thread remembers the shapes of: one per source in use. */
const OPEN_READERS_MAX = 64;

/** Rows of a project that are taken out at once for whoever wants the newest: the newest 100 are mostly all that is wanted. */
const NEWEST_ROWS_MIN = 128;

/**
 * So many bytes of rows that are taken out of memory count as one that is read from a file for it: to unpack a KiB takes
 * some 20 microseconds, and to take rows out of memory a few each time.
 */
const COPIED_PER_READ = 8;

/** Rows that are a larger part of their segment than one in so many are read with all others. */
const EXTRACT_PART = 4;

/** `clock`: what the gauge said; a reader from before would not tell that its columns are in use. */
type OpenedSegment = {
  readonly reader: SealedSegmentReader;
  readonly image: SegmentImage;
  readonly clock: number;
  /** What `useCount` was then. */
  usedAt: number;
};

const NEVER = -1;

/**
 * What one thread has open, and what its task at hand reads. State of the module: segments are asked for wherever handles
 * come along, what has been opened outlives the task, and its bounds are those of the thread.
 */
class ThreadReaders {
  /** By id; those unused for longest go first. */
  readonly sealed = new Map<number, OpenedSegment>();
  /** Those of them that this task has read, in part, into memory of its own. */
  readonly passing = new Map<number, OpenedSegment>();
  /** Of an open segment only what its skeletons and chains say is kept: its rows grow. */
  readonly open = new Map<number, OpenSegmentMemory>();
  /** What the task at hand may read of segments whose memory can be let go meanwhile. */
  readonly taskHandles = new Set<SealedSegmentHandle>();
  /** Bytes of these segments, in memory or not, and how many may be. */
  taskSize = 0;
  taskGauge: MemoryGauge | undefined;
  /** What this thread may keep open and read for itself, in bytes: see `limits.ts`. */
  bounds = { passingBytesMax: PASSING_BYTES_MAX, readersBytesMax: READERS_BYTES_MAX };
  /** Bytes of arrays from which readers are let go: more while there are more that are not theirs. */
  readersBytesMax = 0;
  /**
   * Counts up each time that a sealed segment is asked for which is not the one asked for before: a scan asks for one
   * column after the other.
   */
  useCount = 0;
  /** How many segments were dropped when this thread was last told. */
  droppedCount = 0;
  /** Buffers retired when this thread last looked for them. */
  retiredCount = 0;
  /** Bytes that tasks have left. */
  leftSize = 0;
  /** Bytes let go since garbage was last collected. */
  garbageSize = 0;
  /** The rows that were taken out last. */
  lastExtracts: readonly SegmentExtract[] = [];
  /** Bytes of extracts that were left since new garbage was last collected. */
  extractsSize = 0;
  /** What this task has taken rows out of. */
  readonly takenFrom = new Set<SegmentImage>();
}

const thread = new ThreadReaders();

/** Of what a thread may read for itself, the part that may be garbage before it is collected. */
const GARBAGE_PART = 1 / 2;

/** To be called before the first task of a thread that has less memory than others. */
export function boundReading(of: ThreadReaders['bounds']): void {
  thread.bounds = of;
}

function garbageBytesMax(): number {
  return thread.bounds.passingBytesMax * GARBAGE_PART;
}

/** At the start of a task: collects the garbage that those before have left, when it is much. */
export async function beginReading(): Promise<void> {
  if (thread.leftSize >= garbageBytesMax()) await releaseGarbage();
  await letCollect();
}

/** The segment behind a handle, as this thread reads it. */
export function readSegment(handle: SegmentHandle): Segment {
  if (handle.kind === 'sealed') {
    const { backing } = handle;
    if (backing === undefined) return openSealed(handle).reader;
    thread.taskHandles.add(handle);
    thread.taskSize += backing.imageSize;
    thread.taskGauge = backing.gauge;
    return new BackedSegment(backing, () => openSealed(handle).reader, {
      ofProject: (projectKey) =>
        extracted(handle, backing, (reader, from) => {
          const taken = reader.extractOf(projectKey, from);
          return taken && atHand([taken], from)[0];
        }),
      newestOf: (projectKey) =>
        extracted(handle, backing, (reader, from) =>
          partsFromNewest(from, (newest) => reader.extractOf(projectKey, from, newest)),
        ),
      withTexts: (texts) =>
        extracted(handle, backing, (reader, from) => {
          const taken = reader.extractsWith(texts, from);
          return taken && atHand(taken, from);
        }),
    });
  }
  const memory = thread.open.get(handle.id) ?? memoryOf(handle);
  rememberOpen(handle.id, memory);
  memory.skeletons.extend(skeletonArraysOf(handle));
  return new OpenSegmentReader(handle, memory);
}

/**
 * Whether the task at hand reads segments into memory of its own, or may have to, for want of room:
 * what it keeps of their rows it should copy, so that they can be let go. It may when all it reads is
 * more than fits; rows kept until that is sure would hold all columns that are read of them later.
 */
export function isReadingPassing(): boolean {
  if (thread.passing.size > 0) return true;
  const { taskSize, taskGauge } = thread;
  return taskGauge !== undefined && taskSize / KIB > Atomics.load(taskGauge, GAUGE_LIMIT);
}

/**
 * At the end of a task: frees what it has read into memory of its own, and collects garbage when
 * much was let go, since nothing else would.
 */
export function endReading(): void {
  for (const image of thread.takenFrom) image.forgetExpected();
  thread.takenFrom.clear();
  for (const [id, { image }] of thread.passing) letGo(thread.passing, id, image.passingSize);
  leaveExtracts();
  thread.taskHandles.clear();
  thread.taskSize = 0;
  thread.taskGauge = undefined;
  threadFiles.close();
  collectWhatWasLetGo();
}

/**
 * Tells that so many bytes are garbage once the next task begins: the one at hand has segments in hand, and makes
 * some, that whoever called it names until then.
 */
export function leaveGarbage(size: number): void {
  thread.leftSize += size;
}

/** Frees all memory that this thread does not need any more; resolves once it has. */
export async function releaseGarbage(): Promise<void> {
  thread.leftSize = 0;
  thread.garbageSize = 0;
  await collectGarbageBeside();
}

/** Removes the segments that were dropped, which frees their memory. */
export function forgetDropped(dropped: DroppedSegments): void {
  const unheardCount = dropped.count - thread.droppedCount;
  thread.droppedCount = dropped.count;
  if (unheardCount > dropped.ids.length) {
    // Some went without this thread hearing which: what is left opens again when it is needed.
    for (const [id, { image }] of thread.sealed) letGo(thread.sealed, id, image.residentSize);
    thread.open.clear();
    return;
  }
  if (unheardCount <= 0) return;
  for (const id of dropped.ids.slice(-unheardCount)) {
    const image = thread.sealed.get(id)?.image;
    if (image !== undefined) letGo(thread.sealed, id, image.residentSize);
    thread.open.delete(id);
  }
}

/** Releases all that this thread has opened. To be called between tasks. */
export function forgetReaders(): void {
  thread.sealed.clear();
  thread.open.clear();
}

/** Releases that half of the sealed segments that were unused for longest. To be called between tasks. */
export function forgetUnusedReaders(): void {
  letGoUnused(thread.sealed, Math.ceil(thread.sealed.size / 2));
}

/**
 * Some rows of a segment that is not all in memory: taken out of it, as long as that is less to read than the
 * columns they lie in. What has been read in this way from a segment counts, and a part of what was copied from memory;
 * whenever it has come to as much as the segment itself, and there is room for that, columns are read whole once, and
 * stay: whoever rents pays at most twice what buying would have cost.
 */
function extracted<T>(
  handle: SealedSegmentHandle,
  backing: SegmentBacking,
  take: (reader: SealedSegmentReader, from: ExtractFromFile) => T | undefined,
): T | undefined {
  const { imageSize, rowCount } = backing;
  if (imageSize < EXTRACT_IMAGE_BYTES_MIN) return undefined;
  const { image, reader } = openSealed(handle);
  if (image.isWhole) return undefined;
  const paidBytes = bytesReadInParts(backing) + bytesCopied(backing) / COPIED_PER_READ;
  const isPaidFor = paidBytes >= imageSize;
  if (isPaidFor) forgetReadInParts(backing);
  if (isPaidFor && image.hasRoomForAll) return undefined;
  const rowsMax = Math.floor(rowCount / EXTRACT_PART);
  const { read, expect } = image;
  return take(reader, { imageSize, read, expect, rowsMax, image });
}

type ExtractFromFile = ExtractFrom & { readonly image: SegmentImage };

/** The scan at hand goes on with these rows. */
function atHand(taken: readonly SegmentOfExtract[], from: ExtractFromFile): readonly Segment[] {
  leaveExtracts();
  thread.takenFrom.add(from.image);
  thread.lastExtracts = taken.map(({ extract }) => extract);
  return taken.map(({ segment }) => segment);
}

/** Rows in parts, the newest first; `undefined` where none can be taken out. */
function partsFromNewest(
  from: ExtractFromFile,
  take: (newest: NewestRows) => SegmentOfExtract | undefined,
): Iterable<Segment> | undefined {
  const first = take({ skipped: 0, count: NEWEST_ROWS_MIN });
  return first && eachFromNewest(first, from, take);
}

/** Each part has twice as many rows as the one before, up to `rowsMax`: whoever wants more rows than the first has may want all. */
function* eachFromNewest(
  first: SegmentOfExtract,
  from: ExtractFromFile,
  take: (newest: NewestRows) => SegmentOfExtract | undefined,
): Generator<Segment> {
  let count = NEWEST_ROWS_MIN;
  let skipped = 0;
  for (let part: SegmentOfExtract | undefined = first; part !== undefined; ) {
    yield* atHand([part], from);
    skipped += count;
    count = Math.min(2 * count, from.rowsMax);
    part = take({ skipped, count });
  }
}

/** The scan at hand goes on with other rows, or has ended. An extract lies in plain arrays, which are new objects mostly. */
function leaveExtracts(): void {
  for (const { size } of thread.lastExtracts) thread.extractsSize += size;
  thread.lastExtracts = [];
  if (thread.extractsSize < garbageBytesMax() || !threadFiles.mayWait) return;
  collectNewGarbage();
  thread.extractsSize = 0;
}

function openSealed(handle: SealedSegmentHandle): OpenedSegment {
  const { id, backing } = handle;
  if (backing !== undefined) letGoRetired(backing.gauge);
  const clock = backing === undefined ? 0 : backing.gauge[GAUGE_CLOCK]!;
  const known = thread.passing.get(id) ?? thread.sealed.get(id);
  const opened = known?.clock === clock ? known : opening(handle, clock, known?.image);
  if (opened.usedAt !== thread.useCount) opened.usedAt = ++thread.useCount;
  if (opened.image.passingSize > 0) {
    thread.passing.set(id, opened);
    boundPassing();
  } else if (opened !== known) {
    thread.sealed.set(id, opened);
    if (thread.sealed.size > SEALED_READERS_MAX) {
      letGoUnused(thread.sealed, Math.ceil(SEALED_READERS_MAX / READERS_PART));
    }
  }
  return opened;
}

/** Of so many readers one goes where there are too many: to look for those unused for longest takes a while. */
const READERS_PART = 8;

/** Removes so many readers, the least recently used first. */
function letGoUnused(readers: Map<number, OpenedSegment>, count: number): void {
  for (const [id] of byUse(readers).slice(0, count)) readers.delete(id);
}

/** Those unused for longest first. */
function byUse(readers: ReadonlyMap<number, OpenedSegment>): [number, OpenedSegment][] {
  return [...readers].sort(([, left], [, right]) => left.usedAt - right.usedAt);
}

function opening(
  handle: SealedSegmentHandle,
  clock: number,
  image: SegmentImage = SegmentImage.open(handle, () => setApart(handle.id)),
): OpenedSegment {
  boundReaders();
  return {
    reader: SealedSegmentReader.open(image.buffer, image.need, image.needFirst),
    image,
    clock,
    usedAt: NEVER,
  };
}

/** A reader that had all of its memory from others goes with the task now. */
function setApart(id: number): void {
  const opened = thread.sealed.get(id);
  if (opened === undefined) return;
  thread.sealed.delete(id);
  thread.passing.set(id, opened);
}

/**
 * Removes the least recently used half of the readers when there are arrays enough: readers remember
 * where the fields of each shape of events lie, which may be as much as the segment itself. How many
 * of the arrays are theirs only shows when they are gone, a little after the garbage was collected.
 */
function boundReaders(): void {
  // Most arrays that a task makes are garbage soon.
  if (readersBytes() > thread.readersBytesMax && threadFiles.mayWait) collectNewGarbage();
  const bytes = readersBytes();
  const bytesMore = bytes + thread.bounds.readersBytesMax / 2;
  thread.readersBytesMax = Math.max(
    thread.bounds.readersBytesMax,
    Math.min(thread.readersBytesMax, bytesMore),
  );
  if (bytes <= thread.readersBytesMax) return;
  for (const readers of [thread.sealed, thread.passing]) {
    // The last one stays: the task at hand may be in the middle of it.
    letGoUnused(readers, Math.floor(readers.size / 2));
  }
  if (threadFiles.mayWait) collectAll();
  thread.readersBytesMax = bytesMore;
}

/** Of arrays that may be those of readers. */
function readersBytes(): number {
  return arrayBytes() - rowTextsSize() - runMemory.keptSize;
}

/** Frees the buffers that were retired: in a task that takes long, many are. */
function letGoRetired(gauge: MemoryGauge): void {
  const count = Atomics.load(gauge, GAUGE_RETIRED);
  if (count === thread.retiredCount) return;
  thread.retiredCount = count;
  for (const handle of thread.taskHandles) {
    const { id, backing } = handle;
    if (backing === undefined || !isRetired(backing)) continue;
    const image = thread.sealed.get(id)?.image;
    if (image !== undefined) letGo(thread.sealed, id, image.residentSize);
    const passing = thread.passing.get(id)?.image;
    if (passing !== undefined)
      letGo(thread.passing, id, passing.passingSize + passing.residentSize);
    releaseBuffer(handle);
    thread.taskHandles.delete(handle);
  }
  collectWhatWasLetGo();
}

/** Frees the least recently used first, until little enough, or only the last, is left. */
function boundPassing(): void {
  let total = 0;
  for (const { image } of thread.passing.values()) total += image.passingSize;
  if (total > thread.bounds.passingBytesMax) {
    for (const [id, { image }] of byUse(thread.passing)) {
      if (total <= thread.bounds.passingBytesMax || thread.passing.size === 1) break;
      total -= image.passingSize;
      letGo(thread.passing, id, image.passingSize);
    }
  }
  collectWhatWasLetGo();
}

function letGo(readers: Map<number, OpenedSegment>, id: number, size: number): void {
  readers.delete(id);
  thread.garbageSize += size;
}

function collectWhatWasLetGo(): void {
  if (thread.garbageSize < garbageBytesMax() || !threadFiles.mayWait) return;
  collectAll();
}

function collectAll(): void {
  collectSoon();
  thread.leftSize = 0;
  thread.garbageSize = 0;
}

/** A Map lists its keys in the order they were set: the first is the one unused for longest. */
function rememberOpen(id: number, memory: OpenSegmentMemory): void {
  thread.open.delete(id);
  thread.open.set(id, memory);
  if (thread.open.size > OPEN_READERS_MAX) {
    thread.open.delete(must(thread.open.keys().next().value));
  }
}

/** Gives some rows of a segment apart, where it is better not to read them with all others; else `undefined`. */
type SegmentExtracts = {
  readonly ofProject: (projectKey: string) => Segment | undefined;
  /** In parts, the newest first. */
  readonly newestOf: (projectKey: string) => Iterable<Segment> | undefined;
  /** Those outside of which none holds all of the texts. */
  readonly withTexts: (texts: readonly NeededText[]) => readonly Segment[] | undefined;
};

/**
 * A sealed segment that need not be in memory: what a scan asks first is known of it, and the segment
 * itself is opened when the first row is asked for. `open` gives the same reader again, or another
 * when that one was let go meanwhile.
 */
class BackedSegment implements Segment {
  readonly kind = 'sealed';
  readonly rowCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  readonly #open: () => SealedSegmentReader;
  readonly #extracts: SegmentExtracts;

  constructor(backing: SegmentBacking, open: () => SealedSegmentReader, extracts: SegmentExtracts) {
    this.rowCount = backing.rowCount;
    this.timestampUsMin = backing.timestampUsMin;
    this.timestampUsMax = backing.timestampUsMax;
    this.#open = open;
    this.#extracts = extracts;
  }

  ofProject(projectKey: string): Segment {
    return this.#extracts.ofProject(projectKey) ?? this;
  }

  newestOf(projectKey: string): Iterable<Segment> {
    return this.#extracts.newestOf(projectKey) ?? [this];
  }

  partsWith(texts: readonly NeededText[]): readonly Segment[] {
    return this.#extracts.withTexts(texts) ?? [this];
  }

  runs(projectKey: string | undefined): readonly RowRun[] {
    return this.#open().runs(projectKey);
  }

  runsOf(projectKeys: readonly string[]): readonly RowRun[] {
    return this.#open().runsOf(projectKeys);
  }

  countRows(scope: RowScope): number {
    return this.#open().countRows(scope);
  }

  projectsWith(rowsMin: number): readonly string[] {
    return this.#open().projectsWith(rowsMin);
  }

  positionAt(run: RowRun, timestampUs: number): number {
    if (timestampUs <= this.timestampUsMin) return 0;
    if (timestampUs > this.timestampUsMax) return run.count;
    return this.#open().positionAt(run, timestampUs);
  }

  countSkeletons(ranges: RowRanges): SkeletonCounts {
    return this.#open().countSkeletons(ranges);
  }

  rowsWith(needed: NeededText, among?: RowSpan): RowRanges | undefined {
    return this.#open().rowsWith(needed, among);
  }

  splitsAt(path: NeededText['path']): readonly SplitBlock[] | undefined {
    return this.#open().splitsAt(path);
  }

  rowsInside(window: RowWindow, among?: RowRanges): RowRanges {
    return this.#open().rowsInside(window, among);
  }

  areTimeOrdered(start: number, count: number): boolean {
    return this.#open().areTimeOrdered(start, count);
  }

  timestamps(rows: Int32Array, count: number): Vector {
    return this.#open().timestamps(rows, count);
  }

  arrivals(rows: Int32Array, count: number): Vector {
    return this.#open().arrivals(rows, count);
  }

  ids(rows: Int32Array, count: number): Vector {
    return this.#open().ids(rows, count);
  }

  messages(rows: Int32Array, count: number): Vector {
    return this.#open().messages(rows, count);
  }

  projects(rows: Int32Array, count: number): Vector {
    return this.#open().projects(rows, count);
  }

  roots(rows: Int32Array, count: number): NestedVector {
    return this.#open().roots(rows, count);
  }
  range(column: SegmentColumn, range: RowRange): Vector | undefined {
    return this.#open().range(column, range);
  }
}
