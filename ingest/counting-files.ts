import type { SegmentFile } from './segment-file.ts';

/**
 * Selects the files that count, newest first. A file is newer than those it replaces, so one walk from the newest
 * decides. A file that does not count replaces nothing. Of files that replace others together, the newest names the
 * replaced ones: if it is missing, none of the group counts.
 */
export function countingFiles(files: readonly SegmentFile[]): {
  readonly segments: readonly SegmentFile[];
  readonly replaced: readonly SegmentFile[];
} {
  const segments: SegmentFile[] = [];
  const replaced: SegmentFile[] = [];
  const ids = new Set(files.map(({ envelope }) => envelope.id));
  const voidIds = new Set<number>();
  for (const file of files.toSorted((left, right) => right.envelope.id - left.envelope.id)) {
    const { id, replaced: makesVoid, awaits } = file.envelope;
    const mayCount = (awaited: number): boolean => {
      return ids.has(awaited) && !voidIds.has(awaited) && !makesVoid.includes(awaited);
    };
    if (voidIds.has(id) || awaits.some(mayCount)) {
      replaced.push(file);
      continue;
    }
    segments.push(file);
    for (const voidId of makesVoid) voidIds.add(voidId);
  }
  return { segments, replaced };
}
