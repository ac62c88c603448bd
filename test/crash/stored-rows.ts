import { readFooter, sealedSlicesOf } from '../../engine/column/sealed-layout.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import type { OpenSegmentHandle, SegmentHandle } from '../../engine/column/segment.ts';
import {
  SegmentDamagedError,
  SegmentGoneError,
  SegmentImage,
} from '../../engine/column/segment-image.ts';
import { valueAt } from '../../engine/column/vector.ts';
import type { Disk } from '../../ingest/disk/disk.ts';
import type { LogStore } from '../../ingest/log-store.ts';
import { withReadable } from '../support/readable-segment.ts';

/** What is read back of an event. */
export type StoredRow = {
  /** Unique in its source. */
  readonly arrival: number;
  readonly timestampUs: number;
  /** `null` only when the column of ids was lost. */
  readonly id: string | null;
};

/** `all`: damage is found in whichever column it is. `rows`: those of a row that is read back alone. */
export type ColumnsRead = 'all' | 'rows';

const EVERYTHING = { timestampUsStart: -Infinity, timestampUsEnd: Infinity };

/** Snapshots of which a segment was merged or dropped before it was read; there is a next one then. */
const SNAPSHOTS_MAX = 20;

/**
 * All rows of a source that a query could see now, read as a query does: what has left memory comes
 * back, or, where there is no room, is read for this once. Damage that is met on the way is told to the
 * store, as the engine does. Rejects with a DiskError when a file cannot be opened.
 */
export async function rowsOf(
  store: LogStore,
  source: string,
  disk: Disk,
  columns: ColumnsRead = 'all',
): Promise<StoredRow[]> {
  for (let snapshot = 1; ; snapshot++) {
    try {
      return await rowsOfSnapshot(store.segments(source, EVERYTHING), disk, columns);
    } catch (error) {
      if (snapshot === SNAPSHOTS_MAX) throw error;
      if (error instanceof SegmentGoneError) continue;
      if (!(error instanceof SegmentDamagedError) || !(await store.repair(error.segmentId))) {
        throw error;
      }
    }
  }
}

async function rowsOfSnapshot(
  handles: readonly SegmentHandle[],
  disk: Disk,
  columns: ColumnsRead,
): Promise<StoredRow[]> {
  const rows: StoredRow[] = [];
  for (const handle of handles) {
    if (handle.kind === 'open') rows.push(...rowsOfOpen(handle));
    else {
      const sealed = await withReadable(disk, handle, (readable) => {
        const image = SegmentImage.open(readable);
        if (columns === 'all') {
          for (const slice of sealedSlicesOf(readFooter(image.buffer))) image.need(slice);
        }
        return rowsOfReader(SealedSegmentReader.open(image.buffer, image.need));
      });
      rows.push(...sealed);
    }
  }
  return rows;
}

export function rowsOfSealed(buffer: SharedArrayBuffer): StoredRow[] {
  return rowsOfReader(SealedSegmentReader.open(buffer));
}

function rowsOfReader(reader: SealedSegmentReader): StoredRow[] {
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
