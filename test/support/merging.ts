import { divideRows } from '../../engine/column/divide-rows.ts';
import { SegmentRows } from '../../engine/column/merge-input.ts';
import { mergePart, mergeSegments } from '../../engine/column/merge-segments.ts';
import type { SealedSegmentHandle } from '../../engine/column/segment.ts';
import type { Disk } from '../../ingest/disk/disk.ts';
import type { SegmentStorage } from '../../ingest/sealed-segments.ts';
import { wholeSegment } from './whole-segment.ts';

/** The rows of a segment that is in memory. */
export function rowsOfBuffer(buffer: SharedArrayBuffer): SegmentRows {
  return new SegmentRows({
    buffer,
    need: () => buffer,
    read: ([offset], start, end) => new Uint8Array(buffer, offset + start, end - start),
    expect: () => {},
  });
}

/** Merges as workers do, on this thread. `before` is called each time; what it rejects with, a merge does. */
export function mergingOn(
  disk: Disk,
  before: () => Promise<void> = async () => {},
): Pick<SegmentStorage, 'merge' | 'divide'> {
  const wholeOf = async (handles: readonly SealedSegmentHandle[]): Promise<SharedArrayBuffer[]> => {
    await before();
    return Promise.all(handles.map((handle) => wholeSegment(disk, handle)));
  };
  return {
    merge: async (handles, part) => {
      const buffers = await wholeOf(handles);
      if (part === undefined) return mergeSegments(buffers);
      return mergePart(buffers.map(rowsOfBuffer), part);
    },
    divide: async (handles, rowsMax) => {
      const buffers = await wholeOf(handles);
      return divideRows(buffers.map(rowsOfBuffer), rowsMax);
    },
  };
}
