import { dirname, join } from 'node:path';
import {
  assert,
  must,
  type PackedImage,
  repairSegment,
  type SealedColumnName,
} from '../engine/columns.ts';
import { type Disk, DiskError } from './disk/disk.ts';
import { nameWritten, removeAside, writeAside, writeDurably } from './durable-file.ts';
import { DISK_FREE_BYTES_ENOUGH } from './limits.ts';
import { Quarantine } from './quarantine.ts';
import type { SegmentEngine } from './segment-engine.ts';
import { SegmentFile } from './segment-file.ts';
import { manifestName, type SegmentManifest } from './segment-manifest.ts';
import { formatSegmentName } from './segment-name.ts';
import { packSegment } from './segment-packing.ts';
import {
  type RecoveredSegments,
  type RecoveryOptions,
  type RecoveryReport,
  recoverSegments,
} from './segment-recovery.ts';
import { type SequenceInterval, unionOfIntervals } from './sequence-intervals.ts';

/** The rows of one source and one UTC day (days since the epoch). */
export type PartitionKey = { readonly source: string; readonly partition: number };

export type NewSegment = PartitionKey & {
  /** A sealed segment. All of its rows are in the partition. */
  readonly buffer: SharedArrayBuffer;
  /** The log records whose rows of the partition are all in the segment. */
  readonly covered: readonly SequenceInterval[];
};

/** Segments to store, made one at a time. */
export type SegmentParts = {
  readonly count: number;
  /** Makes one segment; `undefined` if its sources have changed. A change rejects with the same error. */
  readonly make: (index: number) => Promise<SharedArrayBuffer | undefined>;
};

export type SegmentFolderOptions = RecoveryOptions & {
  /**
   * Compresses the blocks of a sealed segment (`packImage`); `of`: the step that made it. A change rejects with the
   * same error.
   */
  readonly pack: SegmentEngine['pack'];
  /**
   * Called right after a file has replaced others. The promise resolves when all queries that may read the old files
   * have ended, and never rejects; `undefined` if there are none. By default there are none.
   */
  readonly readersDone?: SegmentEngine['readersDone'] | undefined;
  /** Called when a damaged file was moved, with its path in quarantine. */
  readonly onQuarantined?: (path: string) => void;
};

/** The result of loading a stored segment. */
export type SegmentLoad =
  | { readonly kind: 'whole'; readonly segment: SegmentFile; readonly buffer: SharedArrayBuffer }
  /** Some columns are lost. The segment was stored again without them, and the damaged file is in quarantine. */
  | {
      readonly kind: 'repaired';
      readonly segment: SegmentFile;
      readonly buffer: SharedArrayBuffer;
      readonly lostColumns: readonly SealedColumnName[];
    }
  /** Its rows cannot be separated any more. The file is in quarantine. */
  | { readonly kind: 'lost'; readonly path: string };

/**
 * The segment files of all sources:
 *
 * ```
 * segments/<source id>/<day>.<segment id>.segment
 * ```
 *
 * Days have no folder of their own: dropping a day only removes files, without a folder to create, sync or remove, and a
 * source is one listing of a few hundred names.
 *
 * When no change is under way, each stored row is in exactly one file that counts. Every change takes effect by one rename, of
 * a complete and synced file. Files left over by a failed change or a crash are named in `replaced` of the file that voids
 * them. Such *leftovers* are named again in each further file of their partition until their removal is durable, because the
 * file that named them first may itself be replaced and removed.
 *
 * A replaced file remains as a leftover until the last query that may have it in its snapshot has ended, and until the
 * manifest does not name it (`SegmentManifest`).
 *
 * Coverage is by partition: a file holds those rows of the log records in its interval that are in its partition. If one
 * sealing makes files for two days and the process dies between them, the log restores the rows of the second day. No two
 * files ever need to appear together.
 *
 * Changes of one partition run one after another, in the order of the calls.
 */
export class SegmentFolder {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #quarantine: Quarantine;
  readonly #pack: SegmentFolderOptions['pack'];
  readonly #readersDone: () => Promise<void> | undefined;
  readonly #onQuarantined: (path: string) => void;
  /** Files that count, by source and partition. */
  readonly #segments = new Map<string, Map<number, SegmentFile[]>>();
  /** Ids of files that must not count but may exist, by source and partition. */
  readonly #leftovers = new Map<string, Set<number>>();
  /** Ids of leftovers that queries may still read, or that the manifest still names. */
  readonly #waiting = new Set<number>();
  readonly #manifest: SegmentManifest;
  /** Whether files that count were added or removed since the last write of the manifest. */
  #isManifestOld = true;
  /** Folders of sources that exist durably. */
  readonly #folders = new Set<string>();
  /** The last change under way of each partition; none of them rejects. */
  readonly #changes = new Map<string, Promise<unknown>>();
  #idNext: number;
  #isClosed = false;

  private constructor(
    options: SegmentFolderOptions,
    { idNext, manifest }: Pick<RecoveredSegments, 'idNext' | 'manifest'>,
  ) {
    this.#disk = options.disk;
    this.#path = options.path;
    this.#quarantine = new Quarantine(this.#disk, options.quarantinePath);
    this.#pack = options.pack;
    this.#readersDone = options.readersDone ?? (() => undefined);
    this.#onQuarantined = options.onQuarantined ?? (() => {});
    this.#idNext = idNext;
    this.#manifest = manifest;
  }

  /**
   * Lists the stored segments. Removes temporary files, replaced files and files whose day the retention has dropped;
   * moves damaged ones to quarantine. Rejects with `SegmentVersionError`, before anything is changed, if a file has
   * another version, and with a `DiskError`.
   */
  static async recover(options: SegmentFolderOptions): Promise<{
    readonly folder: SegmentFolder;
    readonly report: RecoveryReport;
  }> {
    const recovered = await recoverSegments(options);
    const folder = new SegmentFolder(options, recovered);
    for (const segment of recovered.segments) folder.#insert(segment);
    for (const { source, partition, id } of recovered.leftovers) {
      folder.#getLeftovers({ source, partition }).add(id);
    }
    return { folder, report: recovered.report };
  }

  /** Files that count, by ascending partition, then id. */
  segments(source: string): SegmentFile[] {
    const partitions = [...(this.#segments.get(source) ?? [])];
    return partitions.sort(([left], [right]) => left - right).flatMap(([, segments]) => segments);
  }

  sources(): string[] {
    return [...this.#segments.keys()];
  }

  /** The log records whose rows of a partition are in files that count. */
  coverage({ source, partition }: PartitionKey): SequenceInterval[] {
    const segments = this.#counting({ source, partition });
    return unionOfIntervals(segments.flatMap(({ envelope }) => envelope.covered));
  }

  /**
   * Stores a sealed segment. After this resolves, the segment survives any crash. Rejects with a `DiskError`. A start
   * may then find the segment, but never beside another one that is added for the same rows later.
   */
  add(segment: NewSegment): Promise<SegmentFile> {
    return this.#change(segment, async () => {
      const image = await this.#pack(segment.buffer, 'seal');
      const stored = await this.#write(segment, image, []);
      this.#insert(stored);
      return stored;
    });
  }

  /**
   * Stores a segment with all rows of the `replaced` segments of one partition, with their coverage, and removes their
   * files when no query reads them. Resolves to `undefined`, and changes nothing, if one of them no longer counts: its
   * day was dropped, or damage was found in it. Rejects with a `DiskError`, and changes nothing then.
   *
   * Calls `onReplaced` when the new file counts: no query may start to read the old files from then on.
   */
  async replace(
    buffer: SharedArrayBuffer,
    replaced: readonly SegmentFile[],
    onReplaced: (stored: SegmentFile) => void = () => {},
  ): Promise<SegmentFile | undefined> {
    const key = getPartitionKey(replaced);
    // Compression runs before the change, so that the storing of new segments does not wait for it.
    const image = await this.#pack(buffer, 'merge');
    return this.#change(key, async () => {
      if (!this.#areCounting(replaced)) return undefined;
      const covered = coveredBy(replaced);
      const ids = listIds(replaced);
      const stored = await this.#write({ ...key, covered }, image, ids);
      await this.#takePlace(replaced, [stored], () => onReplaced(stored));
      return stored;
    });
  }

  /**
   * Replaces segments of one partition by several, which `parts` makes one after the other. They are written under
   * temporary names while other changes go on, and are then renamed together. The last one names the replaced files,
   * and the others count only together with it. Resolves to false, and changes nothing, if one of the replaced segments
   * no longer counts, or a part is not made. Rejects with a `DiskError`, also if the disk has no room for both.
   */
  async replaceByParts(
    replaced: readonly SegmentFile[],
    parts: SegmentParts,
    onReplaced: (stored: readonly SegmentFile[]) => void = () => {},
  ): Promise<boolean> {
    const key = getPartitionKey(replaced);
    await this.#checkRoom(replaced);
    const written: SegmentFile[] = [];
    let areNamed = false;
    try {
      while (written.length < parts.count) {
        const buffer = await parts.make(written.length);
        if (buffer === undefined || !this.#areCounting(replaced)) return false;
        const isLast = written.length === parts.count - 1;
        written.push(await this.#writePart({ ...key, buffer }, replaced, isLast));
      }
      areNamed = await this.#change(key, async () => {
        if (!this.#areCounting(replaced)) return false;
        await this.#nameParts(key, written);
        await this.#takePlace(replaced, written, () => onReplaced(written));
        return true;
      });
      return areNamed;
    } finally {
      if (!areNamed) for (const { path } of written) await removeAside(this.#disk, path);
    }
  }

  /**
   * Removes all files of a partition, including those that queries read: rows past the retention should not be returned
   * any more. Rejects with a `DiskError`; must be called again then.
   */
  dropPartition(key: PartitionKey): Promise<void> {
    return this.#change(key, async () => {
      for (const id of this.#getLeftovers(key)) this.#waiting.delete(id);
      for (const segment of this.#counting(key)) {
        this.#getLeftovers(key).add(segment.envelope.id);
        this.#forget(segment);
      }
      const ids = [...this.#getLeftovers(key)];
      if (ids.some((id) => this.#manifest.mayName(manifestName({ ...key, id })))) {
        await this.#manifest.writeOrRemove(() => this.#listForManifest());
      }
      const error = await this.#removeLeftovers(key);
      if (error !== undefined) throw error;
    });
  }

  /**
   * Reads a stored segment. Damage loses the columns that it is in: their values are NULL from then on, and their
   * fields remain. NULL means an unknown value, so no row states anything that was not sent. The alternative, an error
   * for every query that reads the column, would block a project's log page for as long as logs are kept, because of
   * one bad sector under a field that nobody queries. The caller must report the damage and count it.
   *
   * Resolves to `undefined` if the segment no longer counts. Rejects with a `DiskError` if the file cannot be opened,
   * or if the repaired segment cannot be written.
   *
   * Calls `onLoaded` with the result before a damaged file is moved to quarantine, so that no reader looks for it at
   * its old path.
   */
  load(
    segment: SegmentFile,
    onLoaded: (load: SegmentLoad) => void = () => {},
  ): Promise<SegmentLoad | undefined> {
    return this.#change(segment.envelope, async () => {
      if (!this.#counting(segment.envelope).includes(segment)) return undefined;
      const { buffer, damagedColumns } = await segment.load();
      if (damagedColumns.length === 0) return told({ kind: 'whole', segment, buffer }, onLoaded);
      if (damagedColumns.includes('structure')) {
        const lost = told({ kind: 'lost', path: segment.path }, onLoaded);
        await this.#setAside(segment);
        this.#forget(segment);
        return lost;
      }
      return this.#repair(segment, { buffer, lostColumns: damagedColumns }, onLoaded);
    });
  }

  /**
   * Writes the names of the files that count, by which the next start detects missing ones; does nothing if they are
   * unchanged. Must be called about once a second, and at a clean stop. Rejects with a `DiskError`; the next call
   * retries.
   */
  async writeManifest(): Promise<void> {
    if (!this.#isManifestOld && this.#manifest.isWritten) return;
    await this.#manifest.write(() => this.#listForManifest());
  }

  /**
   * Resolves when no change is under way. Files that queries still read remain, and the next start removes them. No
   * other method may be called afterwards.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#changes.size > 0) await Promise.all(this.#changes.values());
  }

  async #repair(
    segment: SegmentFile,
    damaged: {
      readonly buffer: SharedArrayBuffer;
      readonly lostColumns: readonly SealedColumnName[];
    },
    onLoaded: (load: SegmentLoad) => void,
  ): Promise<SegmentLoad> {
    const { source, partition, covered, id } = segment.envelope;
    const { lostColumns } = damaged;
    const buffer = repairSegment(damaged.buffer, lostColumns);
    const image = await this.#pack(buffer, 'seal');
    const stored = await this.#write({ source, partition, covered }, image, [id]);
    this.#forget(segment);
    this.#insert(stored);
    const load = told({ kind: 'repaired', segment: stored, buffer, lostColumns }, onLoaded);
    const key = { source, partition };
    await this.#after([this.#readersDone()], { key, ids: [id] }, async () => {
      // Its day may have been dropped meanwhile.
      if (!this.#getLeftovers(segment.envelope).has(id)) return;
      try {
        await this.#setAside(segment);
      } catch (error) {
        // A damaged file that cannot be moved is a harmless leftover.
        if (!(error instanceof DiskError)) throw error;
      }
    });
    return load;
  }

  /**
   * Part of a change: removes leftovers when no query reads them and the manifest does not name them. If there is
   * nothing to wait for, this happens at once; else later, as a change of its own, so that other changes of the
   * partition do not wait.
   */
  async #after(
    waits: readonly (Promise<void> | undefined)[],
    { key, ids }: { readonly key: PartitionKey; readonly ids: readonly number[] },
    remove: () => Promise<unknown>,
  ): Promise<void> {
    if (waits.every((wait) => wait === undefined)) {
      await remove();
      return;
    }
    for (const id of ids) this.#waiting.add(id);
    void Promise.all(waits).then(async () => {
      if (this.#isClosed) return;
      await this.#change(key, () => {
        for (const id of ids) this.#waiting.delete(id);
        return remove();
      });
    });
  }

  /** Makes durable files count in place of the replaced ones, which are removed when no query reads them. */
  async #takePlace(
    replaced: readonly SegmentFile[],
    stored: readonly SegmentFile[],
    onReplaced: () => void,
  ): Promise<void> {
    const key = getPartitionKey(replaced);
    const ids = listIds(replaced);
    for (const segment of replaced) this.#forget(segment);
    for (const segment of stored) this.#insert(segment);
    onReplaced();
    const names = ids.map((id) => manifestName({ ...key, id }));
    const waits = [this.#readersDone(), this.#manifest.unnamed(names)];
    await this.#after(waits, { key, ids }, () => this.#removeLeftovers(key));
  }

  #areCounting(segments: readonly SegmentFile[]): boolean {
    const counting = this.#counting(getPartitionKey(segments));
    return segments.every((segment) => counting.includes(segment));
  }

  /** The log needs its free space: without it no post is accepted. */
  async #checkRoom(replaced: readonly SegmentFile[]): Promise<void> {
    const size = replaced.reduce((sum, { byteSize }) => sum + byteSize, 0);
    const freeBytes = await this.#disk.freeBytes(this.#path);
    if (freeBytes - size >= DISK_FREE_BYTES_ENOUGH) return;
    const cause = `${size} bytes are to be stored anew, ${freeBytes} are free, and ${DISK_FREE_BYTES_ENOUGH} stay free for the log`;
    throw new DiskError('divided', this.#path, cause);
  }

  /** Writes one of several files that replace others together, under a temporary name. */
  async #writePart(
    { source, partition, buffer }: PartitionKey & Pick<NewSegment, 'buffer'>,
    replacedFiles: readonly SegmentFile[],
    isLast: boolean,
  ): Promise<SegmentFile> {
    const id = this.#idNext++;
    const awaits = listIds(replacedFiles);
    const replaced = isLast ? [...this.#getLeftovers({ source, partition }), ...awaits] : [];
    const covered = coveredBy(replacedFiles);
    const origin = { id, source, partition, covered, replaced, awaits };
    const packed = packSegment(await this.#pack(buffer, 'merge'), origin);
    const path = this.#formatPath({ source, partition }, id);
    await this.#makeFolder(dirname(path));
    await writeAside(this.#disk, path, packed.parts);
    return SegmentFile.written(this.#disk, path, packed);
  }

  /** Part of a change. The last file is renamed after the names of all others are durable. */
  async #nameParts(key: PartitionKey, parts: readonly SegmentFile[]): Promise<void> {
    const folder = join(this.#path, key.source);
    const last = must(parts.at(-1), 'there are parts');
    try {
      for (const { path } of parts.slice(0, -1)) await nameWritten(this.#disk, path);
      await this.#disk.syncFolder(folder);
      await nameWritten(this.#disk, last.path);
      await this.#disk.syncFolder(folder);
    } catch (error) {
      // The last name may exist nevertheless, now or after a crash, and then the others count: all remain until the
      // next start sees which case it is.
      for (const id of listIds(parts)) {
        this.#getLeftovers(key).add(id);
        this.#waiting.add(id);
      }
      throw error;
    }
    for (const id of last.envelope.awaits) this.#getLeftovers(key).add(id);
  }

  #listForManifest(): string[] {
    this.#isManifestOld = false;
    return this.sources().flatMap((source) =>
      this.segments(source).map(({ envelope }) => manifestName(envelope)),
    );
  }

  #change<T>({ source, partition }: PartitionKey, work: () => Promise<T>): Promise<T> {
    const name = formatKey({ source, partition });
    const done = (this.#changes.get(name) ?? Promise.resolve()).then(work);
    const settled = done
      .catch(() => {})
      .then(() => {
        if (this.#changes.get(name) === settled) this.#changes.delete(name);
      });
    this.#changes.set(name, settled);
    return done;
  }

  /** Writes a file that replaces `replaced` and all leftovers of the partition. */
  async #write(
    segment: Omit<NewSegment, 'buffer'>,
    image: PackedImage,
    replaced: readonly number[],
  ): Promise<SegmentFile> {
    const { source, partition, covered } = segment;
    assert(/^[\w.-]+$/.test(source), 'the id of a source can name a folder');
    const id = this.#idNext++;
    const leftovers = this.#getLeftovers({ source, partition });
    const origin = {
      ...{ id, source, partition, covered },
      ...{ replaced: [...leftovers, ...replaced], awaits: [] },
    };
    const packed = packSegment(image, origin);
    const path = this.#formatPath(segment, id);
    await this.#makeFolder(dirname(path));
    try {
      await writeDurably(this.#disk, path, packed.parts);
    } catch (error) {
      // The file may exist nevertheless, now or after a crash.
      leftovers.add(id);
      await this.#removeLeftovers(segment);
      throw error;
    }
    for (const replacedId of replaced) leftovers.add(replacedId);
    return SegmentFile.written(this.#disk, path, packed);
  }

  /**
   * Removes files that must not count, that no query reads and that the manifest does not name. A file that cannot be
   * removed remains a harmless leftover. Returns the first error.
   */
  async #removeLeftovers(key: PartitionKey): Promise<DiskError | undefined> {
    const leftovers = this.#getLeftovers(key);
    const unread = [...leftovers].filter(
      (id) => !this.#waiting.has(id) && !this.#manifest.mayName(manifestName({ ...key, id })),
    );
    const removed: number[] = [];
    let failure: DiskError | undefined;
    try {
      for (const id of unread.sort((left, right) => left - right)) {
        const error = await this.#remove(this.#formatPath(key, id));
        if (error === undefined) removed.push(id);
        failure ??= error;
      }
      if (removed.length > 0) await this.#disk.syncFolder(join(this.#path, key.source));
      for (const id of removed) leftovers.delete(id);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      failure ??= error;
    }
    return failure;
  }

  /** `undefined` if the file was removed or did not exist. */
  async #remove(path: string): Promise<DiskError | undefined> {
    try {
      await this.#disk.remove(path);
      return undefined;
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      return error.code === 'ENOENT' ? undefined : error;
    }
  }

  async #setAside({ path, envelope }: SegmentFile): Promise<void> {
    const moved = await this.#quarantine.move(path);
    this.#getLeftovers(envelope).delete(envelope.id);
    this.#onQuarantined(moved);
  }

  async #makeFolder(path: string): Promise<void> {
    if (this.#folders.has(path)) return;
    await this.#disk.makeFolder(this.#path);
    await this.#disk.makeFolder(path);
    await this.#disk.syncFolder(this.#path);
    await this.#disk.syncFolder(dirname(this.#path));
    this.#folders.add(path);
  }

  #formatPath({ source, partition }: PartitionKey, id: number): string {
    return join(this.#path, source, formatSegmentName({ partition, id }));
  }

  #counting({ source, partition }: PartitionKey): readonly SegmentFile[] {
    return this.#segments.get(source)?.get(partition) ?? [];
  }

  #getLeftovers(key: PartitionKey): Set<number> {
    const name = formatKey(key);
    const leftovers = this.#leftovers.get(name) ?? new Set();
    this.#leftovers.set(name, leftovers);
    return leftovers;
  }

  #insert(segment: SegmentFile): void {
    this.#isManifestOld = true;
    const { source, partition } = segment.envelope;
    const partitions = this.#segments.get(source) ?? new Map<number, SegmentFile[]>();
    const segments = [...this.#counting({ source, partition }), segment];
    segments.sort((left, right) => left.envelope.id - right.envelope.id);
    partitions.set(partition, segments);
    this.#segments.set(source, partitions);
  }

  #forget(segment: SegmentFile): void {
    this.#isManifestOld = true;
    const { source, partition } = segment.envelope;
    const partitions = this.#segments.get(source);
    const left = this.#counting({ source, partition }).filter((other) => other !== segment);
    if (left.length === 0) partitions?.delete(partition);
    else partitions?.set(partition, left);
  }
}

function told(load: SegmentLoad, onLoaded: (load: SegmentLoad) => void): SegmentLoad {
  onLoaded(load);
  return load;
}

function getPartitionKey(segments: readonly SegmentFile[]): PartitionKey {
  const { source, partition } = must(segments[0], 'there is a segment to replace').envelope;
  return { source, partition };
}

function listIds(segments: readonly SegmentFile[]): number[] {
  return segments.map(({ envelope }) => envelope.id);
}

function coveredBy(segments: readonly SegmentFile[]): SequenceInterval[] {
  return unionOfIntervals(segments.flatMap(({ envelope }) => envelope.covered));
}

function formatKey({ source, partition }: PartitionKey): string {
  return `${source} ${partition}`;
}
