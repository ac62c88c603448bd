import { unreachable } from '../assert.ts';
import { carvedInt32 } from '../column/carved-arrays.ts';
import type { Chunk, ColumnSource } from '../column/chunk.ts';
import { consecutivePositions, LazyChunk } from '../column/chunk.ts';
import type { RowRange, Segment, SegmentColumn } from '../column/segment.ts';
import type { Vector } from '../column/vector.ts';

/** A column of a scan; the same names as the logical plan's. */
export type SegmentField = SegmentColumn;

/** Rows of a segment: each by itself, or consecutive ones. */
export type ChunkRows = Int32Array | RowRange;

/** Rows of one segment; column `i` is `fields[i]`, read for the rows that ask for it. */
export function segmentChunk(
  segment: Segment,
  fields: readonly SegmentField[],
  rows: ChunkRows,
): Chunk {
  return new LazyChunk(new SegmentSource(segment, fields, rows), countOf(rows));
}

export function countOf(rows: ChunkRows): number {
  return rows instanceof Int32Array ? rows.length : rows.count;
}

/** A column of some rows. */
export function readColumn(segment: Segment, column: SegmentColumn, rows: ChunkRows): Vector {
  if (rows instanceof Int32Array) return readByRows(segment, column, rows, rows.length);
  const range = segment.range?.(column, rows);
  if (range !== undefined) return range;
  return readByRows(segment, column, rowsOf(rows), rows.count);
}

function rowsOf({ start, count }: RowRange): Int32Array {
  return consecutivePositions(start, start + count);
}

class SegmentSource implements ColumnSource {
  readonly #segment: Segment;
  readonly #fields: readonly SegmentField[];
  readonly #rows: ChunkRows;

  constructor(segment: Segment, fields: readonly SegmentField[], rows: ChunkRows) {
    this.#segment = segment;
    this.#fields = fields;
    this.#rows = rows;
  }

  column(index: number): Vector {
    return readColumn(this.#segment, this.#fields[index]!, this.#rows);
  }

  select(positions: Int32Array, count: number): ColumnSource {
    const rows = carvedInt32(count);
    if (this.#rows instanceof Int32Array) {
      for (let i = 0; i < count; i++) rows[i] = this.#rows[positions[i]!]!;
    } else {
      const { start } = this.#rows;
      for (let i = 0; i < count; i++) rows[i] = start + positions[i]!;
    }
    return new SegmentSource(this.#segment, this.#fields, rows);
  }
}

function readByRows(
  segment: Segment,
  column: SegmentColumn,
  rows: Int32Array,
  count: number,
): Vector {
  switch (column) {
    case 'id':
      return segment.ids(rows, count);
    case 'timestamp':
      return segment.timestamps(rows, count);
    case 'event_message':
      return segment.messages(rows, count);
    case 'project':
      return segment.projects(rows, count);
    case 'root':
      return segment.roots(rows, count);
    case 'arrival':
      return segment.arrivals(rows, count);
    default:
      return unreachable(column);
  }
}
