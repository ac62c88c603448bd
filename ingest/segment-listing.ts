import { join, relative } from 'node:path';
import { countingFiles } from './counting-files.ts';
import { type Disk, DiskError, namesIn } from './disk/disk.ts';
import { SteadyDisk } from './disk/steady-disk.ts';
import type { FolderDamage, UncheckedFile } from './folder-damage.ts';
import { SEGMENT_LISTINGS_MAX, SEGMENTS_OPENED_MAX } from './limits.ts';
import { listSetAside } from './quarantine.ts';
import { SegmentFile } from './segment-file.ts';
import { SegmentDamageError, SegmentVersionError } from './segment-layout.ts';
import {
  MANIFEST_FILE,
  manifestName,
  missingFiles,
  readManifest,
  type SourceSegmentName,
} from './segment-manifest.ts';
import { formatSegmentName, parseSegmentName, TEMPORARY_ENDING } from './segment-name.ts';

/** A file that does not count and will be removed. */
export type Leftover = {
  readonly path: string;
  readonly byteSize: number;
  /** Its rows are in another file; or it is being written, now or when a process died. */
  readonly kind: 'replaced' | 'temporary';
};

/** The segment files of a data folder at one moment. Paths are relative, except those of `segments`. */
export type ListedSegments = {
  /** Files that count, by source, then day, then age. */
  readonly segments: readonly SegmentFile[];
  readonly leftovers: readonly Leftover[];
  readonly damages: readonly FolderDamage[];
  readonly unchecked: readonly UncheckedFile[];
  /** Names that no segment file has. */
  readonly unknown: readonly string[];
  /** False if files changed so fast that the list may mix several moments. */
  readonly isSettled: boolean;
};

type Entry = SourceSegmentName & {
  readonly path: string;
  readonly isTemporary: boolean;
};

type Opened =
  | { readonly kind: 'segment'; readonly file: SegmentFile }
  | { readonly kind: 'temporary'; readonly byteSize: number }
  | { readonly kind: 'damaged'; readonly reason: string }
  | { readonly kind: 'unchecked'; readonly reason: string };

/** The names in the manifest, or its damage. */
type Named = readonly string[] | Extract<FolderDamage, { kind: 'manifest' }> | UncheckedFile;

/** The names found in one look. */
type Names = { readonly entries: readonly Entry[]; readonly unknown: readonly string[] };

/**
 * Lists segment files from outside of the service, which may add, merge and remove files meanwhile. Changes nothing.
 *
 * Reading a folder is not atomic: during a merge, one look may see neither the new file nor the old ones. So looks are
 * repeated until two in a row see the same names and all files could be opened. A later `read` does not open known
 * files again.
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

  /** Rejects with a DiskError if a folder cannot be listed. */
  async read(): Promise<ListedSegments> {
    const named = await this.#readManifest();
    let before: string | undefined;
    for (let look = 1; ; look++) {
      const names = await this.#list();
      const isWhole = await this.#openAll(names.entries);
      const seen = JSON.stringify(names.entries.map(({ path }) => path));
      const isSettled = isWhole && seen === before;
      if (isSettled || look === SEGMENT_LISTINGS_MAX) {
        const listed = this.#judge(names, isSettled);
        const damages = [...listed.damages, ...(await this.#findMissing(named, names.entries))];
        const unchecked = [...listed.unchecked, ...('reason' in named ? [named] : [])];
        return { ...listed, damages, unchecked };
      }
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

  async #readManifest(): Promise<Named> {
    const path = MANIFEST_FILE;
    try {
      const names = (await readManifest(this.#disk, this.#folder)) ?? [];
      return names === 'damaged' ? { kind: 'manifest', path } : names;
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      return { path, reason: error.message };
    }
  }

  /**
   * Files that the manifest names before the look and still after it existed all the while, unless something other than
   * weir removed them or they are in quarantine. A file is in quarantine before its name is removed. `before`: the
   * result of `#readManifest`.
   */
  async #findMissing(before: Named, entries: readonly Entry[]): Promise<FolderDamage[]> {
    if (!isList(before)) return 'kind' in before ? [before] : [];
    const found = entries.filter(({ isTemporary }) => !isTemporary);
    const disk = SteadyDisk.of(this.#disk);
    const setAside = await listSetAside(disk, join(this.#dataDir, 'quarantine'));
    const missing = missingFiles(before, [...found, ...setAside]);
    const after = missing.length === 0 ? [] : await this.#readManifest();
    const names = new Set(isList(after) ? after : []);
    return missing
      .filter((file) => names.has(manifestName(file)))
      .map((file) => {
        const path = join('segments', file.source, formatSegmentName(file));
        return { kind: 'missing', path, source: file.source };
      });
  }

  /** Opens new files and drops missing ones. Returns whether all listed files exist. */
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

  /** `undefined` if the file is gone or was renamed to its final name. */
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

function isList(named: Named): named is readonly string[] {
  return Array.isArray(named);
}
