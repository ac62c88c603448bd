import type { RowRun, Segment } from '../../engine/column/segment.ts';
import {
  type NestedSource,
  type NestedVector,
  type UnnestedElements,
  type ValueVector,
  type Vector,
  valueAt,
  valueVector,
} from '../../engine/column/vector.ts';

/**
 * A segment that helps nobody: it claims to hold events of all times, tells no project's rows from
 * others, and gives each column as plain values, so that nothing is skipped and nothing is computed
 * once for many rows.
 */
export class PlainSegment implements Segment {
  readonly kind = 'open';
  readonly timestampUsMin = -Infinity;
  readonly timestampUsMax = Infinity;
  readonly #segment: Segment;

  constructor(segment: Segment) {
    this.#segment = segment;
  }

  get rowCount(): number {
    return this.#segment.rowCount;
  }

  runs(): readonly RowRun[] {
    const count = this.rowCount;
    return [{ count, start: 0, rows: undefined, isTimeOrdered: false, hasProjectKey: false }];
  }

  runsOf(): never {
    throw new Error('it tells no rows from others');
  }

  countRows(): number {
    return this.rowCount;
  }

  projectsWith(): readonly string[] {
    return [];
  }

  positionAt(): never {
    throw new Error('no run of it is ordered by time');
  }

  timestamps(rows: Int32Array, count: number): Vector {
    return plain(this.#segment.timestamps(rows, count));
  }

  arrivals(rows: Int32Array, count: number): Vector {
    return plain(this.#segment.arrivals(rows, count));
  }

  ids(rows: Int32Array, count: number): Vector {
    return plain(this.#segment.ids(rows, count));
  }

  messages(rows: Int32Array, count: number): Vector {
    return plain(this.#segment.messages(rows, count));
  }

  projects(rows: Int32Array, count: number): Vector {
    return plain(this.#segment.projects(rows, count));
  }

  roots(rows: Int32Array, count: number): NestedVector {
    const roots = this.#segment.roots(rows, count);
    return withSource(roots, new PlainRecords(roots.source));
  }

  rowsWith(): undefined {
    return undefined;
  }
}

/** Reads records one by one. */
class PlainRecords implements NestedSource {
  readonly #source: NestedSource;

  constructor(source: NestedSource) {
    this.#source = source;
  }

  field(records: NestedVector, name: string): Vector {
    return plain(this.#source.field(withSource(records, this.#source), name));
  }

  unnest(lists: NestedVector): UnnestedElements {
    const unnested = this.#source.unnest(withSource(lists, this.#source));
    return { ...unnested, elements: plain(unnested.elements) };
  }

  nested(row: number, node: number) {
    return this.#source.nested(row, node);
  }
}

function plain(vector: Vector): ValueVector {
  return valueVector(Array.from({ length: vector.count }, (_, index) => valueAt(vector, index)));
}

/** The same records without what a segment's own vector may know besides. */
function withSource({ count, rows, nodes }: NestedVector, source: NestedSource): NestedVector {
  return { kind: 'nested', count, source, rows, nodes };
}
