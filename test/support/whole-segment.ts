import type { SealedSegmentHandle } from '../../engine/column/segment.ts';
import { RESIDENT } from '../../engine/column/segment-backing.ts';
import type { Disk } from '../../ingest/disk/disk.ts';
import { SegmentFile } from '../../ingest/segment-file.ts';

/** All bytes of a sealed segment: those that are not in memory come from its file on `disk`. */
export async function wholeSegment(
  disk: Disk,
  { buffer, backing }: SealedSegmentHandle,
): Promise<SharedArrayBuffer> {
  if (backing === undefined || backing.states.every((state) => state === RESIDENT)) return buffer;
  return (await (await SegmentFile.open(disk, backing.path)).load()).buffer;
}
