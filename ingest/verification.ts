import { relative } from 'node:path';
import { must, readFooter, type SealedColumnName, SliceSource } from '../engine/columns.ts';
import { type Disk, DiskError } from './disk/disk.ts';
import type { FolderDamage, UncheckedFile } from './folder-damage.ts';
import { VERIFICATION_ROUNDS_MAX } from './limits.ts';
import { type LogSurvey, surveyLog } from './log-survey.ts';
import { SegmentFile } from './segment-file.ts';
import { SegmentDamageError, SegmentVersionError } from './segment-layout.ts';
import { type ListedSegments, SegmentListing } from './segment-listing.ts';
import { type SmallFileNames, type SmallFilesFound, verifySmallFiles } from './small-files.ts';

export type Verification = {
  readonly segments: {
    /** Number of files read, and of the damaged ones among them, even if no data is lost. */
    readonly fileCount: number;
    readonly byteSize: number;
    readonly eventCount: number;
    readonly damagedCount: number;
    /** Number of files that were merged, dropped or moved to quarantine before they could be read. */
    readonly goneCount: number;
    /** Number of files that do not count and were not read. */
    readonly leftoverCount: number;
  };
  readonly log: LogSurvey & { readonly eventCount: number };
  /** All other files of the folder. */
  readonly smallFiles: Omit<SmallFilesFound, 'unchecked' | 'unknown'>;
  readonly damageCount: number;
  readonly unchecked: readonly UncheckedFile[];
  readonly unknown: readonly string[];
};

export type VerificationOptions = {
  readonly disk: Disk;
  /** An absolute path. */
  readonly dataDir: string;
  readonly smallFiles: SmallFileNames;
  /** Called for each damage when it is found. */
  readonly onDamage: (damage: FolderDamage) => void;
  readonly onProgress: (bytesDone: number, bytesTotal: number) => void;
};

/**
 * Reads every byte of a data folder that counts, and checks it against its checksum. Changes nothing; a service may run
 * on the folder. Rejects with a DiskError if a folder cannot be listed.
 *
 * While a service runs, the files that existed at the start are checked, or those into which they were merged
 * meanwhile.
 */
export async function verifyFolder(options: VerificationOptions): Promise<Verification> {
  const { disk, dataDir } = options;
  let damageCount = 0;
  const onDamage = (damage: FolderDamage): void => {
    damageCount += 1;
    options.onDamage(damage);
  };
  const listing = new SegmentListing(disk, dataDir);
  const first = await listing.read();
  const segmentBytes = measureFiles(first.segments);
  let eventCount = 0;
  let logBytes = 0;
  const log = await surveyLog({
    ...{ disk, dataDir, onDamage },
    onRecord: (record) => {
      // Decoding also checks that the arrays are consistent with each other.
      eventCount += record.batch().rowCount;
    },
    onProgress: (bytesDone, bytesTotal) => {
      logBytes = bytesTotal;
      options.onProgress(bytesDone, bytesTotal + segmentBytes);
    },
  });
  const segments = new SegmentVerification(dataDir, onDamage, (bytesDone, bytesLeft) => {
    options.onProgress(logBytes + bytesDone, logBytes + bytesDone + bytesLeft);
  });
  let listed = first;
  for (let round = 1; ; round++) {
    await segments.verify(disk, listed);
    if (!segments.hasMissed || round === VERIFICATION_ROUNDS_MAX) break;
    listed = await listing.read();
  }
  const names = options.smallFiles;
  const small = await verifySmallFiles({ disk, dataDir, names, onDamage });
  const { fileCount, damagedCount, withoutChecksum, leftoverCount, leftOut } = small;
  return {
    smallFiles: { fileCount, damagedCount, withoutChecksum, leftoverCount, leftOut },
    segments: { ...segments.totals(), leftoverCount: listed.leftovers.length },
    log: { ...log, eventCount },
    damageCount,
    unchecked: [...segments.unchecked, ...log.unchecked, ...small.unchecked],
    unknown: [...listed.unknown, ...log.unknown, ...small.unknown],
  };
}

/** Checks segment files, each once, however often it is listed. */
class SegmentVerification {
  readonly unchecked: UncheckedFile[] = [];
  /** Whether files of the last list were missing: other files have their rows. */
  hasMissed = false;
  readonly #dataDir: string;
  readonly #onDamage: (damage: FolderDamage) => void;
  readonly #onProgress: (bytesDone: number, bytesLeft: number) => void;
  readonly #seen = new Set<string>();
  #fileCount = 0;
  #byteSize = 0;
  #eventCount = 0;
  readonly #damaged = new Set<string>();
  #goneCount = 0;

  constructor(
    dataDir: string,
    onDamage: (damage: FolderDamage) => void,
    onProgress: (bytesDone: number, bytesLeft: number) => void,
  ) {
    this.#dataDir = dataDir;
    this.#onDamage = onDamage;
    this.#onProgress = onProgress;
  }

  totals(): Omit<Verification['segments'], 'leftoverCount'> {
    return {
      fileCount: this.#fileCount,
      byteSize: this.#byteSize,
      eventCount: this.#eventCount,
      damagedCount: this.#damaged.size,
      goneCount: this.#goneCount,
    };
  }

  async verify(disk: Disk, listed: ListedSegments): Promise<void> {
    this.hasMissed = false;
    for (const damage of listed.damages) {
      const { path } = damage;
      // Damage of an envelope is reported when its file is read.
      if (damage.kind === 'envelope' || !this.#isNew(path)) continue;
      if (damage.kind === 'segment') this.#fileCount += 1;
      this.#report(damage);
    }
    for (const file of listed.unchecked) if (this.#isNew(file.path)) this.unchecked.push(file);
    const files = listed.segments.filter(({ path }) => this.#isNew(relative(this.#dataDir, path)));
    let bytesLeft = measureFiles(files);
    for (const file of files) {
      await this.#verifyFile(disk, file);
      bytesLeft -= file.byteSize;
      this.#onProgress(this.#byteSize, bytesLeft);
    }
  }

  #isNew(path: string): boolean {
    const isNew = !this.#seen.has(path);
    this.#seen.add(path);
    return isNew;
  }

  async #verifyFile(disk: Disk, listed: SegmentFile): Promise<void> {
    const path = relative(this.#dataDir, listed.path);
    try {
      let file = listed;
      let lost = await findLost(file);
      if (lost !== undefined) {
        // If another file has taken the name since the listing, its blocks would seem damaged.
        file = await SegmentFile.open(disk, listed.path);
        lost = await findLost(file);
      }
      const { source, rowCount } = file.envelope;
      this.#fileCount += 1;
      this.#byteSize += file.byteSize;
      this.#eventCount += rowCount;
      if (file.damagedCopy !== undefined) {
        this.#report({ kind: 'envelope', path, copy: file.damagedCopy });
      }
      if (lost === 'rows') this.#report({ kind: 'rows', path, source, rowCount });
      else if (lost !== undefined) {
        this.#report({ kind: 'columns', path, source, rowCount, columns: lost });
      }
    } catch (error) {
      this.#failed(path, listed.envelope.source, error);
    }
  }

  #failed(path: string, source: string, error: unknown): void {
    if (error instanceof DiskError && error.code === 'ENOENT') {
      this.#goneCount += 1;
      this.hasMissed = true;
    } else if (error instanceof SegmentDamageError) {
      this.#fileCount += 1;
      this.#report({ kind: 'segment', path, source, reason: 'neither of its envelopes is whole' });
    } else if (error instanceof DiskError || error instanceof SegmentVersionError) {
      this.unchecked.push({ path, reason: error.message });
    } else throw error;
  }

  #report(damage: FolderDamage): void {
    this.#damaged.add(damage.path);
    this.#onDamage(damage);
  }
}

/** The unreadable part of a segment file: all rows, columns of these names, or `undefined`. */
async function findLost(file: SegmentFile): Promise<'rows' | readonly string[] | undefined> {
  const { buffer, damagedColumns } = await file.load();
  if (damagedColumns.length === 0) return undefined;
  return damagedColumns.includes('structure') ? 'rows' : columnNames(buffer, damagedColumns);
}

/** The names of columns of a segment whose structure is whole. */
export function columnNames(
  buffer: SharedArrayBuffer,
  columns: readonly SealedColumnName[],
): readonly string[] {
  const footer = readFooter(buffer);
  const source = new SliceSource(buffer);
  const bytes = source.bytes(footer.keys.bytes);
  const offsets = source.unsigned32(footer.keys.offsets);
  const readKey = (index: number): string =>
    formatKey(Buffer.from(bytes.subarray(offsets[index], offsets[index + 1])).toString('utf8'));
  const formatColumn = (column: SealedColumnName): string => {
    if (column === 'residual') return 'rare fields';
    if (typeof column === 'string') return column;
    const { path, leafClass } = must(footer.leaves[column], 'a damaged column is in the footer');
    return `${path.map(readKey).join('.')} (${leafClass})`;
  };
  return columns.map(formatColumn);
}

/** A key, quoted unless it is a plain word: senders choose keys. */
function formatKey(key: string): string {
  return /^[\w$-]+$/.test(key) ? key : JSON.stringify(key);
}

function measureFiles(files: readonly SegmentFile[]): number {
  return files.reduce((sum, { byteSize }) => sum + byteSize, 0);
}
