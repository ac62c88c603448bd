import { assert } from '../assert.ts';
import { carvedInt32 } from './carved-arrays.ts';
import { consecutivePositions } from './chunk.ts';
import type { CommonRecord } from './common-fields.ts';
import type { RowSpan } from './segment.ts';
import type { Nested } from './value.ts';
import type { NestedSource, NestedVector, UnnestedElements, Vector } from './vector.ts';

/** Rows of a segment, listed or consecutive. */
export type RowsRead = Int32Array | RowSpan;

/** How fields are read that not all rows have in common. */
export type SkeletonRoots = {
  /** The root records of rows, by their skeletons. */
  readonly roots: (rows: RowsRead) => NestedVector;
  readonly source: () => NestedSource;
};

/** The first value of each of some rows, all of which have one, in a leaf column. */
type ReadColumn = (column: number, rows: RowsRead) => Vector;

/**
 * Reads fields that all rows of a segment have in common by their columns alone. All else is read by skeletons, and these
 * are opened then: they may be a tenth of a segment.
 */
export class CommonSource implements NestedSource {
  readonly #root: CommonRecord<string>;
  readonly #read: ReadColumn;
  readonly #skeletons: SkeletonRoots;

  constructor(root: CommonRecord<string>, read: ReadColumn, skeletons: SkeletonRoots) {
    this.#root = root;
    this.#read = read;
    this.#skeletons = skeletons;
  }

  /** Keeps `rows`. */
  roots(rows: RowsRead): NestedVector {
    const { roots } = this.#skeletons;
    if (this.#root.fields.size === 0) return roots(rows);
    return new CommonVector(this, { rows, record: this.#root, plain: roots });
  }

  field(records: NestedVector, name: string): Vector {
    if (records.form !== 'common') return this.#skeletons.source().field(records, name);
    const { rows, record, plain } = records.parts;
    const field = record.fields.get(name);
    if (field === undefined) return plainField(plain(rows), name);
    if (field.kind === 'leaf') return this.#read(field.column, rows);
    return new CommonVector(this, {
      rows,
      record: field,
      plain: (from) => nestedOf(plainField(plain(from), name)),
    });
  }

  unnest(lists: NestedVector): UnnestedElements {
    if (lists.form !== 'common') return this.#skeletons.source().unnest(lists);
    const { rows, record, plain } = lists.parts;
    const elements = new CommonVector(this, {
      rows,
      record: { kind: 'record', fields: record.fields },
      plain: (from) => {
        const parent = plain(from);
        return nestedOf(parent.source.unnest(parent).elements);
      },
    });
    return { count: lists.count, parents: undefined, elements };
  }

  nested(row: number, node: number): Nested {
    return this.#skeletons.source().nested(row, node);
  }
}

type CommonParts = {
  readonly rows: RowsRead;
  readonly record: CommonRecord<string>;
  /** The same records of rows, by their skeletons. */
  readonly plain: (rows: RowsRead) => NestedVector;
};

/** Records, or lists of one record, that all rows have. */
export class CommonVector {
  readonly kind = 'nested';
  readonly form = 'common';
  readonly source: NestedSource;
  readonly count: number;
  readonly parts: CommonParts;
  #rows: Int32Array | undefined;
  #nodes: Int32Array | undefined;

  constructor(source: NestedSource, parts: CommonParts) {
    this.source = source;
    this.parts = parts;
    this.count = parts.rows instanceof Int32Array ? parts.rows.length : parts.rows.count;
  }

  get rows(): Int32Array {
    this.#rows ??= listed(this.parts.rows);
    return this.#rows;
  }

  get nodes(): Int32Array {
    this.#nodes ??= this.parts.plain(this.parts.rows).nodes;
    return this.#nodes;
  }

  take(positions: Int32Array, count: number): NestedVector | undefined {
    const { rows } = this;
    const taken = carvedInt32(count);
    for (let i = 0; i < count; i++) {
      if (positions[i]! < 0) return undefined;
      taken[i] = rows[positions[i]!]!;
    }
    return new CommonVector(this.source, { ...this.parts, rows: taken });
  }
}

function listed(rows: RowsRead): Int32Array {
  if (rows instanceof Int32Array) return rows;
  return consecutivePositions(rows.start, rows.start + rows.count);
}

function plainField(records: NestedVector, name: string): Vector {
  return records.source.field(records, name);
}

function nestedOf(vector: Vector): NestedVector {
  assert(vector.kind === 'nested', 'a field that all rows have as a record is one in each');
  return vector;
}
