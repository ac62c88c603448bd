import type { SegmentFile } from './segment-file.ts';

/**
 * Which of the files that are there count, newest first. What a file replaces is older than it, so one
 * walk from the newest decides: a file that does not count makes nothing void. Of files that together take the place of
 * others the newest makes those void: where it is missing, none of them counts.
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
