import { join } from 'node:path';
import type { Disk, DiskReader } from '../disk/disk.ts';
import { LOG_READ_BYTES } from '../limits.ts';

/**
 * The folder that damaged bytes are copied to, so that nothing that may be of worth is thrown away.
 * A copy is named by file and offset: what was damaged at the last start is not copied again.
 */
export class Quarantine {
  readonly #disk: Disk;
  readonly #folder: string;

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  /** Copies bytes [offset, offset + size) of a file; resolves to the copy's path. */
  async copy(
    reader: DiskReader,
    damage: { readonly file: string; readonly offset: number; readonly size: number },
  ): Promise<string> {
    const { file, offset, size } = damage;
    const name = `${file}.at-${offset}.${size}-bytes`;
    const path = join(this.#folder, name);
    if ((await this.#disk.list(this.#folder)).includes(name)) return path;
    await this.#disk.makeFolder(this.#folder);
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
}
