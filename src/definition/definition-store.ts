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
 * The definitions that were made over HTTP: a file for each, named by its id, and a copy beside it, each with a
 * checksum. After a crash there is of each change either all or nothing, and all where `write` or `remove` had
 * resolved; that holds also where one of the two files is damaged.
 *
 * One call at a time.
 */
export class DefinitionStore {
  readonly #disk: Disk;
  readonly #folder: string;
  #isMade = false;

  /** `folder` need not be there yet; the one above it is. */
  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  /**
   * What each file and its copy say, by id; none is missing. What a crash left half written is removed; other
   * files are passed over. Rejects with a `DiskError`.
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

  /** Writes a text, in place of the one before. After a rejection with a `DiskError` either of the two may be there. */
  async write(id: string, fileText: string): Promise<void> {
    await this.#makeFolder();
    await writePair(this.#disk, this.formatPath(id), fileText);
  }

  /** Rejects with a `DiskError`; it may be gone all the same. */
  async remove(id: string): Promise<void> {
    const path = this.formatPath(id);
    // The copy first: the file without it is what it was, and the copy alone would be put back.
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

  /** `undefined` when it is not there. One byte more than there may be says that there are too many. */
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

/** `undefined` for a name that neither a definition nor its copy has. */
function parseId(name: string): string | undefined {
  const whole = name.endsWith(COPY_ENDING) ? name.slice(0, -COPY_ENDING.length) : name;
  if (!whole.endsWith(DEFINITION_ENDING)) return undefined;
  const id = whole.slice(0, -DEFINITION_ENDING.length);
  return isUuid(id) && id === id.toLowerCase() ? id : undefined;
}
