import { dirname, join } from 'node:path';
import { assert, must } from '../engine/assert.ts';
import { repairSegment } from '../engine/column/merge-segments.ts';
import type { PackedImage } from '../engine/column/packed-image.ts';
import type { SealedColumnName } from '../engine/column/sealed-columns.ts';
import { type Disk, DiskError } from './disk/disk.ts';
import { nameWritten, removeAside, writeAside, writeDurably } from './durable-file.ts';
import { DISK_FREE_BYTES_ENOUGH } from './limits.ts';
import { Quarantine } from './quarantine.ts';
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
  /** A sealed segment, all of its rows in the partition. */
  readonly buffer: SharedArrayBuffer;
  /** Log records whose rows of the partition are all in the segment. */
  readonly covered: readonly SequenceInterval[];
};

/** Segments to be stored, made one at a time. */
export type SegmentParts = {
  readonly count: number;
  /** `undefined` where what it is made of has changed. What it rejects with, a change does. */
  readonly make: (index: number) => Promise<SharedArrayBuffer | undefined>;
};

export type SegmentFolderOptions = RecoveryOptions & {
  /** The blocks of a sealed segment's file (`packImage`); `of`: what has made it. What it rejects with, a change does. */
  readonly pack: (buffer: SharedArrayBuffer, of: 'seal' | 'merge') => Promise<PackedImage>;
  /**
   * Asked right after a file has taken the place of others: resolves, and never rejects, once all who
   * may still read those have ended. `undefined`: nobody does; nobody ever does when left out.
   */
  readonly readersDone?: (() => Promise<void> | undefined) | undefined;
  /** Called when a damaged file is in quarantine, with its path there. */
  readonly onQuarantined?: (path: string) => void;
};

/** What became of a stored segment when it was loaded. */
export type SegmentLoad =
  | { readonly kind: 'whole'; readonly segment: SegmentFile; readonly buffer: SharedArrayBuffer }
  /** Without some columns; stored anew, the damaged file is in quarantine. */
  | {
      readonly kind: 'repaired';
      readonly segment: SegmentFile;
      readonly buffer: SharedArrayBuffer;
      readonly lostColumns: readonly SealedColumnName[];
    }
  /** Its rows cannot be told apart any more; the file is in quarantine. */
  | { readonly kind: 'lost'; readonly path: string };

/**
 * The segment files of all sources:
 *
 * ```
 * segments/<source id>/<day>.<segment id>.segment
 * ```
 *
 * No folder for a day: dropping a day is then removing files, with no folder to make, sync or remove,
 * and a source is one listing of some hundred names.
 *
 * What is on disk when no step is under way: each stored row in exactly one file that counts. Every
 * change is done by one rename, of a file that is whole and synced; whatever is left over, of a change that
 * failed or a process that died, is named in the `replaced` of the file that makes it void. Such
 * *leftovers* are named again in each further file of their partition until their removal is durable,
 * because the file that named them first may be replaced and gone itself.
 *
 * A file that is replaced while queries run stays, as a leftover, until the last of those that may have
 * it in their snapshot has ended; also until the manifest does not name it (`SegmentManifest`).
 *
 * Coverage is by partition: of log records in a file's interval, the rows in its partition are in
 * the file. When one sealing makes files for two days and the process dies between them, the rows of
 * the second day come from the log. No two files ever need to appear together.
 *
 * Changes of one partition are made one after another, in the order of the calls.
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
  /** Ids of files that must not count but may be there, by source and partition. */
  readonly #leftovers = new Map<string, Set<number>>();
  /** Ids of those leftovers that someone may still read, or that wait for the manifest. */
  readonly #waiting = new Set<number>();
  readonly #manifest: SegmentManifest;
  /** Whether files that count have come or gone since the manifest was last written. */
  #isManifestOld = true;
  /** Folders of sources known to be there, durably. */
  readonly #folders = new Set<string>();
  /** The last change of each partition with one under way; none of them rejects. */
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
   * Finds what is stored. Files that were being written, that are replaced, or whose day retention
   * has taken are removed; damaged ones go to quarantine. Rejects with `SegmentVersionError`
   * before anything is changed when a file is of another version, and with a `DiskError`.
   */
  static async recover(options: SegmentFolderOptions): Promise<{
    readonly folder: SegmentFolder;
    readonly report: RecoveryReport;
  }> {
    const recovered = await recoverSegments(options);
    const folder = new SegmentFolder(options, recovered);
    for (const segment of recovered.segments) folder.#insert(segment);
    for (const { source, partition, id } of recovered.leftovers) {
      folder.#leftoversOf({ source, partition }).add(id);
    }
    return { folder, report: recovered.report };
  }

  /** Files that count: partitions ascend, in a partition ids do. */
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
   * Stores a sealed segment. Once this has resolved it survives any crash. Rejects with a
   * `DiskError`; whether the segment would be found after a crash is open then, but not beside
   * another one that is added for the same rows later.
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
   * Stores a segment with all rows of some others of one partition in their place, and removes those
   * once nobody reads them. What they covered it covers. Resolves to `undefined`, and nothing has changed then, when one of
   * them does not count any more: its day was dropped meanwhile, or damage was found in it. Rejects
   * with a `DiskError`, and nothing has changed then either.
   *
   * `onReplaced` is called as soon as the new file counts: from then on nobody may begin to read the
   * others.
   */
  async replace(
    buffer: SharedArrayBuffer,
    replaced: readonly SegmentFile[],
    onReplaced: (stored: SegmentFile) => void = () => {},
  ): Promise<SegmentFile | undefined> {
    const key = partitionKeyOf(replaced);
    // Before the change: what is sealed need not wait for it to be stored.
    const image = await this.#pack(buffer, 'merge');
    return this.#change(key, async () => {
      if (!this.#areCounting(replaced)) return undefined;
      const covered = coveredBy(replaced);
      const ids = idsOf(replaced);
      const stored = await this.#write({ ...key, covered }, image, ids);
      await this.#takePlace(replaced, [stored], () => onReplaced(stored));
      return stored;
    });
  }

  /**
   * The same in several segments, which `parts` makes one after the other. They are written aside, while other changes
   * go on, and get their names at once: the last names the files that it makes void, and the others count when those do
   * not. Resolves to false, and nothing has changed then, when one of the others does not count any more, or a part is
   * not made. Rejects with a `DiskError` also where the disk has no room for them beside the others.
   */
  async replaceByParts(
    replaced: readonly SegmentFile[],
    parts: SegmentParts,
    onReplaced: (stored: readonly SegmentFile[]) => void = () => {},
  ): Promise<boolean> {
    const key = partitionKeyOf(replaced);
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
   * Removes all files of a partition, also those that someone reads: rows past the retention should
   * not be answered any more. Rejects with a `DiskError`; to be called again then.
   */
  dropPartition(key: PartitionKey): Promise<void> {
    return this.#change(key, async () => {
      for (const id of this.#leftoversOf(key)) this.#waiting.delete(id);
      for (const segment of this.#counting(key)) {
        this.#leftoversOf(key).add(segment.envelope.id);
        this.#forget(segment);
      }
      const ids = [...this.#leftoversOf(key)];
      if (ids.some((id) => this.#manifest.mayName(manifestName({ ...key, id })))) {
        await this.#manifest.writeOrRemove(() => this.#listForManifest());
      }
      const error = await this.#removeLeftovers(key);
      if (error !== undefined) throw error;
    });
  }

  /**
   * Reads a stored segment. Damage costs the columns it is in: their values are NULL from then on,
   * the fields stay. NULL is what the language has for a value nobody knows, and no row then says
   * anything that was not sent. The other way, an error for every query that meets the column, would
   * take a project's log page away for as long as logs are kept, because of one sector under a field
   * that nobody asked for. It is the caller who must tell a person, and count it.
   *
   * Resolves to `undefined` when the segment does not count any more. Rejects with a `DiskError` when
   * the file cannot be opened, or its repaired copy not be written.
   *
   * `onLoaded` gets what it resolves to before a damaged file goes to quarantine, so that who reads
   * files does not look for it there.
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
   * Writes the names of the files that count, for the next start to find the missing ones; does nothing when they are
   * written. To be called about once a second, and at a clean stop. Rejects with a `DiskError`; the next call tries
   * again.
   */
  async writeManifest(): Promise<void> {
    if (!this.#isManifestOld && this.#manifest.isWritten) return;
    await this.#manifest.write(() => this.#listForManifest());
  }

  /**
   * Resolves when nothing is under way. What someone still reads stays, and goes at the next start;
   * there should be no more calls.
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
      if (!this.#leftoversOf(segment.envelope).has(id)) return;
      try {
        await this.#setAside(segment);
      } catch (error) {
        // A damaged file that cannot be moved is a leftover, which does no harm.
        if (!(error instanceof DiskError)) throw error;
      }
    });
    return load;
  }

  /**
   * Part of a change: does away with leftovers after all that is to be waited for. At once where there is nothing;
   * else later, as a change of its own, so that others of the partition need not wait.
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

  /** Files that are durable, and make others void, count in their place; those go when nobody reads them. */
  async #takePlace(
    replaced: readonly SegmentFile[],
    stored: readonly SegmentFile[],
    onReplaced: () => void,
  ): Promise<void> {
    const key = partitionKeyOf(replaced);
    const ids = idsOf(replaced);
    for (const segment of replaced) this.#forget(segment);
    for (const segment of stored) this.#insert(segment);
    onReplaced();
    const names = ids.map((id) => manifestName({ ...key, id }));
    const waits = [this.#readersDone(), this.#manifest.unnamed(names)];
    await this.#after(waits, { key, ids }, () => this.#removeLeftovers(key));
  }

  #areCounting(segments: readonly SegmentFile[]): boolean {
    const counting = this.#counting(partitionKeyOf(segments));
    return segments.every((segment) => counting.includes(segment));
  }

  /** What stays free is the log's: without it no post is taken. */
  async #checkRoom(replaced: readonly SegmentFile[]): Promise<void> {
    const size = replaced.reduce((sum, { byteSize }) => sum + byteSize, 0);
    const freeBytes = await this.#disk.freeBytes(this.#path);
    if (freeBytes - size >= DISK_FREE_BYTES_ENOUGH) return;
    const cause = `${size} bytes are to be stored anew, ${freeBytes} are free, and ${DISK_FREE_BYTES_ENOUGH} stay free for the log`;
    throw new DiskError('divided', this.#path, cause);
  }

  /** Writes one of the files that take the place of others together, aside. */
  async #writePart(
    { source, partition, buffer }: PartitionKey & Pick<NewSegment, 'buffer'>,
    replacedFiles: readonly SegmentFile[],
    isLast: boolean,
  ): Promise<SegmentFile> {
    const id = this.#idNext++;
    const awaits = idsOf(replacedFiles);
    const replaced = isLast ? [...this.#leftoversOf({ source, partition }), ...awaits] : [];
    const covered = coveredBy(replacedFiles);
    const origin = { id, source, partition, covered, replaced, awaits };
    const packed = packSegment(await this.#pack(buffer, 'merge'), origin);
    const path = this.#pathOf({ source, partition }, id);
    await this.#makeFolder(dirname(path));
    await writeAside(this.#disk, path, packed.parts);
    return SegmentFile.written(this.#disk, path, packed);
  }

  /** Part of a change. The name of the last is given when those of all others are durable. */
  async #nameParts(key: PartitionKey, parts: readonly SegmentFile[]): Promise<void> {
    const folder = join(this.#path, key.source);
    const last = must(parts.at(-1), 'there are parts');
    try {
      for (const { path } of parts.slice(0, -1)) await nameWritten(this.#disk, path);
      await this.#disk.syncFolder(folder);
      await nameWritten(this.#disk, last.path);
      await this.#disk.syncFolder(folder);
    } catch (error) {
      // The last may be there all the same, now or after a crash, and the others count then: all stay until the next start
      // sees which it is.
      for (const id of idsOf(parts)) {
        this.#leftoversOf(key).add(id);
        this.#waiting.add(id);
      }
      throw error;
    }
    for (const id of last.envelope.awaits) this.#leftoversOf(key).add(id);
  }

  #listForManifest(): string[] {
    this.#isManifestOld = false;
    return this.sources().flatMap((source) =>
      this.segments(source).map(({ envelope }) => manifestName(envelope)),
    );
  }

  #change<T>({ source, partition }: PartitionKey, work: () => Promise<T>): Promise<T> {
    const name = nameOf({ source, partition });
    const done = (this.#changes.get(name) ?? Promise.resolve()).then(work);
    const settled = done
      .catch(() => {})
      .then(() => {
        if (this.#changes.get(name) === settled) this.#changes.delete(name);
      });
    this.#changes.set(name, settled);
    return done;
  }

  /** Writes a file that makes `replaced`, and all leftovers of the partition, void. */
  async #write(
    segment: Omit<NewSegment, 'buffer'>,
    image: PackedImage,
    replaced: readonly number[],
  ): Promise<SegmentFile> {
    const { source, partition, covered } = segment;
    assert(/^[\w.-]+$/.test(source), 'the id of a source can name a folder');
    const id = this.#idNext++;
    const leftovers = this.#leftoversOf({ source, partition });
    const origin = {
      ...{ id, source, partition, covered },
      ...{ replaced: [...leftovers, ...replaced], awaits: [] },
    };
    const packed = packSegment(image, origin);
    const path = this.#pathOf(segment, id);
    await this.#makeFolder(dirname(path));
    try {
      await writeDurably(this.#disk, path, packed.parts);
    } catch (error) {
      // The file may be there all the same, now or after a crash.
      leftovers.add(id);
      await this.#removeLeftovers(segment);
      throw error;
    }
    for (const replacedId of replaced) leftovers.add(replacedId);
    return SegmentFile.written(this.#disk, path, packed);
  }

  /**
   * Tries to remove what must not count, nobody reads and the manifest does not name. What cannot be removed now stays
   * a leftover, and does no harm: gives the first error.
   */
  async #removeLeftovers(key: PartitionKey): Promise<DiskError | undefined> {
    const leftovers = this.#leftoversOf(key);
    const unread = [...leftovers].filter(
      (id) => !this.#waiting.has(id) && !this.#manifest.mayName(manifestName({ ...key, id })),
    );
    const removed: number[] = [];
    let failure: DiskError | undefined;
    try {
      for (const id of unread.sort((left, right) => left - right)) {
        const error = await this.#remove(this.#pathOf(key, id));
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

  /** `undefined` when the file is gone, or was not there. */
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
    this.#leftoversOf(envelope).delete(envelope.id);
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

  #pathOf({ source, partition }: PartitionKey, id: number): string {
    return join(this.#path, source, formatSegmentName({ partition, id }));
  }

  #counting({ source, partition }: PartitionKey): readonly SegmentFile[] {
    return this.#segments.get(source)?.get(partition) ?? [];
  }

  #leftoversOf(key: PartitionKey): Set<number> {
    const name = nameOf(key);
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

function partitionKeyOf(segments: readonly SegmentFile[]): PartitionKey {
  const { source, partition } = must(segments[0], 'there is a segment to replace').envelope;
  return { source, partition };
}

function idsOf(segments: readonly SegmentFile[]): number[] {
  return segments.map(({ envelope }) => envelope.id);
}

function coveredBy(segments: readonly SegmentFile[]): SequenceInterval[] {
  return unionOfIntervals(segments.flatMap(({ envelope }) => envelope.covered));
}

function nameOf({ source, partition }: PartitionKey): string {
  return `${source} ${partition}`;
}
