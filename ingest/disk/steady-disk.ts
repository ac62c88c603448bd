import { setTimeout as pause } from 'node:timers/promises';
import { type Disk, DiskError, type DiskReader, ReadError } from './disk.ts';
import { ForwardingDisk } from './forwarding-disk.ts';

/** Milliseconds before each retry of a failed read. A disk that is busy or short of handles usually recovers soon. */
const READ_PAUSES_MS: readonly number[] = [1, 10, 50];

/** Error codes that are definite: the file or folder does not exist. */
const CERTAIN_CODES: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);

/**
 * A disk whose failed reads are retried. Opening, reading and listing are retried a few times, and then reject with a
 * `ReadError`. A read that returns fewer bytes than the size of the file promises counts as failed: a file ends where
 * its size says.
 */
export class SteadyDisk extends ForwardingDisk {
  private constructor(disk: Disk) {
    super(disk);
  }

  /** Wraps a disk once: a `SteadyDisk` is returned as it is, so that retries do not multiply. */
  static of(disk: Disk): SteadyDisk {
    return disk instanceof SteadyDisk ? disk : new SteadyDisk(disk);
  }

  override async open(path: string): Promise<DiskReader> {
    const reader = await steadily('opened', path, () => this.below.open(path));
    const { size } = reader;
    return {
      size,
      read: (target, offset) => {
        const wanted = Math.max(0, Math.min(target.length, size - offset));
        return steadily('read', path, async () => {
          const count = await reader.read(target, offset);
          if (count >= wanted) return count;
          const sizes = `${count} bytes of ${wanted} came at byte ${offset}, and the file has ${size}`;
          throw new DiskError('read', path, sizes);
        });
      },
      close: () => reader.close(),
    };
  }

  override list(path: string): Promise<readonly string[]> {
    return steadily('listed', path, () => this.below.list(path));
  }
}

/** Reads a small file. Rejects as `open` and `read` do. */
export async function readFile(disk: SteadyDisk, path: string): Promise<Uint8Array> {
  const reader = await disk.open(path);
  try {
    const bytes = new Uint8Array(reader.size);
    await reader.read(bytes, 0);
    return bytes;
  } finally {
    await reader.close();
  }
}

async function steadily<T>(action: string, path: string, read: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof DiskError) || CERTAIN_CODES.has(error.code)) throw error;
      const pauseMs = READ_PAUSES_MS[failures];
      if (pauseMs === undefined) throw new ReadError(action, path, error.cause ?? error);
      await pause(pauseMs);
    }
  }
}
