import { dirname, join, resolve } from 'node:path';
import { type Disk, DiskError } from './disk/disk.ts';
import { NodeDisk } from './disk/node-disk.ts';
import { LockedError, LockFile, type LockTiming } from './lock-file.ts';
import { SpareFile } from './spare-file.ts';

/**
 * A data folder that this process owns, and the *store folder* in it, which holds all stored data:
 *
 * ```
 * DATA_DIR/lock            names the owner
 * DATA_DIR/spare           room for a lock on a full disk
 * DATA_DIR/store-<epoch>/  log/, segments/, tokens.json, …
 * ```
 *
 * The *epoch* is the number of the owner. A new owner renames the store folder to the next epoch before it reads it. This
 * single rename locks the previous owner out, even if that process was suspended, continues, and does not know that it was
 * replaced: none of its paths exists any more, so it can create, replace, shorten and remove nothing. It may still append to
 * files that it has open. Such bytes are never acknowledged, because an owner checks the path of the file after each sync and
 * before each answer (`DiskFile.checkPlace`). A record that was acknowledged was synced before the rename, so the new owner
 * reads it.
 *
 * The lock makes such a conflict rare, and the rename makes it harmless: correctness does not depend on timing. It requires a
 * file system on which all processes see a rename at once, as on the disks of one machine.
 */
export class DataFolder {
  /** Absolute path of the store folder. */
  readonly storePath: string;
  /** Names in the data folder, outside of the store folder, that look like parts of a store and are not used. */
  readonly unused: readonly string[];
  readonly #lock: LockFile;

  private constructor(lock: LockFile, store: Pick<DataFolder, 'storePath' | 'unused'>) {
    this.#lock = lock;
    this.storePath = store.storePath;
    this.unused = store.unused;
  }

  /**
   * Takes an existing folder. `nowUs`: microseconds since the epoch, for messages to people.
   *
   * Rejects with a LockedError if another process owns the folder, and with an error of the file system.
   */
  static async take(
    dataDir: string,
    nowUs: number,
    { disk = new NodeDisk(), timing }: { disk?: Disk; timing?: LockTiming } = {},
  ): Promise<DataFolder> {
    const path = resolve(dataDir);
    const takeLock = () => LockFile.take(join(path, 'lock'), nowUs, timing);
    const spare = new SpareFile(disk, join(path, 'spare'));
    const lock = await spare.tryWith(takeLock);
    try {
      const store = await takeStore(disk, path, lock);
      await spare.make();
      return new DataFolder(lock, store);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Resolves when another process has taken the folder over. Never rejects. */
  get replaced(): Promise<LockedError> {
    return this.#lock.replaced;
  }

  /** Rejects with a LockedError if the folder no longer belongs to this process. */
  async checkHeld(): Promise<void> {
    if (!(await this.#lock.isHeld())) throw takenMeanwhile(dirname(this.storePath));
  }

  release(): Promise<void> {
    return this.#lock.release();
  }
}

/** The store folder of a data folder that another process may own. Read-only. */
export async function findStorePath(dataDir: string, disk: Disk = new NodeDisk()): Promise<string> {
  const path = resolve(dataDir);
  const epoch = listEpochs(await disk.list(path)).at(-1);
  return epoch === undefined ? path : join(path, storeName(epoch));
}

/** The names that an earlier version stored directly in the data folder. */
const EARLIER_PARTS = [
  'log',
  'segments',
  'quarantine',
  'endpoints',
  'endpoints-kept',
  'tokens.json',
];

async function takeStore(
  disk: Disk,
  path: string,
  lock: LockFile,
): Promise<Pick<DataFolder, 'storePath' | 'unused'>> {
  const names = await disk.list(path);
  const epochs = listEpochs(names);
  const epoch = epochs.pop();
  const storePath = join(path, storeName((epoch ?? 0) + 1));
  try {
    if (epoch === undefined) await disk.makeFolder(storePath);
    else await disk.rename(join(path, storeName(epoch)), storePath);
  } catch (error) {
    if (error instanceof DiskError && error.code === 'ENOENT') throw takenMeanwhile(path);
    throw error;
  }
  // Another owner may have created the first store folder after the names were listed.
  if (!(await lock.isHeld())) throw takenMeanwhile(path);
  const stored = await disk.list(storePath);
  const unused = epochs.map(storeName);
  for (const part of EARLIER_PARTS.filter((name) => names.includes(name))) {
    if (stored.includes(part)) unused.push(part);
    else await disk.rename(join(path, part), join(storePath, part));
  }
  await disk.syncFolder(storePath);
  await disk.syncFolder(path);
  // A process that may write to a folder may lack permission to read its parent.
  await disk.syncFolder(dirname(path)).catch(() => {});
  return { storePath, unused };
}

function takenMeanwhile(path: string): LockedError {
  return new LockedError(`another weir took the folder over during the start (${path})`);
}

/** Whether a name is that of a store folder. */
export function isStoreName(name: string): boolean {
  return listEpochs([name]).length > 0;
}

function storeName(epoch: number): string {
  return `store-${epoch}`;
}

/** The epochs of the store folders among the names, ascending. */
function listEpochs(names: readonly string[]): number[] {
  const digits = names.map((name) => /^store-([1-9]\d{0,14})$/.exec(name)?.[1]);
  const epochs = digits.filter((found) => found !== undefined).map(Number);
  return epochs.sort((left, right) => left - right);
}
