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
  /** Where segments lie; one folder below it for each source. It need not be there yet. */
  readonly path: string;
  /** Where damaged files are put, for a person to look at. */
  readonly quarantinePath: string;
  /** The time to measure retention from, in microseconds since the epoch; -Infinity: nothing is too old. */
  readonly retentionNowUs: number;
  readonly retentionUs: number;
  /**
   * Called with the files that count before anything is changed, to read of them what must be readable for the
   * start to go on. What it rejects with, the recovery does.
   */
  readonly look?: ((segments: readonly SegmentFile[]) => Promise<void>) | undefined;
};

/** What was found that is not as it should be, and what was done about it. */
export type RecoveryReport = {
  /** Files without a whole envelope, or with one of another file; in quarantine now, as `movedTo`. */
  readonly quarantined: readonly (Damaged & { readonly movedTo: string })[];
  /** Files that were in quarantine, turned out to be whole, and are back in their places. */
  readonly restored: readonly string[];
  /** Files that were stored and that are nowhere: somebody else removed them. */
  readonly missing: readonly FoundFile[];
  /** The list of files that should be there is damaged, so whether some are missing is not known. */
  readonly isManifestDamaged: boolean;
  /** Files that were in quarantine before and stay there, of days that are kept. */
  readonly leftAside: readonly LeftAside[];
  /** The last record of the log that a file in quarantine covers; its sequence must not be used again. */
  readonly setAsideThrough: number;
  /** Files that lost one of their two envelopes, and are read by the other. */
  readonly singleEnvelope: readonly string[];
  /** Names in the folders of sources that are none of ours; left alone. */
  readonly unknown: readonly string[];
  /** Files removed: half written, replaced by others, of days that retention has taken. */
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
  /** Greater than all ids ever used that something still names. */
  readonly idNext: number;
  /** As it was found, so that what is missing is reported again should this start fail. */
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
  // Nothing is changed before every file has been looked at: a version of the future stops here, and so
  // does one that cannot be read.
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
  const replaced = counting.replaced.map(({ path, envelope }) => ({ ...nameOf(envelope), path }));
  const kept = [...segments.map(({ envelope }) => envelope), ...missing].map(manifestName);
  const leftovers = await removeUnnamed(disk, manifest, { kept, files: [...expired, ...replaced] });
  const temporary = await removeFiles(disk, listed.temporary);
  // Ids of files in quarantine are not used again: a file that is set aside later must not take their names.
  const ids = [...listed.files, ...setAside, ...missing].map(({ id }) => id);
  return {
    segments,
    leftovers,
    idNext:
      1 + [...ids, ...listed.temporary.map(({ id }) => id)].reduce((a, b) => Math.max(a, b), 0),
    manifest,
    report: {
      quarantined,
      missing: missing.map((file) => ({ ...file, path: pathOf(options.path, file) })),
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

function pathOf(folder: string, file: SourceSegmentName): string {
  return join(folder, file.source, formatSegmentName(file));
}

/** Has the manifest name the `kept` alone, then removes the files. Gives those that could not be removed. */
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
  /** Under the name they were to get. */
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
    // A process that was killed may have left names that are seen but not durable. Once they count,
    // the log lets go of what they hold, and what they replace is removed.
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

function nameOf({ source, partition, id }: SegmentEnvelope): Omit<FoundFile, 'path'> {
  return { source, partition, id };
}

/** Those that could not be removed. */
async function removeFiles(disk: Disk, files: readonly FoundFile[]): Promise<FoundFile[]> {
  const failed: FoundFile[] = [];
  const removedOf = new Map<string, FoundFile[]>();
  for (const file of files) {
    try {
      await disk.remove(file.path);
      const folder = dirname(file.path);
      const removed = removedOf.get(folder);
      if (removed === undefined) removedOf.set(folder, [file]);
      else removed.push(file);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      failed.push(file);
    }
  }
  for (const [folder, removed] of removedOf) {
    try {
      await disk.syncFolder(folder);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      failed.push(...removed);
    }
  }
  return failed;
}
