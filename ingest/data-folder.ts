import { dirname, join, resolve } from 'node:path';
import { type Disk, DiskError } from './disk/disk.ts';
import { NodeDisk } from './disk/node-disk.ts';
import { LockedError, LockFile, type LockTiming } from './lock-file.ts';
import { SpareFile } from './spare-file.ts';

/**
 * A data folder that this process owns, and the *store folder* in it, which holds all that is stored:
 *
 * ```
 * DATA_DIR/lock            names the owner
 * DATA_DIR/spare           room for a lock on a full disk
 * DATA_DIR/store-<epoch>/  log/, segments/, tokens.json, …
 * ```
 *
 * The *epoch* is the number of the owner. Whoever takes the data folder first renames the store folder to the next
 * epoch, and only then reads it. That one rename shuts the owner before it out, even when that one was only
 * stopped for a while, runs on, and does not know yet that it was replaced: none of its paths leads anywhere, so it
 * can create, replace, shorten and remove nothing. It may still append to files that it has open. Such bytes are
 * never acknowledged, because an owner looks for the file at its path after each sync and before each answer
 * (`DiskFile.checkPlace`); a record that was acknowledged was synced before the rename, so the new owner reads it.
 *
 * The lock makes this rare, and the rename makes it harmless: no answer depends on the time between two steps.
 * It holds on file systems where a rename is seen by all at once: those of one machine, moved or not.
 */
export class DataFolder {
  /** Absolute path of the store folder. */
  readonly storePath: string;
  /** What lies in the data folder beside the store folder, looks like a part of a store, and is not used. */
  readonly unused: readonly string[];
  readonly #lock: LockFile;

  private constructor(lock: LockFile, store: Pick<DataFolder, 'storePath' | 'unused'>) {
    this.#lock = lock;
    this.storePath = store.storePath;
    this.unused = store.unused;
  }

  /**
   * Takes a folder that is there. `nowUs`: microseconds since the epoch, for people.
   *
   * Rejects with a LockedError when another process has the folder, and with an error of the file system.
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

  /** Resolves once another process has taken the folder over; never rejects. */
  get replaced(): Promise<LockedError> {
    return this.#lock.replaced;
  }

  /** Rejects with a LockedError when the folder does not belong to this process any more. */
  async checkHeld(): Promise<void> {
    if (!(await this.#lock.isHeld())) throw takenMeanwhile(dirname(this.storePath));
  }

  release(): Promise<void> {
    return this.#lock.release();
  }
}

/** The store folder of a data folder that may belong to another process, to be read only. */
export async function findStorePath(dataDir: string, disk: Disk = new NodeDisk()): Promise<string> {
  const path = resolve(dataDir);
  const epoch = epochsOf(await disk.list(path)).at(-1);
  return epoch === undefined ? path : join(path, storeName(epoch));
}

/** Where an earlier version kept its parts of the store: in the data folder itself. */
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
  const epochs = epochsOf(names);
  const epoch = epochs.pop();
  const storePath = join(path, storeName((epoch ?? 0) + 1));
  try {
    if (epoch === undefined) await disk.makeFolder(storePath);
    else await disk.rename(join(path, storeName(epoch)), storePath);
  } catch (error) {
    if (error instanceof DiskError && error.code === 'ENOENT') throw takenMeanwhile(path);
    throw error;
  }
  // Another owner may have made the first store folder since the names were listed.
  if (!(await lock.isHeld())) throw takenMeanwhile(path);
  const stored = await disk.list(storePath);
  const unused = epochs.map(storeName);
  for (const part of EARLIER_PARTS.filter((name) => names.includes(name))) {
    if (stored.includes(part)) unused.push(part);
    else await disk.rename(join(path, part), join(storePath, part));
  }
  await disk.syncFolder(storePath);
  await disk.syncFolder(path);
  // Whoever may write to a folder need not be allowed to read the one above.
  await disk.syncFolder(dirname(path)).catch(() => {});
  return { storePath, unused };
}

function takenMeanwhile(path: string): LockedError {
  return new LockedError(`another weir took the folder over during the start (${path})`);
}

/** Whether a name is that of a store folder. */
export function isStoreName(name: string): boolean {
  return epochsOf([name]).length > 0;
}

function storeName(epoch: number): string {
  return `store-${epoch}`;
}

/** Ascending. */
function epochsOf(names: readonly string[]): number[] {
  const digits = names.map((name) => /^store-([1-9]\d{0,14})$/.exec(name)?.[1]);
  const epochs = digits.filter((found) => found !== undefined).map(Number);
  return epochs.sort((left, right) => left - right);
}
