import type { LeafFooter } from './sealed-layout.ts';
import { endOfNode, firstPlaceOf, type SkeletonArrays, slotCount } from './skeleton.ts';
import {
  FLOAT,
  INTEGER,
  KIND_BITS,
  KIND_MASK,
  NODE_HEADER_SIZE,
  RECORD,
  RECORD_LIST,
  TEXT,
} from './token.ts';
import type { StringBlock } from './vector.ts';
import { textAt } from './wtf8.ts';

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
