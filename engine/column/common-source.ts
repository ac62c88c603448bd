import { assert } from '../assert.ts';
import { carvedInt32 } from './arrays.ts';
import { consecutivePositions } from './chunk.ts';
import type { LeafFooter } from './sealed-layout.ts';
import type { RowSpan } from './segment.ts';
import { firstPlaceOf, type SkeletonArrays } from './skeleton.ts';
import {
  endOfNode,
  FLOAT,
  INTEGER,
  KIND_BITS,
  KIND_MASK,
  NODE_HEADER_SIZE,
  RECORD,
  RECORD_LIST,
  slotCount,
  TEXT,
} from './token.ts';
import type { Nested } from './value.ts';
import type {
  NestedSource,
  NestedVector,
  StringBlock,
  UnnestedElements,
  Vector,
} from './vector.ts';
import { textAt } from './wtf8.ts';

/** Rows of a segment, listed or consecutive. */
export type RowsRead = Int32Array | RowSpan;

/** How fields are read that not all rows have in common. */
type SkeletonRoots = {
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

/**
 * A field that all records have at one place, each in the same way: a value in a leaf column, of which its row has no
 * other before it; a record, or a list of one record, with the fields that all of these have.
 */
type CommonField<Key> = { readonly kind: 'leaf'; readonly column: number } | CommonRecord<Key>;

export type CommonRecord<Key> = {
  readonly kind: 'record' | 'list';
  readonly fields: Map<Key, CommonField<Key>>;
};

/** The common fields of all roots by their names, as footers have them (`listDepths`). */
export function commonFieldsOf(
  leaves: readonly LeafFooter[],
  keys: StringBlock,
): CommonRecord<string> {
  const root: CommonRecord<string> = { kind: 'record', fields: new Map() };
  leaves.forEach(({ path, listDepths }, column) => {
    if (listDepths === undefined) return;
    let { fields } = root;
    path.forEach((key, depth) => {
      const name = textAt(keys, key);
      if (depth === path.length - 1) {
        fields.set(name, { kind: 'leaf', column });
        return;
      }
      const kind = listDepths.includes(depth) ? 'list' : 'record';
      const below = fields.get(name) ?? { kind, fields: new Map() };
      fields.set(name, below);
      // All leaves below a field say the same of it.
      if (below.kind !== 'leaf') fields = below.fields;
    });
  });
  return root;
}

/** Leaves of a segment in the making, with what `listDepths` says of each. */
export function withListDepths(
  leaves: readonly LeafFooter[],
  skeletons: SkeletonArrays,
  slots: Slots,
): LeafFooter[] {
  const depthsOf = new Map<number, readonly number[]>();
  const note = (record: CommonRecord<number>, depth: number, lists: readonly number[]): void => {
    for (const field of record.fields.values()) {
      if (field.kind === 'leaf') depthsOf.set(field.column, lists);
      else note(field, depth + 1, field.kind === 'list' ? [...lists, depth] : lists);
    }
  };
  note(new CommonFields(skeletons, slots).ofAll(), 0, []);
  return leaves.map((leaf, column) => {
    const listDepths = depthsOf.get(column);
    return listDepths === undefined ? leaf : { ...leaf, listDepths };
  });
}

/** Of each place its column, and which of the row's values in that column it is. */
type Slots = { readonly slotColumns: Uint16Array; readonly slotOrdinals: Float64Array };

/** Finds what all skeletons have in common: what the first has, without what another has not, or in another way. */
class CommonFields {
  readonly #skeletons: SkeletonArrays;
  readonly #slots: Slots;

  constructor(skeletons: SkeletonArrays, slots: Slots) {
    this.#skeletons = skeletons;
    this.#slots = slots;
  }

  ofAll(): CommonRecord<number> {
    const { starts, count } = this.#skeletons;
    const placeOf = (skeleton: number): number => firstPlaceOf(this.#skeletons, skeleton);
    const root = this.#record('record', starts[0]!, placeOf(0));
    for (let skeleton = 1; skeleton < count && root.fields.size > 0; skeleton++) {
      this.#narrow(root, starts[skeleton]!, placeOf(skeleton));
    }
    return root;
  }

  /** Recursion is bounded by RECORD_DEPTH_MAX: deeper records are no tokens. */
  #record(kind: 'record' | 'list', node: number, place: number): CommonRecord<number> {
    const fields = new Map<number, CommonField<number>>();
    this.#eachField(node, place, (key, at, placeAt) => {
      const field = this.#field(at, placeAt);
      if (field !== undefined) fields.set(key, field);
    });
    return { kind, fields };
  }

  /** `undefined` of what is not read by its column alone. */
  #field(node: number, place: number): CommonField<number> | undefined {
    const kind = this.#kindAt(node);
    if (kind === RECORD) return this.#record('record', node, place);
    if (kind === RECORD_LIST) {
      const element = this.#onlyRecord(node);
      return element === undefined ? undefined : this.#record('list', element, place);
    }
    const isLeaf = kind === TEXT || kind === INTEGER || kind === FLOAT;
    if (!isLeaf || this.#slots.slotOrdinals[place] !== 0) return undefined;
    return { kind: 'leaf', column: this.#slots.slotColumns[place]! };
  }

  /** Leaves out what the record at a node has not, or in another way. */
  #narrow({ fields }: CommonRecord<number>, node: number, place: number): void {
    const met = new Set<number>();
    this.#eachField(node, place, (key, at, placeAt) => {
      const field = fields.get(key);
      if (field !== undefined && this.#isAlike(field, at, placeAt)) met.add(key);
    });
    for (const key of fields.keys()) if (!met.has(key)) fields.delete(key);
  }

  #isAlike(field: CommonField<number>, node: number, place: number): boolean {
    if (field.kind === 'leaf') {
      const other = this.#field(node, place);
      return other?.kind === 'leaf' && other.column === field.column;
    }
    const kind = this.#kindAt(node);
    if (kind !== (field.kind === 'list' ? RECORD_LIST : RECORD)) return false;
    const record = field.kind === 'list' ? this.#onlyRecord(node) : node;
    if (record !== undefined) this.#narrow(field, record, place);
    return record !== undefined;
  }

  /** The first field of each key. */
  #eachField(
    record: number,
    recordPlace: number,
    visit: (key: number, node: number, place: number) => void,
  ): void {
    const { tokens } = this.#skeletons;
    const end = endOfNode(tokens, record);
    const keys = new Set<number>();
    let place = recordPlace;
    for (let at = record + NODE_HEADER_SIZE; at < end; at = endOfNode(tokens, at)) {
      const key = tokens[at]! >>> KIND_BITS;
      if (!keys.has(key)) visit(key, at, place);
      keys.add(key);
      place += slotCount(tokens, at);
    }
  }

  #kindAt(node: number): number {
    return this.#skeletons.tokens[node]! & KIND_MASK;
  }

  #onlyRecord(list: number): number | undefined {
    const { tokens } = this.#skeletons;
    const first = list + NODE_HEADER_SIZE;
    const end = endOfNode(tokens, list);
    if (first >= end || endOfNode(tokens, first) !== end) return undefined;
    return this.#kindAt(first) === RECORD ? first : undefined;
  }
}
