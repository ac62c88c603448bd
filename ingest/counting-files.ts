import type { SegmentFile } from './segment-file.ts';

/**
 * Which of the files that are there count, newest first. What a file replaces is older than it, so one
 * walk from the newest decides: a file that does not count makes nothing void.
 */
export function countingFiles(files: readonly SegmentFile[]): {
  readonly segments: readonly SegmentFile[];
  readonly replaced: readonly SegmentFile[];
} {
  const segments: SegmentFile[] = [];
  const replaced: SegmentFile[] = [];
  const voidIds = new Set<number>();
  for (const file of files.toSorted((left, right) => right.envelope.id - left.envelope.id)) {
    if (voidIds.has(file.envelope.id)) {
      replaced.push(file);
      continue;
    }
    segments.push(file);
    for (const id of file.envelope.replaced) voidIds.add(id);
  }
  return { segments, replaced };
}
