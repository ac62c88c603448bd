import { dirname, join } from 'node:path';
import { passOverMissing, readCheckedJson, writeChecked } from './checked-file.ts';
import { type Disk, DiskError } from './disk/disk.ts';
import { formatSegmentName, parseSegmentName, type SegmentName } from './segment-name.ts';
import { SerialWork } from './serial-work.ts';

/** Name of the manifest, in the folder that the folder of segments lies in: it outlasts the loss of that. */
export const MANIFEST_FILE = 'segment-manifest';

/** A segment file, and the source whose folder it lies in. */
export type SourceSegmentName = SegmentName & { readonly source: string };

/** The name of a segment file in the manifest: `postgres.logs/2026-01-15.0000000042.segment`. */
export function manifestName(file: SourceSegmentName): string {
  return `${file.source}/${formatSegmentName(file)}`;
}

/** Ascending; `undefined` where there is none, as older versions did not write it. Rejects with a ReadError. */
export async function readManifest(
  disk: Disk,
  segmentsPath: string,
): Promise<readonly string[] | 'damaged' | undefined> {
  const found = await readCheckedJson<string[]>(disk, pathOf(segmentsPath));
  return found === 'missing' ? undefined : found;
}

/** Those of the names that are not in the place where they belong. */
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
 * The names of the segment files that count, in a file of their own: a start finds by it which are missing.
 *
 * Invariant: weir removes a segment file only when the manifest on disk does not name it, durably (`mayName`). A name
 * comes in when its file is durable. So whatever a crash leaves, a file that is named is in its place, or in
 * quarantine, unless somebody else removed it. A file that is not named counts all the same.
 *
 * So the manifest need not be exact, and nobody waits for it: it is written once a second when files have come or
 * gone, and at a clean stop. A file that is lost within a second of being stored is not noticed. What a merge has
 * replaced stays until the next write has left its name out (`unnamed`); only to drop a day is it written at once.
 *
 * When a write fails nobody knows which of the two versions is on disk: then each name of either may be there.
 *
 * Estimate: 50 bytes a name, so 50 KB for a thousand segments, and two small syncs for all changes of a second.
 */
export class SegmentManifest {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #writes = new SerialWork();
  /** All names that the file on disk may have, now or after a crash; `undefined`: any. */
  #possible: ReadonlySet<string> | undefined;
  /** What is on disk, durably; `undefined` while that is not known. */
  #written: string | undefined;
  #waiting: { readonly names: readonly string[]; readonly resolve: () => void }[] = [];

  private constructor(disk: Disk, path: string, names: readonly string[] | 'damaged' | undefined) {
    this.#disk = disk;
    this.#path = path;
    this.#possible = new Set(names === 'damaged' ? [] : names);
    this.#written = names === 'damaged' ? undefined : encode(names ?? []);
  }

  /** Goes on from `names`, which `readManifest` found. Changes no name. */
  static async begin(
    disk: Disk,
    segmentsPath: string,
    names: readonly string[] | 'damaged' | undefined,
  ): Promise<SegmentManifest> {
    const manifest = new SegmentManifest(disk, pathOf(segmentsPath), names);
    try {
      // A process that was killed may have left what is seen and not durable: a crash would bring back other names.
      await disk.syncFolder(dirname(manifest.#path)).catch(passOverMissing);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      manifest.#written = undefined;
      manifest.#possible = undefined;
    }
    return manifest;
  }

  /** Whether the file on disk may have the name, now or after a crash. */
  mayName(name: string): boolean {
    return this.#possible === undefined || this.#possible.has(name);
  }

  /** False when it is not known what is on disk. */
  get isWritten(): boolean {
    return this.#written !== undefined;
  }

  /** Resolves, and never rejects, once a write has left these names out; `undefined`: none of them is there. */
  unnamed(names: readonly string[]): Promise<void> | undefined {
    if (!names.some((name) => this.mayName(name))) return undefined;
    return new Promise((resolve) => this.#waiting.push({ names, resolve }));
  }

  /**
   * Writes these names, in place of those before. `listNames` is called when the write begins: until then a file may be
   * removed. Rejects with a `DiskError`.
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
   * Does what `write` does, or removes the manifest, for which a full disk has room. After it only these names may be
   * on disk. Rejects with a `DiskError`.
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

function pathOf(segmentsPath: string): string {
  return join(dirname(segmentsPath), MANIFEST_FILE);
}
