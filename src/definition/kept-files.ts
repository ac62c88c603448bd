import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { decodeChecked, passOverMissing, writeChecked } from '../../ingest/checked-file.ts';
import { type Disk, DiskError, namesIn } from '../../ingest/disk/disk.ts';
import { DEFINITION_BYTES_MAX } from '../limits.ts';

/** A file of `ENDPOINTS_DIR` as of when its definition came into force. */
export type KeptFile = {
  /** Its path in `ENDPOINTS_DIR`. */
  readonly file: string;
  readonly fileText: string;
};

/** The extension of copies. */
export const KEPT_ENDING = '.kept';

/**
 * Maximum bytes of the first line: a checksum, and a path of at most 4,096 bytes, each possibly
 * escaped.
 */
const HEADER_BYTES_MAX = 32 * 1024;

/**
 * The last good text of each file of `ENDPOINTS_DIR`, in a folder of the data folder, so that a start can answer
 * with it while the file itself is wrong. A copy is one file with a checksum, whose body is:
 *
 *     path as JSON │ line feed │ text
 *
 * A copy that does not match its checksum is not used. One call at a time.
 */
export class KeptFiles {
  readonly #disk: Disk;
  readonly #folder: string;
  /** The copies on disk, by path. */
  readonly #kept = new Map<string, string>();
  /** Paths of damaged copies. They are removed when the next copies are written. */
  readonly #damaged = new Set<string>();
  #isMade = false;

  /** `folder` may be missing; its parent must exist. */
  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  /** Reads all intact copies, and the reasons why others are not used. Never rejects. */
  async read(): Promise<{
    readonly files: readonly KeptFile[];
    readonly damage: readonly string[];
  }> {
    const files: KeptFile[] = [];
    const damage: string[] = [];
    for (const name of await this.#names(damage)) {
      const path = join(this.#folder, name);
      try {
        const kept = parseCopy(await this.#readFile(path));
        if (kept === undefined) {
          this.#damaged.add(path);
          damage.push(`${path} does not match its checksum`);
        } else {
          files.push(kept);
          this.#kept.set(kept.file, kept.fileText);
        }
      } catch (error) {
        if (!(error instanceof DiskError)) throw error;
        damage.push(error.message);
      }
    }
    return { files, damage };
  }

  /** Replaces the kept files. Rejects with a `DiskError`, after which some copies may be older. */
  async keep(files: readonly KeptFile[]): Promise<void> {
    const wanted = new Map(files.map(({ file, fileText }) => [file, fileText] as const));
    for (const [file, fileText] of wanted) {
      if (this.#kept.get(file) === fileText) continue;
      await this.#write({ file, fileText });
      this.#kept.set(file, fileText);
    }
    const gone = [...this.#kept.keys()].filter((file) => !wanted.has(file));
    const paths = [...gone.map((file) => this.#formatPath(file)), ...this.#damaged];
    for (const path of paths) await this.#disk.remove(path).catch(passOverMissing);
    if (paths.length > 0) await this.#disk.syncFolder(this.#folder);
    for (const file of gone) this.#kept.delete(file);
    this.#damaged.clear();
  }

  async #write(kept: KeptFile): Promise<void> {
    if (!this.#isMade) {
      await this.#disk.makeFolder(this.#folder);
      await this.#disk.syncFolder(dirname(this.#folder));
      this.#isMade = true;
    }
    const path = this.#formatPath(kept.file);
    await writeChecked(this.#disk, path, `${JSON.stringify(kept.file)}\n${kept.fileText}`);
    this.#damaged.delete(path);
  }

  async #names(damage: string[]): Promise<readonly string[]> {
    try {
      const names = (await namesIn(this.#disk, this.#folder)) ?? [];
      return names.filter((name) => name.endsWith(KEPT_ENDING)).sort();
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      damage.push(error.message);
      return [];
    }
  }

  /** The path of a copy. A hash, because a path may be longer than a file name may be. */
  #formatPath(file: string): string {
    return join(this.#folder, createHash('sha256').update(file).digest('hex') + KEPT_ENDING);
  }

  /** Reads one byte above the limit, which makes the checksum of a larger file wrong. */
  async #readFile(path: string): Promise<Uint8Array> {
    const reader = await this.#disk.open(path);
    try {
      const sizeMax = HEADER_BYTES_MAX + DEFINITION_BYTES_MAX;
      const bytes = new Uint8Array(Math.min(reader.size, sizeMax));
      return bytes.subarray(0, await reader.read(bytes, 0));
    } finally {
      await reader.close();
    }
  }
}

/** Returns `undefined` if the checksum does not match. */
function parseCopy(bytes: Uint8Array): KeptFile | undefined {
  const body = decodeChecked(bytes);
  if (body === undefined) return undefined;
  const text = Buffer.from(body).toString();
  const lineEnd = text.indexOf('\n');
  // With a correct checksum, `#write` wrote it.
  return { file: String(JSON.parse(text.slice(0, lineEnd))), fileText: text.slice(lineEnd + 1) };
}
