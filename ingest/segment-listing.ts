import { join, relative } from 'node:path';
import { countingFiles } from './counting-files.ts';
import { type Disk, DiskError, namesIn } from './disk/disk.ts';
import type { FolderDamage, UncheckedFile } from './folder-damage.ts';
import { SEGMENT_LISTINGS_MAX, SEGMENTS_OPENED_MAX } from './limits.ts';
import { SegmentFile } from './segment-file.ts';
import { SegmentDamageError, SegmentVersionError } from './segment-layout.ts';
import { parseSegmentName, type SegmentName, TEMPORARY_ENDING } from './segment-name.ts';

/** A file that does not count beside others, and will be removed. */
export type Leftover = {
  readonly path: string;
  readonly byteSize: number;
  /** Another file has its rows; or it is being written, or was when a process died. */
  readonly kind: 'replaced' | 'temporary';
};

/** The segment files of a data folder at one moment. Paths but those of `segments` are relative. */
export type ListedSegments = {
  /** Files that count, by source, then day, then age. */
  readonly segments: readonly SegmentFile[];
  readonly leftovers: readonly Leftover[];
  readonly damages: readonly FolderDamage[];
  readonly unchecked: readonly UncheckedFile[];
  /** Names that no segment file has. */
  readonly unknown: readonly string[];
  /** False when files came and went so fast that this may be no single moment. */
  readonly isSettled: boolean;
};

type Entry = SegmentName & {
  readonly source: string;
  readonly path: string;
  readonly isTemporary: boolean;
};

type Opened =
  | { readonly kind: 'segment'; readonly file: SegmentFile }
  | { readonly kind: 'temporary'; readonly byteSize: number }
  | { readonly kind: 'damaged'; readonly reason: string }
  | { readonly kind: 'unchecked'; readonly reason: string };

/** What was found at one look at the names. */
type Names = { readonly entries: readonly Entry[]; readonly unknown: readonly string[] };

/**
 * Lists segment files from outside, while a service may be adding, merging and removing them. Nothing
 * is changed.
 *
 * A folder is not read in one moment: of a merge under way one look may see neither the new file nor
 * the old ones. So it is looked at until two looks in a row see the same names, and all of them could
 * be opened. What was opened once is not opened again by a later `read`.
 */
export class SegmentListing {
  readonly #disk: Disk;
  readonly #dataDir: string;
  readonly #folder: string;
  #opened = new Map<string, Opened>();

  constructor(disk: Disk, dataDir: string) {
    this.#disk = disk;
    this.#dataDir = dataDir;
    this.#folder = join(dataDir, 'segments');
  }

  /** Rejects with a DiskError when a folder cannot be listed. */
  async read(): Promise<ListedSegments> {
    let before: string | undefined;
    for (let look = 1; ; look++) {
      const names = await this.#list();
      const isWhole = await this.#openAll(names.entries);
      const seen = JSON.stringify(names.entries.map(({ path }) => path));
      const isSettled = isWhole && seen === before;
      if (isSettled || look === SEGMENT_LISTINGS_MAX) return this.#judge(names, isSettled);
      before = seen;
    }
  }

  async #list(): Promise<Names> {
    const entries: Entry[] = [];
    const unknown: string[] = [];
    for (const source of (await this.#disk.list(this.#folder)).toSorted()) {
      const folder = join(this.#folder, source);
      const names = await namesIn(this.#disk, folder);
      if (names === undefined) unknown.push(relative(this.#dataDir, folder));
      for (const name of names?.toSorted() ?? []) {
        const isTemporary = name.endsWith(TEMPORARY_ENDING);
        const final = isTemporary ? name.slice(0, -TEMPORARY_ENDING.length) : name;
        const parsed = parseSegmentName(final);
        const path = join(folder, name);
        if (parsed === undefined) unknown.push(relative(this.#dataDir, path));
        else entries.push({ ...parsed, source, path, isTemporary });
      }
    }
    return { entries, unknown };
  }

  /** Opens what is new, forgets what is gone. Whether all that was listed is there. */
  async #openAll(entries: readonly Entry[]): Promise<boolean> {
    const opened = new Map<string, Opened>();
    let isWhole = true;
    for (let start = 0; start < entries.length; start += SEGMENTS_OPENED_MAX) {
      const some = entries.slice(start, start + SEGMENTS_OPENED_MAX);
      const found = await Promise.all(
        some.map(async (entry) => ({
          path: entry.path,
          one: this.#opened.get(entry.path) ?? (await this.#open(entry)),
        })),
      );
      for (const { path, one } of found) {
        if (one === undefined) isWhole = false;
        else opened.set(path, one);
      }
    }
    this.#opened = opened;
    return isWhole;
  }

  /** `undefined` when the file is gone, or has got its final name. */
  async #open(entry: Entry): Promise<Opened | undefined> {
    const { path, source, partition, id } = entry;
    try {
      if (entry.isTemporary) {
        const reader = await this.#disk.open(path);
        await reader.close();
        return { kind: 'temporary', byteSize: reader.size };
      }
      const file = await SegmentFile.open(this.#disk, path);
      const { envelope } = file;
      const isItself =
        envelope.source === source && envelope.partition === partition && envelope.id === id;
      if (isItself) return { kind: 'segment', file };
      const reason = `it is a copy of segment ${envelope.id} of ${envelope.source}`;
      return { kind: 'damaged', reason };
    } catch (error) {
      if (error instanceof DiskError && error.code === 'ENOENT') return undefined;
      if (error instanceof SegmentDamageError) {
        return { kind: 'damaged', reason: 'neither of its envelopes is whole' };
      }
      if (error instanceof SegmentVersionError || error instanceof DiskError) {
        return { kind: 'unchecked', reason: error.message };
      }
      throw error;
    }
  }

  #judge({ entries, unknown }: Names, isSettled: boolean): ListedSegments {
    const files: SegmentFile[] = [];
    const leftovers: Leftover[] = [];
    const damages: FolderDamage[] = [];
    const unchecked: UncheckedFile[] = [];
    for (const { path: whole, source } of entries) {
      const opened = this.#opened.get(whole);
      const path = relative(this.#dataDir, whole);
      if (opened === undefined) continue;
      if (opened.kind === 'temporary') {
        leftovers.push({ path, byteSize: opened.byteSize, kind: 'temporary' });
      } else if (opened.kind === 'damaged') {
        damages.push({ kind: 'segment', path, source, reason: opened.reason });
      } else if (opened.kind === 'unchecked') {
        unchecked.push({ path, reason: opened.reason });
      } else files.push(opened.file);
    }
    const replaced = new Set(countingFiles(files).replaced);
    for (const file of replaced) {
      const path = relative(this.#dataDir, file.path);
      leftovers.push({ path, byteSize: file.byteSize, kind: 'replaced' });
    }
    const segments = files.filter((file) => !replaced.has(file));
    for (const { path: whole, damagedCopy } of segments) {
      const path = relative(this.#dataDir, whole);
      if (damagedCopy !== undefined) damages.push({ kind: 'envelope', path, copy: damagedCopy });
    }
    return { segments, leftovers, damages, unchecked, unknown, isSettled };
  }
}
