import { assert } from '../assert.ts';
import { sealRows } from './seal-rows.ts';
import type { OpenSegmentHandle } from './segment.ts';
import { ShapeMemory } from './shape-memory.ts';

export type SealOptions = {
  /** Width of a partition of time, in microseconds; partitions begin at multiples of it (UTC). */
  readonly partitionUs: number;
  /** Called now and then; the sealing goes on when it returns. */
  readonly checkpoint?: () => void;
  /** Shapes of the segments sealed before. */
  readonly choices?: ShapeMemory;
};

/**
 * The published rows of an open segment as sealed segments: one for each partition of time that has
 * rows, in order of time. Each buffer is laid out as `sealed-layout.ts` says and never changes.
 * Takes some seconds for a full segment: to be called in a worker.
 */
export function sealSegment(handle: OpenSegmentHandle, options: SealOptions): SharedArrayBuffer[] {
  const { partitionUs, checkpoint = () => {}, choices = new ShapeMemory() } = options;
  assert(partitionUs >= 1, 'a partition is at least a microsecond wide');
  const { timestampsUs } = handle.arrays;
  const rowsOfPartition = new Map<number, number[]>();
  for (let row = 0; row < handle.rowCount; row++) {
    const partition = Math.floor(timestampsUs[row]! / partitionUs);
    const rows = rowsOfPartition.get(partition);
    if (rows === undefined) rowsOfPartition.set(partition, [row]);
    else rows.push(row);
  }
  const partitions = [...rowsOfPartition.keys()].sort((left, right) => left - right);
  return partitions.map((partition) =>
    sealRows(handle, Int32Array.from(rowsOfPartition.get(partition)!), { checkpoint, choices }),
  );
}
