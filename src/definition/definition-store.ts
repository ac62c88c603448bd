import { dirname, join } from 'node:path';
import {
  CHECKSUM_SIZE,
  type CheckedPair,
  COPY_ENDING,
  judgePair,
  passOverMissing,
  writePair,
} from '../../ingest/checked-file.ts';
import { type Disk, DiskError, namesIn } from '../../ingest/disk/disk.ts';
import { TEMPORARY_ENDING } from '../../ingest/segment-name.ts';
import { isUuid } from '../../ingest/source.ts';
import { DEFINITION_BYTES_MAX } from '../limits.ts';
import { DEFINITION_ENDING } from './definition-reading.ts';

/**
 * The definitions made over HTTP: a file for each, named by its id, and a copy, each with a
 * checksum. A crash leaves a change complete or absent, and complete once `write` or `remove` has
 * resolved, even if one of the two files is damaged.
 *
 * One call at a time.
 */
export class DefinitionStore {
  readonly #disk: Disk;
  readonly #folder: string;
  #isMade = false;

  /** `folder` may be missing; its parent must exist. */
  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  /**
   * Reads each file and its copy, by id. Removes what a crash left half written, and ignores other
   * files. Rejects with a `DiskError`.
   */
  async read(): Promise<ReadonlyMap<string, CheckedPair>> {
    const files = new Map<string, CheckedPair>();
    const names = (await namesIn(this.#disk, this.#folder)) ?? [];
    for (const name of [...names].sort()) {
      const path = join(this.#folder, name);
      if (name.endsWith(TEMPORARY_ENDING)) await this.#disk.remove(path);
      const id = parseId(name);
      if (id === undefined || files.has(id)) continue;
      const whole = this.formatPath(id);
      const copy = await this.#readFile(whole + COPY_ENDING);
      files.set(id, judgePair(await this.#readFile(whole), copy));
    }
    return files;
  }

  /**
   * Replaces the text of a definition. After a rejection with a `DiskError`, either text may be on
   * disk.
   */
  async write(id: string, fileText: string): Promise<void> {
    await this.#makeFolder();
    await writePair(this.#disk, this.formatPath(id), fileText);
  }

  /** Removes a definition. It may be gone even after a rejection with a `DiskError`. */
  async remove(id: string): Promise<void> {
    const path = this.formatPath(id);
    // The copy goes first: the file alone is still the definition, while the copy alone would be
    // restored.
    await this.#disk.remove(path + COPY_ENDING).catch(passOverMissing);
    await this.#disk.remove(path).catch(passOverMissing);
    await this.#disk.syncFolder(this.#folder);
  }

  formatPath(id: string): string {
    return join(this.#folder, id + DEFINITION_ENDING);
  }

  async #makeFolder(): Promise<void> {
    if (this.#isMade) return;
    await this.#disk.makeFolder(this.#folder);
    await this.#disk.syncFolder(dirname(this.#folder));
    this.#isMade = true;
  }

  /**
   * Returns `undefined` for a missing file. Reads one byte above the limit, to detect files that
   * are too large.
   */
  async #readFile(path: string): Promise<Uint8Array | undefined> {
    const reader = await this.#disk.open(path).catch((error: unknown): undefined => {
      if (!(error instanceof DiskError) || error.code !== 'ENOENT') throw error;
    });
    if (reader === undefined) return undefined;
    try {
      const sizeMax = CHECKSUM_SIZE + DEFINITION_BYTES_MAX + 1;
      const bytes = new Uint8Array(Math.min(reader.size, sizeMax));
      return bytes.subarray(0, await reader.read(bytes, 0));
    } finally {
      await reader.close();
    }
  }
}

/** Parses the id from a file name; `undefined` for names of other files. */
function parseId(name: string): string | undefined {
  const whole = name.endsWith(COPY_ENDING) ? name.slice(0, -COPY_ENDING.length) : name;
  if (!whole.endsWith(DEFINITION_ENDING)) return undefined;
  const id = whole.slice(0, -DEFINITION_ENDING.length);
  return isUuid(id) && id === id.toLowerCase() ? id : undefined;
}
