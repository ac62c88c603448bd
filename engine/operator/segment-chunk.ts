import { unreachable } from '../assert.ts';
import type { Chunk, ColumnSource } from '../column/chunk.ts';
import { LazyChunk } from '../column/chunk.ts';
import type { Segment } from '../column/segment.ts';
import type { Vector } from '../column/vector.ts';

/** A column of a scan; the same names as the logical plan's. */
export type SegmentField = 'id' | 'timestamp' | 'event_message' | 'project' | 'root' | 'arrival';

/** Rows of one segment; column `i` is `fields[i]`, read for the rows that ask for it. */
export function segmentChunk(
  segment: Segment,
  fields: readonly SegmentField[],
  rows: Int32Array,
): Chunk {
  return new LazyChunk(new SegmentSource(segment, fields, rows, rows.length), rows.length);
}

class SegmentSource implements ColumnSource {
  readonly #segment: Segment;
  readonly #fields: readonly SegmentField[];
  readonly #rows: Int32Array;
  readonly #count: number;

  constructor(segment: Segment, fields: readonly SegmentField[], rows: Int32Array, count: number) {
    this.#segment = segment;
    this.#fields = fields;
    this.#rows = rows;
    this.#count = count;
  }

  column(index: number): Vector {
    return readField(this.#segment, this.#fields[index]!, this.#rows, this.#count);
  }

  select(positions: Int32Array, count: number): ColumnSource {
    const rows = new Int32Array(count);
    for (let i = 0; i < count; i++) rows[i] = this.#rows[positions[i]!]!;
    return new SegmentSource(this.#segment, this.#fields, rows, count);
  }
}

function readField(segment: Segment, field: SegmentField, rows: Int32Array, count: number): Vector {
  switch (field) {
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
      return unreachable(field);
  }
}
