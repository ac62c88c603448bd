import { hkdfSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { decodeChecked, writeChecked } from '../ingest/checked-file.ts';
import { type Disk, DiskError } from '../ingest/disk/disk.ts';
import { readFile, SteadyDisk } from '../ingest/disk/steady-disk.ts';
import { StartError } from './start-error.ts';

const KEY_SIZE = 32;

/** Name of the file, in the store folder. */
export const INSTANCE_KEY_FILE = 'instance-key';

/** The purposes of keys. Each purpose has a key of its own; changing its text changes that key. */
export type KeyPurpose = 'event ids' | 'answer digests';

/**
 * The secret of an instance, kept in its data folder. Values derived from it stay the same after a
 * restart.
 */
export class InstanceKey {
  readonly #key: Uint8Array;

  private constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** The key of all that know a secret, which is long and random. */
  static fromSecret(secret: Uint8Array): InstanceKey {
    return new InstanceKey(secret);
  }

  /** Makes a key that is not kept. */
  static random(): InstanceKey {
    return new InstanceKey(randomBytes(KEY_SIZE));
  }

  /**
   * Reads the key of a store folder, or makes one. A damaged key is replaced. A key that cannot be
   * written is used until the service stops; `problem` says so. A new key makes followers of
   * sources start again, and has no other effect. Only the owner of the data folder may call it.
   *
   * @throws StartError when the file exists and cannot be read.
   */
  static async open(
    disk: Disk,
    storePath: string,
  ): Promise<{ readonly key: InstanceKey; readonly problem: string | undefined }> {
    const path = join(storePath, INSTANCE_KEY_FILE);
    const found = await findKey(disk, path);
    if (typeof found === 'object') return { key: new InstanceKey(found), problem: undefined };
    const made = randomBytes(KEY_SIZE);
    const key = new InstanceKey(made);
    try {
      await writeChecked(disk, path, made.toString('hex'));
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      return { key, problem: error.message };
    }
    const problem = found === 'damaged' ? `${path} was damaged and has been replaced` : undefined;
    return { key, problem };
  }

  /** Derives the key of a purpose, `size` bytes long (HKDF, RFC 5869). */
  derive(purpose: KeyPurpose, size: number): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key, '', purpose, size));
  }
}

async function findKey(disk: Disk, path: string): Promise<Uint8Array | 'missing' | 'damaged'> {
  try {
    const body = decodeChecked(await readFile(SteadyDisk.of(disk), path));
    return body === undefined ? 'damaged' : Buffer.from(Buffer.from(body).toString(), 'hex');
  } catch (error) {
    if (!(error instanceof DiskError)) throw error;
    if (error.code === 'ENOENT') return 'missing';
    throw new StartError(error.message, error);
  }
}
