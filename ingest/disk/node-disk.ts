import type { BigIntStats } from 'node:fs';
import {
  constants,
  type FileHandle,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  stat,
  statfs,
} from 'node:fs/promises';
import { type Disk, DiskError, type DiskFile, type DiskReader } from './disk.ts';
import { GradualRelease } from './gradual-release.ts';

/** Bytes up to which parts are joined and written as one: copying them is cheaper than passing a list. */
const JOINED_BYTES_MAX = 256 * 1024;
const JOINED_BYTES_MIN = 4 * 1024;

/** Parts that the system accepts in one call (IOV_MAX of Linux). */
const PARTS_MAX = 1024;

/** Only the owner of the folder may read logs. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** The local file system. */
export class NodeDisk implements Disk {
  readonly #release = new GradualRelease();

  async create(path: string): Promise<DiskFile> {
    const handle = await asDiskError('created', path, () => open(path, 'wx', FILE_MODE));
    return new NodeFile(path, handle);
  }

  async open(path: string): Promise<DiskReader> {
    return asDiskError('opened', path, async () => {
      const handle = await open(path, constants.O_RDONLY);
      try {
        const { size } = await handle.stat();
        return new NodeReader(path, handle, size);
      } catch (error) {
        await closeQuietly(handle);
        throw error;
      }
    });
  }

  rename(from: string, to: string): Promise<void> {
    return asDiskError('renamed', from, () => rename(from, to));
  }

  remove(path: string): Promise<void> {
    return asDiskError('removed', path, async () => {
      const handle = await openToRelease(path);
      try {
        await rm(path);
      } catch (error) {
        if (handle !== undefined) await closeQuietly(handle);
        throw error;
      }
      // The name is gone; freeing the blocks may take longer.
      if (handle !== undefined) void this.#release.release(handle);
    });
  }

  truncate(path: string, size: number): Promise<void> {
    return asDiskError('cut', path, async () => {
      const handle = await open(path, constants.O_RDWR);
      try {
        await handle.truncate(size);
        await handle.sync();
      } finally {
        await closeQuietly(handle);
      }
    });
  }

  async makeFolder(path: string): Promise<void> {
    await asDiskError('made', path, async () => {
      try {
        await mkdir(path, { mode: FOLDER_MODE });
      } catch (error) {
        if (!(await isFolder(path))) throw error;
      }
    });
  }

  syncFolder(path: string): Promise<void> {
    return asDiskError('synced', path, async () => {
      const handle = await open(path, constants.O_RDONLY);
      try {
        await handle.sync();
      } finally {
        await closeQuietly(handle);
      }
    });
  }

  async list(path: string): Promise<readonly string[]> {
    try {
      return await readdir(path);
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return [];
      throw new DiskError('listed', path, cause);
    }
  }

  freeBytes(path: string): Promise<number> {
    return asDiskError('measured', path, async () => {
      const { bavail, bsize } = await statfs(path);
      return bavail * bsize;
    });
  }
}

/** Opens a file that will be removed; `undefined` if this fails, which does not prevent the removal. */
async function openToRelease(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_WRONLY);
  } catch {
    return undefined;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

class NodeFile implements DiskFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  /** Device and inode; `undefined` before the first check. */
  #identity: string | undefined;
  /** The buffer in which parts are joined. Reused, because writes are frequent. */
  #joint = Buffer.alloc(0);

  constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  write(parts: readonly Uint8Array[]): Promise<void> {
    return asDiskError('written', this.#path, async () => {
      let left = this.#joined(parts.filter((part) => part.byteLength > 0));
      while (left.length > 0) {
        const { bytesWritten } = await this.#handle.writev(left.slice(0, PARTS_MAX));
        if (bytesWritten === 0) throw new Error('the system took no byte');
        left = behind(left, bytesWritten);
      }
    });
  }

  sync(): Promise<void> {
    return asDiskError('synced', this.#path, () => this.#handle.datasync());
  }

  checkPlace(): Promise<void> {
    return asDiskError('found', this.#path, async () => {
      this.#identity ??= formatIdentity(await this.#handle.stat({ bigint: true }));
      const found = formatIdentity(await stat(this.#path, { bigint: true }));
      if (found === this.#identity) return;
      throw Object.assign(new Error('another file is in its place'), { code: 'ENOENT' });
    });
  }

  close(): Promise<void> {
    return closeQuietly(this.#handle);
  }

  /** Joins the parts if they are small. The result is valid until the next call. */
  #joined(parts: readonly Uint8Array[]): readonly Uint8Array[] {
    const size = parts.reduce((sum, part) => sum + part.byteLength, 0);
    if (parts.length < 2 || size > JOINED_BYTES_MAX) return parts;
    if (size > this.#joint.length) {
      const sizeNew = Math.max(size, 2 * this.#joint.length, JOINED_BYTES_MIN);
      this.#joint = Buffer.allocUnsafeSlow(Math.min(sizeNew, JOINED_BYTES_MAX));
    }
    let end = 0;
    for (const part of parts) {
      this.#joint.set(part, end);
      end += part.byteLength;
    }
    return [this.#joint.subarray(0, end)];
  }
}

function formatIdentity({ dev, ino }: BigIntStats): string {
  return `${dev} ${ino}`;
}

class NodeReader implements DiskReader {
  readonly size: number;
  readonly #path: string;
  readonly #handle: FileHandle;

  constructor(path: string, handle: FileHandle, size: number) {
    this.#path = path;
    this.#handle = handle;
    this.size = size;
  }

  read(target: Uint8Array, offset: number): Promise<number> {
    return asDiskError('read', this.#path, async () => {
      let count = 0;
      while (count < target.length) {
        const { bytesRead } = await this.#handle.read(
          target,
          count,
          target.length - count,
          offset + count,
        );
        if (bytesRead === 0) break;
        count += bytesRead;
      }
      return count;
    });
  }

  close(): Promise<void> {
    return closeQuietly(this.#handle);
  }
}

async function asDiskError<T>(action: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw cause instanceof DiskError ? cause : new DiskError(action, path, cause);
  }
}

async function closeQuietly(handle: FileHandle): Promise<void> {
  try {
    await handle.close();
  } catch {
    // The written bytes were synced, or their sync has failed already.
  }
}

/** The parts without their first `size` bytes. */
function behind(parts: readonly Uint8Array[], size: number): Uint8Array[] {
  let rest = size;
  const left: Uint8Array[] = [];
  for (const part of parts) {
    if (rest < part.byteLength) left.push(part.subarray(rest));
    rest = Math.max(rest - part.byteLength, 0);
  }
  return left;
}
