import { basename, dirname, join } from 'node:path';
import { type Disk, DiskError } from './disk/disk.ts';
import { SteadyDisk } from './disk/steady-disk.ts';
import { listSetAside, type SetAside } from './quarantine.ts';
import type { SegmentEnvelope } from './segment-envelope.ts';
import { SegmentFile } from './segment-file.ts';
import { SegmentDamageError, SegmentVersionError } from './segment-layout.ts';
import { SegmentListing } from './segment-listing.ts';

/** A file that stays in quarantine, and the reason. */
export type LeftAside = SetAside & { readonly reason: string };

export type Restoring = {
  /** Files that were moved back or, with `isTrial`, could be. */
  readonly restored: readonly SegmentFile[];
  readonly left: readonly LeftAside[];
  /** The last log record that any file in quarantine covers, whether it was moved back or not. */
  readonly throughSequence: number;
};

/**
 * Moves whole files back from quarantine, newest first; every byte is checked. A file stays in quarantine if any file
 * that counts has rows of its interval, because no row may exist twice, and if it cannot be read or moved, until the
 * next start. `folder`: the folder of segments. With `isTrial` nothing is changed.
 */
export async function restoreSegments(
  disk: SteadyDisk,
  folder: string,
  {
    setAside,
    counting,
    isTrial = false,
  }: {
    readonly setAside: readonly SetAside[];
    readonly counting: readonly SegmentFile[];
    readonly isTrial?: boolean;
  },
): Promise<Restoring> {
  const restored: SegmentFile[] = [];
  const left: LeftAside[] = [];
  let throughSequence = 0;
  for (const found of setAside.toSorted((one, other) => other.id - one.id)) {
    try {
      const file = await SegmentFile.open(disk, found.path);
      const last = file.envelope.covered.at(-1)?.throughSequence ?? 0;
      throughSequence = Math.max(throughSequence, last);
      const reason =
        (await findReasonToStay(file, found, [...counting, ...restored])) ??
        (await isTaken(disk, formatOriginalPath(folder, found)));
      if (reason !== undefined) left.push({ ...found, reason });
      else restored.push(isTrial ? file : await putBack(disk, folder, found));
    } catch (error) {
      const isLeft =
        error instanceof DiskError ||
        error instanceof SegmentDamageError ||
        error instanceof SegmentVersionError;
      if (!isLeft) throw error;
      left.push({ ...found, reason: error.message });
    }
  }
  return { restored, left, throughSequence };
}

/**
 * Moves the whole files of a data folder back from quarantine, by the rule of a start. No service may run on the
 * folder, unless `isTrial` is set. If any segment file cannot be read, none is moved. Rejects with a `DiskError`.
 */
export async function restoreFolder(options: {
  readonly disk: Disk;
  /** An absolute path. */
  readonly dataDir: string;
  readonly isTrial: boolean;
}): Promise<Restoring> {
  const { dataDir, isTrial } = options;
  const disk = SteadyDisk.of(options.disk);
  const setAside = await listSetAside(disk, join(dataDir, 'quarantine'));
  if (setAside.length === 0) return { restored: [], left: [], throughSequence: 0 };
  const { segments: counting, unchecked } = await new SegmentListing(disk, dataDir).read();
  const [unread] = unchecked;
  if (unread !== undefined) {
    const reason = `${unread.path} may have its rows, and cannot be read: ${unread.reason}`;
    return {
      restored: [],
      left: setAside.map((found) => ({ ...found, reason })),
      throughSequence: 0,
    };
  }
  return restoreSegments(disk, join(dataDir, 'segments'), { setAside, counting, isTrial });
}

async function findReasonToStay(
  file: SegmentFile,
  { source, partition, id }: SetAside,
  counting: readonly SegmentFile[],
): Promise<string | undefined> {
  const { envelope, damagedCopy } = file;
  const isItself =
    envelope.source === source && envelope.partition === partition && envelope.id === id;
  if (!isItself) return 'it is a copy of another segment file';
  if (counting.some((other) => isInTheWay(other, file))) {
    return 'another segment file has rows of the same records, or was stored in its place';
  }
  const isWhole = damagedCopy === undefined && (await file.load()).damagedColumns.length === 0;
  return isWhole ? undefined : 'it is damaged';
}

/** Whether a file that counts may have rows of another one, or replaces it. */
function isInTheWay({ envelope: counts }: SegmentFile, { envelope }: SegmentFile): boolean {
  if (counts.source !== envelope.source || counts.partition !== envelope.partition) return false;
  if (counts.id === envelope.id || makesVoid(counts, envelope)) return true;
  if (areOfOne(counts, envelope)) return false;
  return counts.covered.some((one) =>
    envelope.covered.some(
      (other) =>
        one.fromSequence <= other.throughSequence && other.fromSequence <= one.throughSequence,
    ),
  );
}

function makesVoid({ replaced, awaits }: SegmentEnvelope, { id }: SegmentEnvelope): boolean {
  return replaced.includes(id) || awaits.includes(id);
}

/** Whether two files replaced the same files together: no row is in both. */
function areOfOne({ awaits }: SegmentEnvelope, other: SegmentEnvelope): boolean {
  return awaits.length > 0 && awaits.join() === other.awaits.join();
}

/** The path that a file in quarantine had before. */
function formatOriginalPath(folder: string, { source, path }: SetAside): string {
  return join(folder, source, basename(path).slice(source.length + 1));
}

/** Whether a file exists at the path. It is never overwritten. */
async function isTaken(disk: SteadyDisk, place: string): Promise<string | undefined> {
  const names = await disk.list(dirname(place));
  return names.includes(basename(place)) ? 'a file is in its place' : undefined;
}

async function putBack(disk: SteadyDisk, folder: string, found: SetAside): Promise<SegmentFile> {
  const place = formatOriginalPath(folder, found);
  await disk.makeFolder(folder);
  await disk.makeFolder(dirname(place));
  await disk.rename(found.path, place);
  await disk.syncFolder(dirname(place));
  await disk.syncFolder(dirname(found.path));
  return SegmentFile.open(disk, place);
}
