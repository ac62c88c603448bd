import { basename, dirname, join } from 'node:path';
import { DiskError } from './disk/disk.ts';
import type { SteadyDisk } from './disk/steady-disk.ts';
import { SegmentFile } from './segment-file.ts';
import { SegmentDamageError, SegmentVersionError } from './segment-layout.ts';
import { parseSegmentName, type SegmentName } from './segment-name.ts';

/** A segment file in quarantine, and where it was. */
export type SetAside = SegmentName & { readonly source: string; readonly path: string };

/** The segment files of a quarantine folder, by their names. Rejects with a `DiskError`. */
export async function listSetAside(disk: SteadyDisk, folder: string): Promise<SetAside[]> {
  const names = await disk.list(folder);
  return names.flatMap((name) => {
    const [, source, file] = /^(.+)\.([^.]+\.\d+\.segment)$/.exec(name) ?? [];
    const parsed = file === undefined ? undefined : parseSegmentName(file);
    if (source === undefined || parsed === undefined) return [];
    return { ...parsed, source, path: join(folder, name) };
  });
}

/**
 * Puts files back that are whole, newest first: every byte was read and is what was written. One stays in
 * quarantine when any file that counts has rows of its interval, for no row may be there twice; also one that
 * cannot be read or moved, until the next start. `folder`: of the segments. Resolves to those that are back.
 * `throughSequence`: the last record of the log that any file in quarantine covers, back or not.
 */
export async function restoreSegments(
  disk: SteadyDisk,
  folder: string,
  {
    setAside,
    counting,
  }: { readonly setAside: readonly SetAside[]; readonly counting: readonly SegmentFile[] },
): Promise<{ readonly restored: readonly SegmentFile[]; readonly throughSequence: number }> {
  const restored: SegmentFile[] = [];
  let throughSequence = 0;
  for (const found of setAside.toSorted((left, right) => right.id - left.id)) {
    try {
      const file = await SegmentFile.open(disk, found.path);
      const last = file.envelope.covered.at(-1)?.throughSequence ?? 0;
      throughSequence = Math.max(throughSequence, last);
      if (![...counting, ...restored].some((other) => isInTheWay(other, file))) {
        if (await isWhole(file, found)) restored.push(await putBack(disk, folder, found));
      }
    } catch (error) {
      const isLeft =
        error instanceof DiskError ||
        error instanceof SegmentDamageError ||
        error instanceof SegmentVersionError;
      if (!isLeft) throw error;
    }
  }
  return { restored, throughSequence };
}

/** Whether a file that counts may have rows of another one, or makes it void. */
function isInTheWay({ envelope: counts }: SegmentFile, { envelope }: SegmentFile): boolean {
  if (counts.source !== envelope.source || counts.partition !== envelope.partition) return false;
  if (counts.id === envelope.id || counts.replaced.includes(envelope.id)) return true;
  return counts.covered.some((one) =>
    envelope.covered.some(
      (other) =>
        one.fromSequence <= other.throughSequence && other.fromSequence <= one.throughSequence,
    ),
  );
}

async function isWhole(file: SegmentFile, { source, partition, id }: SetAside): Promise<boolean> {
  const { envelope, damagedCopy } = file;
  const isItself =
    envelope.source === source && envelope.partition === partition && envelope.id === id;
  if (!isItself || damagedCopy !== undefined) return false;
  return (await file.load()).damagedColumns.length === 0;
}

async function putBack(
  disk: SteadyDisk,
  folder: string,
  { source, path }: SetAside,
): Promise<SegmentFile> {
  const place = join(folder, source, basename(path).slice(source.length + 1));
  await disk.makeFolder(dirname(place));
  await disk.rename(path, place);
  await disk.syncFolder(dirname(place));
  await disk.syncFolder(dirname(path));
  return SegmentFile.open(disk, place);
}
