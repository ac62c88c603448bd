import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import type { OpenSegmentHandle, SealedSegmentHandle } from '../../engine/column/segment.ts';
import { SegmentDamagedError } from '../../engine/column/segment-image.ts';
import { valueAt } from '../../engine/column/vector.ts';
import type { Disk } from '../../ingest/disk/disk.ts';
import type { LogStore } from '../../ingest/log-store.ts';
import { SegmentFile } from '../../ingest/segment-file.ts';

/** What is read back of an event. */
export type StoredRow = {
  /** Unique in its source. */
  readonly arrival: number;
  readonly timestampUs: number;
  /** `null` only when the column of ids was lost. */
  readonly id: string | null;
};

const EVERYTHING = { timestampUsStart: -Infinity, timestampUsEnd: Infinity };

/**
 * All rows of a source that a query could see now. Damage that is met on the way is told to the store,
 * as the engine does.
 */
export async function rowsOf(store: LogStore, source: string, disk: Disk): Promise<StoredRow[]> {
  for (;;) {
    try {
      const rows: StoredRow[] = [];
      for (const handle of store.segments(source, EVERYTHING)) {
        if (handle.kind === 'open') rows.push(...rowsOfOpen(handle));
        else rows.push(...rowsOfSealed(await wholeSegment(handle, disk)));
      }
      return rows;
    } catch (error) {
      if (!(error instanceof SegmentDamagedError) || !(await store.repair(error.segmentId)))
        throw error;
    }
  }
}

/** All bytes of a segment, those that are not in memory by way of `disk`. Rejects with a SegmentDamagedError. */
export async function wholeSegment(
  handle: SealedSegmentHandle,
  disk: Disk,
): Promise<SharedArrayBuffer> {
  const { id, backing } = handle;
  if (backing === undefined) return handle.buffer;
  const { buffer, damagedColumns } = await (await SegmentFile.open(disk, backing.path)).load();
  if (damagedColumns.length === 0) return buffer;
  throw new SegmentDamagedError(id, backing.path, damagedColumns.join(', '));
}

export function rowsOfSealed(buffer: SharedArrayBuffer): StoredRow[] {
  const reader = new SealedSegmentReader(buffer);
  const count = reader.rowCount;
  const rows = Int32Array.from({ length: count }, (_, row) => row);
  const [arrivals, timestamps, ids] = [
    reader.arrivals(rows, count),
    reader.timestamps(rows, count),
    reader.ids(rows, count),
  ];
  return Array.from({ length: count }, (_, row) => {
    const id = valueAt(ids, row);
    return {
      arrival: Number(valueAt(arrivals, row)),
      timestampUs: Number(valueAt(timestamps, row)),
      id: id === null ? null : String(id),
    };
  });
}

function rowsOfOpen({ rowCount, arrays }: OpenSegmentHandle): StoredRow[] {
  const { stringBytes, stringOffsets, ids, arrivals, timestampsUs } = arrays;
  return Array.from({ length: rowCount }, (_, row) => {
    const code = ids[row]!;
    const bytes = stringBytes.slice(stringOffsets[code]!, stringOffsets[code + 1]!);
    const id = code < 0 ? null : Buffer.from(bytes).toString();
    return { arrival: arrivals[row]!, timestampUs: timestampsUs[row]!, id };
  });
}
