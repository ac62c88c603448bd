import { join, relative } from 'node:path';
import { COPY_ENDING, decodeChecked, judgePair } from './checked-file.ts';
import { type Disk, DiskError, namesIn } from './disk/disk.ts';
import { readFile, SteadyDisk } from './disk/steady-disk.ts';
import type { FolderDamage, UncheckedFile } from './folder-damage.ts';
import { LOG_END_FILE } from './log/log-end.ts';
import { MANIFEST_FILE } from './segment-manifest.ts';
import { TEMPORARY_ENDING } from './segment-name.ts';

/** The files of a data folder, beside log and segments, that have a checksum. */
export type SmallFileNames = {
  /** Names of files with a copy. */
  readonly pairs: readonly string[];
  /** Names of files without one. */
  readonly singles: readonly string[];
  readonly folders: readonly {
    readonly name: string;
    /** The suffix of its files' names. */
    readonly ending: string;
    readonly hasCopies: boolean;
  }[];
};

export type SmallFilesFound = {
  /** Number of files read, including copies, and the damaged ones among them. */
  readonly fileCount: number;
  readonly damagedCount: number;
  /** Files of an older version, without a checksum. */
  readonly withoutChecksum: readonly string[];
  /** Number of files that are being written, or were when a process died. */
  readonly leftoverCount: number;
  /** Files that are never read. */
  readonly leftOut: readonly string[];
  readonly unchecked: readonly UncheckedFile[];
  /** Names that weir does not use. */
  readonly unknown: readonly string[];
};

export type SmallFilesOptions = {
  readonly disk: Disk;
  /** An absolute path. */
  readonly dataDir: string;
  readonly names: SmallFileNames;
  readonly onDamage: (damage: FolderDamage) => void;
};

/** Names that other parts of a verification check. */
const READ_ELSEWHERE: readonly string[] = [
  ...['log', 'segments', 'quarantine'],
  ...[LOG_END_FILE, MANIFEST_FILE].flatMap((name) => [name, name + TEMPORARY_ENDING]),
];
/** Lock files, which hold no stored data. */
const LEFT_OUT = /^lock(?:\.|$)/;

const LEFTOVER = /\.(?:tmp|new)$/;

/**
 * Checks the small files of a data folder against their checksums, and lists names that weir does not use. Changes
 * nothing; a service may run on the folder. Rejects with a DiskError if a folder cannot be listed.
 */
export async function verifySmallFiles(options: SmallFilesOptions): Promise<SmallFilesFound> {
  const verification = new SmallFilesVerification(options);
  await verification.run();
  return verification;
}

class SmallFilesVerification implements SmallFilesFound {
  fileCount = 0;
  damagedCount = 0;
  leftoverCount = 0;
  readonly withoutChecksum: string[] = [];
  readonly leftOut: string[] = [];
  readonly unchecked: UncheckedFile[] = [];
  readonly unknown: string[] = [];
  readonly #options: SmallFilesOptions;
  readonly #disk: SteadyDisk;

  constructor(options: SmallFilesOptions) {
    this.#options = options;
    this.#disk = SteadyDisk.of(options.disk);
  }

  async run(): Promise<void> {
    const { dataDir, names } = this.#options;
    const folders = names.folders.map(({ name }) => name);
    const passed = [...READ_ELSEWHERE, ...folders];
    const others = (await this.#disk.list(dataDir)).filter((name) => !passed.includes(name));
    this.leftOut.push(...others.filter((name) => LEFT_OUT.test(name)).sort());
    const isSingle = (name: string): boolean => names.singles.includes(name.replace(LEFTOVER, ''));
    const rest = others.filter((name) => !LEFT_OUT.test(name) && !isSingle(name));
    await this.#verifyNames(dataDir, others.filter(isSingle), () => true, false);
    await this.#verifyNames(dataDir, rest, (whole) => names.pairs.includes(whole), true);
    for (const { name, ending, hasCopies } of names.folders) {
      const folder = join(dataDir, name);
      const found = await namesIn(this.#disk, folder);
      if (found === undefined) this.unknown.push(name);
      await this.#verifyNames(folder, found ?? [], (whole) => whole.endsWith(ending), hasCopies);
    }
  }

  async #verifyNames(
    folder: string,
    names: readonly string[],
    isOurs: (wholeName: string) => boolean,
    hasCopies: boolean,
  ): Promise<void> {
    const wholeNames = new Set<string>();
    for (const name of names.toSorted()) {
      const isLeftover = LEFTOVER.test(name);
      const final = name.replace(LEFTOVER, '');
      const isCopy = hasCopies && final.endsWith(COPY_ENDING);
      const whole = isCopy ? final.slice(0, -COPY_ENDING.length) : final;
      if (!isOurs(whole)) this.unknown.push(this.#formatPath(join(folder, name)));
      else if (isLeftover) this.leftoverCount += 1;
      else wholeNames.add(whole);
    }
    for (const name of wholeNames) {
      const path = join(folder, name);
      try {
        await (hasCopies ? this.#verifyPair(path) : this.#verifySingle(path));
      } catch (error) {
        if (!(error instanceof DiskError)) throw error;
        this.unchecked.push({ path: this.#formatPath(path), reason: error.message });
      }
    }
  }

  async #verifySingle(path: string): Promise<void> {
    const bytes = await this.#read(path);
    if (bytes === undefined) return;
    this.fileCount += 1;
    if (decodeChecked(bytes) === undefined) this.#report(path, true);
  }

  /** A pair that seems damaged is read twice, because a service may write or remove one file between the two reads. */
  async #verifyPair(path: string): Promise<void> {
    let [file, copy] = await this.#readPair(path);
    let pair = judgePair(file, copy);
    if (pair.kind === 'damaged' || (pair.kind === 'whole' && pair.isDamaged)) {
      [file, copy] = await this.#readPair(path);
      pair = judgePair(file, copy);
    }
    this.fileCount += [file, copy].filter((bytes) => bytes !== undefined).length;
    if (pair.kind === 'old') this.withoutChecksum.push(this.#formatPath(path));
    if (pair.kind === 'damaged') this.#report(path, true);
    if (pair.kind !== 'whole' || !pair.isDamaged) return;
    const isFileWhole = file !== undefined && decodeChecked(file) !== undefined;
    this.#report(isFileWhole ? path + COPY_ENDING : path, false);
  }

  async #readPair(path: string): Promise<[Uint8Array | undefined, Uint8Array | undefined]> {
    return [await this.#read(path), await this.#read(path + COPY_ENDING)];
  }

  /** `undefined` if the file does not exist. */
  async #read(path: string): Promise<Uint8Array | undefined> {
    try {
      return await readFile(this.#disk, path);
    } catch (error) {
      if (error instanceof DiskError && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }

  #report(path: string, isLost: boolean): void {
    this.damagedCount += 1;
    this.#options.onDamage({ kind: 'small_file', path: this.#formatPath(path), isLost });
  }

  #formatPath(path: string): string {
    return relative(this.#options.dataDir, path);
  }
}
