import type { SealedSegmentHandle } from '../../engine/column/segment.ts';
import { SegmentImage } from '../../engine/column/segment-image.ts';
import type { Disk } from '../../ingest/disk/disk.ts';
import { withReadable } from './readable-segment.ts';

/**
 * All bytes of a sealed segment, as a thread gets them that merges: those that are not in memory come
 * from its file on `disk`. Rejects as `withReadable` and `SegmentImage.whole` do.
 */
export function wholeSegment(disk: Disk, handle: SealedSegmentHandle): Promise<SharedArrayBuffer> {
  return withReadable(disk, handle, SegmentImage.whole);
}
