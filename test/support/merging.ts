import { divideRows } from '../../engine/column/divide-rows.ts';
import { SegmentRows } from '../../engine/column/merge-input.ts';
import { mergePart, mergeSegments } from '../../engine/column/merge-segments.ts';
import { packImage } from '../../engine/column/packed-image.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import type { SealedSegmentHandle } from '../../engine/column/segment.ts';
import type { Disk } from '../../ingest/disk/disk.ts';
import type { SegmentEngine } from '../../ingest/segment-engine.ts';
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

/** Works on segments as the engine does, on this thread. `before` is called each time; what it rejects with, the work does. */
export function segmentEngineOn(
  disk: Disk,
  {
    before = async () => {},
    readersDone = () => undefined,
  }: {
    readonly before?: () => Promise<void>;
    readonly readersDone?: SegmentEngine['readersDone'];
  } = {},
): SegmentEngine {
  return {
    ...mergingOn(disk, before),
    seal: async (handle, partitionUs) => {
      await before();
      return sealSegment(handle, { partitionUs });
    },
    pack: async (buffer) => {
      await before();
      return packImage(buffer);
    },
    readersDone,
    releaseDropped: () => {},
    inherit: () => {},
    forget: () => {},
  };
}

/** Merges as workers do, on this thread. `before` is called each time; what it rejects with, a merge does. */
export function mergingOn(
  disk: Disk,
  before: () => Promise<void> = async () => {},
): Pick<SegmentEngine, 'merge' | 'divide'> {
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
