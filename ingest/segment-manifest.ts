import { dirname, join } from 'node:path';
import { passOverMissing, readCheckedJson, writeChecked } from './checked-file.ts';
import { type Disk, DiskError } from './disk/disk.ts';
import { formatSegmentName, parseSegmentName, type SegmentName } from './segment-name.ts';
import { SerialWork } from './serial-work.ts';

/** The name of the manifest, which lies beside the folder of segments and so survives its loss. */
export const MANIFEST_FILE = 'segment-manifest';

/** A segment file and its source. */
export type SourceSegmentName = SegmentName & { readonly source: string };

/** The name of a segment file in the manifest: `postgres.logs/2026-01-15.0000000042.segment`. */
export function manifestName(file: SourceSegmentName): string {
  return `${file.source}/${formatSegmentName(file)}`;
}

/** The names, ascending; `undefined` if there is no manifest, as in older versions. Rejects with a ReadError. */
export async function readManifest(
  disk: Disk,
  segmentsPath: string,
): Promise<readonly string[] | 'damaged' | undefined> {
  const found = await readCheckedJson<string[]>(disk, formatPath(segmentsPath));
  return found === 'missing' ? undefined : found;
}

/** The named files that are not at their paths. */
export function missingFiles(
  names: readonly string[],
  found: Iterable<SourceSegmentName>,
): SourceSegmentName[] {
  const foundNames = new Set([...found].map(manifestName));
  return names.flatMap((name) => {
    if (foundNames.has(name)) return [];
    const [source = '', file = ''] = name.split('/');
    const parsed = parseSegmentName(file);
    return parsed === undefined ? [] : [{ ...parsed, source }];
  });
}

/**
 * The manifest: a file with the names of the segment files that count, by which a start detects missing ones.
 *
 * Invariant: weir removes a segment file only when the manifest on disk durably does not name it (`mayName`). A name is added
 * when its file is durable. So after any crash, a named file is at its path or in quarantine, unless something other than weir
 * removed it. A file that is not named counts nevertheless.
 *
 * So the manifest may lag behind, and no change waits for it: it is written once a second while files are added or removed,
 * and at a clean stop. The loss of a file within a second of its storing is not noticed. Files that a merge replaced remain
 * until the next write has omitted their names (`unnamed`). Only dropping a day writes it at once.
 *
 * After a failed write it is unknown which of the two versions is on disk, so each name of either may be there.
 *
 * Cost: 50 bytes a name, so 50 KB for a thousand segments, and two small syncs for all changes of a second.
 */
export class SegmentManifest {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #writes = new SerialWork();
  /** All names that the file on disk may contain, now or after a crash; `undefined`: any. */
  #possible: ReadonlySet<string> | undefined;
  /** The durable contents of the file on disk; `undefined` while they are unknown. */
  #written: string | undefined;
  #waiting: { readonly names: readonly string[]; readonly resolve: () => void }[] = [];

  private constructor(disk: Disk, path: string, names: readonly string[] | 'damaged' | undefined) {
    this.#disk = disk;
    this.#path = path;
    this.#possible = new Set(names === 'damaged' ? [] : names);
    this.#written = names === 'damaged' ? undefined : encode(names ?? []);
  }

  /** Continues with `names`, which `readManifest` returned. Does not change them. */
  static async begin(
    disk: Disk,
    segmentsPath: string,
    names: readonly string[] | 'damaged' | undefined,
  ): Promise<SegmentManifest> {
    const manifest = new SegmentManifest(disk, formatPath(segmentsPath), names);
    try {
      // A killed process may have left a version that is visible but not durable; a crash would restore an older one.
      await disk.syncFolder(dirname(manifest.#path)).catch(passOverMissing);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      manifest.#written = undefined;
      manifest.#possible = undefined;
    }
    return manifest;
  }

  /** Whether the file on disk may contain the name, now or after a crash. */
  mayName(name: string): boolean {
    return this.#possible === undefined || this.#possible.has(name);
  }

  /** Whether the contents on disk are known. */
  get isWritten(): boolean {
    return this.#written !== undefined;
  }

  /** Resolves when a write has omitted these names; never rejects. `undefined` if the file contains none of them. */
  unnamed(names: readonly string[]): Promise<void> | undefined {
    if (!names.some((name) => this.mayName(name))) return undefined;
    return new Promise((resolve) => this.#waiting.push({ names, resolve }));
  }

  /**
   * Replaces the names. Calls `listNames` when the write begins, so files may be removed until then. Rejects with a
   * `DiskError`.
   */
  write(listNames: () => readonly string[]): Promise<void> {
    return this.#writes.run(async () => {
      const names = listNames().toSorted();
      const body = encode(names);
      if (body === this.#written) return;
      this.#written = undefined;
      this.#possible &&= new Set([...this.#possible, ...names]);
      await writeChecked(this.#disk, this.#path, body);
      this.#written = body;
      this.#noteDurable(names);
    });
  }

  /**
   * Replaces the names, or removes the manifest, which a full disk permits. Only these names may be on disk afterwards.
   * Rejects with a `DiskError`.
   */
  async writeOrRemove(listNames: () => readonly string[]): Promise<void> {
    try {
      await this.write(listNames);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      await this.#writes.run(async () => {
        this.#written = undefined;
        await this.#disk.remove(this.#path).catch(passOverMissing);
        await this.#disk.syncFolder(dirname(this.#path));
        this.#noteDurable([]);
      });
    }
  }

  #noteDurable(names: readonly string[]): void {
    this.#possible = new Set(names);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) {
      if (one.names.some((name) => this.mayName(name))) this.#waiting.push(one);
      else one.resolve();
    }
  }
}

function encode(names: readonly string[]): string {
  return JSON.stringify(names);
}

function formatPath(segmentsPath: string): string {
  return join(dirname(segmentsPath), MANIFEST_FILE);
}
