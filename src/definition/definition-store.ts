import { dirname, join } from 'node:path';
import { type Disk, DiskError, namesIn } from '../../ingest/disk/disk.ts';
import { writeDurably } from '../../ingest/durable-file.ts';
import { TEMPORARY_ENDING } from '../../ingest/segment-name.ts';
import { isUuid } from '../../ingest/source.ts';
import { DEFINITION_BYTES_MAX } from '../limits.ts';
import { DEFINITION_ENDING } from './definition-reading.ts';

/**
 * The definitions that were made over HTTP: a file for each, named by its id. After a crash there is of
 * each change either all or nothing, and all where `write` or `remove` had resolved.
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
   * The bytes of each file, by id. What a crash left half written is removed; other files are passed
   * over. Rejects with a `DiskError`.
   */
  async read(): Promise<ReadonlyMap<string, Uint8Array>> {
    const files = new Map<string, Uint8Array>();
    const names = (await namesIn(this.#disk, this.#folder)) ?? [];
    for (const name of [...names].sort()) {
      const path = join(this.#folder, name);
      if (name.endsWith(TEMPORARY_ENDING)) await this.#disk.remove(path);
      const id = idOf(name);
      if (id !== undefined) files.set(id, await this.#readFile(path));
    }
    return files;
  }

  /** Puts a text in the place of what there was. Rejects with a `DiskError`; it may be there all the same. */
  async write(id: string, fileText: string): Promise<void> {
    await this.#makeFolder();
    const path = this.pathOf(id);
    // A write that failed before may have left its half.
    await this.#disk.remove(path + TEMPORARY_ENDING).catch(passOverMissing);
    await writeDurably(this.#disk, path, [Buffer.from(fileText)]);
  }

  /** Rejects with a `DiskError`; it may be gone all the same. */
  async remove(id: string): Promise<void> {
    await this.#disk.remove(this.pathOf(id)).catch(passOverMissing);
    await this.#disk.syncFolder(this.#folder);
  }

  pathOf(id: string): string {
    return join(this.#folder, id + DEFINITION_ENDING);
  }

  async #makeFolder(): Promise<void> {
    if (this.#isMade) return;
    await this.#disk.makeFolder(this.#folder);
    await this.#disk.syncFolder(dirname(this.#folder));
    this.#isMade = true;
  }

  /** One byte more than there may be says that there are too many. */
  async #readFile(path: string): Promise<Uint8Array> {
    const reader = await this.#disk.open(path);
    try {
      const bytes = new Uint8Array(Math.min(reader.size, DEFINITION_BYTES_MAX + 1));
      return bytes.subarray(0, await reader.read(bytes, 0));
    } finally {
      await reader.close();
    }
  }
}

/** `undefined` for a name that `pathOf` does not give. */
function idOf(name: string): string | undefined {
  if (!name.endsWith(DEFINITION_ENDING)) return undefined;
  const id = name.slice(0, -DEFINITION_ENDING.length);
  return isUuid(id) && id === id.toLowerCase() ? id : undefined;
}

function passOverMissing(error: unknown): void {
  if (!(error instanceof DiskError) || error.code !== 'ENOENT') throw error;
}
