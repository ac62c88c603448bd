import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { assert } from '../engine/columns.ts';
import { type Disk, DiskError, type DiskReader } from './disk/disk.ts';
import { SteadyDisk } from './disk/steady-disk.ts';
import { LOG_READ_BYTES } from './limits.ts';
import { parseSegmentName, type SegmentName } from './segment-name.ts';

/** The folder for damaged data, so that nothing of possible value is deleted. */
export class Quarantine {
  readonly #disk: SteadyDisk;
  readonly #folder: string;

  constructor(disk: Disk, folder: string) {
    this.#disk = SteadyDisk.of(disk);
    this.#folder = folder;
  }

  /**
   * Copies bytes [offset, offset + size) of a file. Resolves to the path of the copy when it is durable and was
   * verified by reading it back. A copy is named by file, offset and size, so damage that an earlier start copied is
   * copied again only if that copy differs. Rejects with a DiskError.
   */
  async copy(
    reader: DiskReader,
    damage: { readonly file: string; readonly offset: number; readonly size: number },
  ): Promise<string> {
    const { file, offset, size } = damage;
    const crc = await computeCrc(reader, offset, size);
    const names = new Set(await this.#disk.list(this.#folder));
    const name = `${file}.at-${offset}.${size}-bytes`;
    for (let number = 1; ; number++) {
      const path = join(this.#folder, number === 1 ? name : `${name}.${number}`);
      if (!names.has(basename(path))) {
        await this.#write(path, reader, damage);
        if (await this.#isCopy(path, size, crc)) return path;
        throw new DiskError('copied', path, 'what was written is not what is read back');
      }
      if (await this.#isCopy(path, size, crc)) return path;
    }
  }

  /**
   * Moves a file into quarantine. Its name there begins with that of its folder, so files of different folders do not
   * collide. Resolves to its new path. Rejects with a `DiskError`.
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

  async #write(
    path: string,
    reader: DiskReader,
    { offset, size }: { readonly offset: number; readonly size: number },
  ): Promise<void> {
    await this.#makeFolder();
    const copy = await this.#disk.create(path);
    try {
      for await (const bytes of readPieces(reader, offset, size)) await copy.write([bytes]);
      await copy.sync();
      await this.#disk.syncFolder(this.#folder);
    } catch (error) {
      await this.#disk.remove(path).catch(() => {});
      throw error;
    } finally {
      await copy.close();
    }
  }

  async #isCopy(path: string, size: number, crc: number): Promise<boolean> {
    const reader = await this.#disk.open(path);
    try {
      return reader.size === size && (await computeCrc(reader, 0, size)) === crc;
    } finally {
      await reader.close();
    }
  }

  /** Makes the folder as durable as the folder from which files are moved. */
  async #makeFolder(): Promise<void> {
    await this.#disk.makeFolder(this.#folder);
    await this.#disk.syncFolder(dirname(this.#folder));
  }
}

/** A segment file in quarantine, and its source. */
export type SetAside = SegmentName & { readonly source: string; readonly path: string };

/** The segment files in quarantine, by their names. Rejects with a `DiskError`. */
export async function listSetAside(disk: SteadyDisk, folder: string): Promise<SetAside[]> {
  const names = await disk.list(folder);
  return names.flatMap((name) => {
    const [, source, file] = /^(.+)\.([^.]+\.\d+\.segment)$/.exec(name) ?? [];
    const parsed = file === undefined ? undefined : parseSegmentName(file);
    if (source === undefined || parsed === undefined) return [];
    return { ...parsed, source, path: join(folder, name) };
  });
}

async function computeCrc(reader: DiskReader, offset: number, size: number): Promise<number> {
  let crc = 0;
  for await (const bytes of readPieces(reader, offset, size)) crc = crc32(bytes, crc);
  return crc;
}

/** Yields bytes [offset, offset + size), which must exist, in pieces. Each piece is valid until the next one. */
async function* readPieces(
  reader: DiskReader,
  offset: number,
  size: number,
): AsyncGenerator<Uint8Array> {
  const memory = new Uint8Array(Math.min(LOG_READ_BYTES, size));
  for (let done = 0; done < size; ) {
    const bytes = memory.subarray(0, Math.min(memory.length, size - done));
    const count = await reader.read(bytes, offset + done);
    assert(count === bytes.length, 'the file must have the bytes that are copied');
    yield bytes;
    done += count;
  }
}
