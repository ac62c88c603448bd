import { dirname, join } from 'node:path';
import { countingFiles } from './counting-files.ts';
import { type Disk, DiskError, namesIn } from './disk/disk.ts';
import { SteadyDisk } from './disk/steady-disk.ts';
import { SEGMENTS_OPENED_MAX } from './limits.ts';
import { PARTITION_US } from './partition.ts';
import { listSetAside, Quarantine } from './quarantine.ts';
import type { SegmentEnvelope } from './segment-envelope.ts';
import { SegmentFile } from './segment-file.ts';
import { SegmentDamageError } from './segment-layout.ts';
import {
  manifestName,
  missingFiles,
  readManifest,
  SegmentManifest,
  type SourceSegmentName,
} from './segment-manifest.ts';
import { formatSegmentName, parseSegmentName, TEMPORARY_ENDING } from './segment-name.ts';
import { type LeftAside, restoreSegments } from './segment-restoring.ts';

export type RecoveryOptions = {
  readonly disk: Disk;
  /** The folder of segments, with one folder for each source. It need not exist. */
  readonly path: string;
  /** The folder for damaged files, for an operator to inspect. */
  readonly quarantinePath: string;
  /** The time from which retention is measured, in microseconds since the epoch; -Infinity: nothing is too old. */
  readonly retentionNowUs: number;
  readonly retentionUs: number;
  /**
   * Called with the files that count, before anything is changed, to read what the start requires of them. The recovery
   * rejects with the same error.
   */
  readonly look?: ((segments: readonly SegmentFile[]) => Promise<void>) | undefined;
};

/** The deviations that were found, and how they were handled. */
export type RecoveryReport = {
  /** Files without a whole envelope, or with that of another file. They are in quarantine, as `movedTo`. */
  readonly quarantined: readonly (Damaged & { readonly movedTo: string })[];
  /** Files that were in quarantine, are whole, and were moved back. */
  readonly restored: readonly string[];
  /** Stored files that do not exist: something other than weir removed them. */
  readonly missing: readonly FoundFile[];
  /** The manifest is damaged, so it is unknown whether files are missing. */
  readonly isManifestDamaged: boolean;
  /** Files of retained days that were in quarantine before and stay there. */
  readonly leftAside: readonly LeftAside[];
  /** The last log record that a file in quarantine covers; its sequence must not be used again. */
  readonly setAsideThrough: number;
  /** Files with one damaged envelope; they are read by the other one. */
  readonly singleEnvelope: readonly string[];
  /** Names in the folders of sources that weir does not use; they are left alone. */
  readonly unknown: readonly string[];
  /** Numbers of files removed: temporary ones, replaced ones, and those of days that the retention dropped. */
  readonly temporaryCount: number;
  readonly replacedCount: number;
  readonly expiredCount: number;
};

type FoundFile = SourceSegmentName & { readonly path: string };

export type RecoveredSegments = {
  /** Files that count. */
  readonly segments: readonly SegmentFile[];
  /** Files that must not count and could not be removed. */
  readonly leftovers: readonly FoundFile[];
  /** Greater than all ids that any file, manifest or envelope names. */
  readonly idNext: number;
  /** The manifest as found, so that missing files are reported again if this start fails. */
  readonly manifest: SegmentManifest;
  readonly report: RecoveryReport;
};

/** See `SegmentFolder.recover`. */
export async function recoverSegments(options: RecoveryOptions): Promise<RecoveredSegments> {
  const disk = SteadyDisk.of(options.disk);
  const named = await readManifest(disk, options.path);
  const listed = await listFiles(disk, options.path);
  const oldestUs = options.retentionNowUs - options.retentionUs;
  const isExpired = (file: SourceSegmentName): boolean =>
    (file.partition + 1) * PARTITION_US <= oldestUs;
  const expired = listed.files.filter(isExpired);
  const opened = await openFiles(
    disk,
    listed.files.filter((file) => !isExpired(file)),
  );
  const counting = countingFiles(opened.segments);
  const setAside = await listSetAside(disk, options.quarantinePath);
  await options.look?.(counting.segments);
  const missing = missingFiles(named === 'damaged' ? [] : (named ?? []), [
    ...listed.files,
    ...setAside,
  ]).filter((file) => !isExpired(file));
  // All files are read before anything is changed: a file of a newer version, or an unreadable one, stops the start
  // here.
  const quarantine = new Quarantine(disk, options.quarantinePath);
  const quarantined: RecoveryReport['quarantined'][number][] = [];
  for (const damaged of opened.damaged) {
    quarantined.push({ ...damaged, movedTo: await quarantine.move(damaged.path) });
  }
  const { restored, left, throughSequence } = await restoreSegments(disk, options.path, {
    setAside: setAside.filter((file) => !isExpired(file)),
    counting: counting.segments,
  });
  const segments = [...counting.segments, ...restored];
  const manifest = await SegmentManifest.begin(disk, options.path, named);
  const replaced = counting.replaced.map(({ path, envelope }) => ({ ...pickName(envelope), path }));
  const kept = [...segments.map(({ envelope }) => envelope), ...missing].map(manifestName);
  const leftovers = await removeUnnamed(disk, manifest, { kept, files: [...expired, ...replaced] });
  const temporary = await removeFiles(disk, listed.temporary);
  // Ids of files in quarantine are not used again, so that a file that is moved there later cannot collide with them.
  const ids = [...listed.files, ...setAside, ...missing].map(({ id }) => id);
  return {
    segments,
    leftovers,
    idNext:
      1 + [...ids, ...listed.temporary.map(({ id }) => id)].reduce((a, b) => Math.max(a, b), 0),
    manifest,
    report: {
      quarantined,
      missing: missing.map((file) => ({ ...file, path: formatPath(options.path, file) })),
      isManifestDamaged: named === 'damaged',
      restored: restored.map(({ path }) => path),
      leftAside: left,
      setAsideThrough: throughSequence,
      singleEnvelope: counting.segments
        .filter(({ damagedCopy }) => damagedCopy !== undefined)
        .map(({ path }) => path),
      unknown: listed.unknown,
      temporaryCount: listed.temporary.length - temporary.length,
      replacedCount: counting.replaced.length,
      expiredCount: expired.length,
    },
  };
}

function formatPath(folder: string, file: SourceSegmentName): string {
  return join(folder, file.source, formatSegmentName(file));
}

/** Writes a manifest that names only the `kept` files, then removes the others. Returns those that could not be removed. */
async function removeUnnamed(
  disk: Disk,
  manifest: SegmentManifest,
  { kept, files }: { readonly kept: readonly string[]; readonly files: readonly FoundFile[] },
): Promise<FoundFile[]> {
  const isNamed = (file: FoundFile): boolean => manifest.mayName(manifestName(file));
  if (files.some(isNamed)) {
    await manifest
      .writeOrRemove(() => kept)
      .catch((error: unknown) => {
        if (!(error instanceof DiskError)) throw error;
      });
  }
  const removable = files.filter((file) => !isNamed(file));
  return [...files.filter(isNamed), ...(await removeFiles(disk, removable))];
}

type Listed = {
  readonly files: FoundFile[];
  /** Files with a temporary suffix, by their final names. */
  readonly temporary: FoundFile[];
  readonly unknown: string[];
};

async function listFiles(disk: Disk, path: string): Promise<Listed> {
  const listed: Listed = { files: [], temporary: [], unknown: [] };
  for (const source of (await disk.list(path)).toSorted()) {
    const names = await namesIn(disk, join(path, source));
    if (names === undefined) {
      listed.unknown.push(join(path, source));
      continue;
    }
    // A killed process may have left names that are visible but not durable. When such files count, the log drops their
    // records, and the files that they replace are removed.
    await disk.syncFolder(join(path, source));
    for (const name of names.toSorted()) {
      const isTemporary = name.endsWith(TEMPORARY_ENDING);
      const parsed = parseSegmentName(isTemporary ? name.slice(0, -TEMPORARY_ENDING.length) : name);
      const found = join(path, source, name);
      if (parsed === undefined) listed.unknown.push(found);
      else (isTemporary ? listed.temporary : listed.files).push({ ...parsed, source, path: found });
    }
  }
  return listed;
}

type Damaged = FoundFile & { readonly reason: string };

async function openFiles(
  disk: Disk,
  files: readonly FoundFile[],
): Promise<{ readonly segments: SegmentFile[]; readonly damaged: Damaged[] }> {
  const segments: SegmentFile[] = [];
  const damaged: Damaged[] = [];
  for (let start = 0; start < files.length; start += SEGMENTS_OPENED_MAX) {
    const some = files.slice(start, start + SEGMENTS_OPENED_MAX);
    for (const found of await Promise.all(some.map((file) => openFile(disk, file)))) {
      if (found instanceof SegmentFile) segments.push(found);
      else damaged.push(found);
    }
  }
  return { segments, damaged };
}

async function openFile(disk: Disk, file: FoundFile): Promise<SegmentFile | Damaged> {
  const { source, partition, id } = file;
  try {
    const segment = await SegmentFile.open(disk, file.path);
    const { envelope } = segment;
    const isItself =
      envelope.source === source && envelope.partition === partition && envelope.id === id;
    return isItself ? segment : { ...file, reason: `it is a copy of segment ${envelope.id}` };
  } catch (error) {
    if (!(error instanceof SegmentDamageError)) throw error;
    return { ...file, reason: error.message };
  }
}

function pickName({ source, partition, id }: SegmentEnvelope): Omit<FoundFile, 'path'> {
  return { source, partition, id };
}

/** Returns the files that could not be removed. */
async function removeFiles(disk: Disk, files: readonly FoundFile[]): Promise<FoundFile[]> {
  const failed: FoundFile[] = [];
  const removedByFolder = new Map<string, FoundFile[]>();
  for (const file of files) {
    try {
      await disk.remove(file.path);
      const folder = dirname(file.path);
      const removed = removedByFolder.get(folder);
      if (removed === undefined) removedByFolder.set(folder, [file]);
      else removed.push(file);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      failed.push(file);
    }
  }
  for (const [folder, removed] of removedByFolder) {
    try {
      await disk.syncFolder(folder);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      failed.push(...removed);
    }
  }
  return failed;
}
