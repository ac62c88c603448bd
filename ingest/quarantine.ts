import { basename, dirname, join } from 'node:path';
import type { Disk, DiskReader } from './disk/disk.ts';
import { LOG_READ_BYTES } from './limits.ts';

/** The folder that what is damaged goes to, so that nothing that may be of worth is thrown away. */
export class Quarantine {
  readonly #disk: Disk;
  readonly #folder: string;

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  /**
   * Copies bytes [offset, offset + size) of a file; resolves to the copy's path. A copy is named by
   * file and offset: what was damaged at the last start is not copied again.
   */
  async copy(
    reader: DiskReader,
    damage: { readonly file: string; readonly offset: number; readonly size: number },
  ): Promise<string> {
    const { file, offset, size } = damage;
    const name = `${file}.at-${offset}.${size}-bytes`;
    const path = join(this.#folder, name);
    if ((await this.#disk.list(this.#folder)).includes(name)) return path;
    await this.#makeFolder();
    const copy = await this.#disk.create(path);
    try {
      for (let at = offset; at < offset + size; at += LOG_READ_BYTES) {
        const bytes = new Uint8Array(Math.min(LOG_READ_BYTES, offset + size - at));
        const count = await reader.read(bytes, at);
        await copy.write([bytes.subarray(0, count)]);
      }
      await copy.sync();
      await this.#disk.syncFolder(this.#folder);
    } finally {
      await copy.close();
    }
    return path;
  }

  /**
   * Takes a whole file out of the way. Its name here begins with its folder's, so that files of
   * different folders do not meet. Resolves to its path here; rejects with a `DiskError`.
   */
  async move(path: string): Promise<string> {
    const from = dirname(path);
    const moved = join(this.#folder, `${basename(from)}.${basename(path)}`);
    await this.#makeFolder();
    await this.#disk.rename(path, moved);
    await this.#disk.syncFolder(this.#folder);
    await this.#disk.syncFolder(from);
    return moved;
  }

  /** Before something is moved here, the folder is as durable as the place it comes from. */
  async #makeFolder(): Promise<void> {
    await this.#disk.makeFolder(this.#folder);
    await this.#disk.syncFolder(dirname(this.#folder));
  }
}
