import {
  BIG_INTEGER,
  endOfNode,
  FALSE_KIND,
  FLOAT,
  HUGE_NUMBER,
  INTEGER,
  JSON_TEXT,
  KIND_BITS,
  KIND_MASK,
  NODE_HEADER_SIZE,
  RECORD,
  RECORD_LIST,
  TEXT,
  TRUE_KIND,
} from './token.ts';
import { isNested, type SqlValue } from './value.ts';
import { type NestedVector, type Vector, valueAt } from './vector.ts';
import { decodeWtf8 } from './wtf8.ts';

/** The most fields that are told: strangers make as many keys as they like. */
const FIELD_PATHS_MAX = 2_000;

/** How many rows have each skeleton, and the tokens of these. */
export type SkeletonCounts = {
  readonly tokens: Int32Array;
  /** First token of each skeleton. */
  readonly starts: Uint32Array;
  readonly keys: { readonly bytes: Uint8Array; readonly offsets: Uint32Array };
  /** By skeleton. */
  readonly counts: Uint32Array;
};

/** What is known of a kind's values. */
export type FieldKind = 'BOOL' | 'INT64' | 'FLOAT64' | 'STRING' | 'ARRAY';

/** A field that some events have. */
export type FoundField = {
  readonly path: readonly string[];
  readonly kinds: Set<FieldKind>;
  eventCount: number;
  /** The skeleton that was counted last, by its number among all. */
  lastSkeleton: number;
};

/** What lies at one path, if there is a field there, or below. */
type FieldNode = {
  readonly path: readonly string[];
  /** By their keys: the fields of a record there, or of those in a list. */
  readonly children: Map<string, FieldNode>;
  /** There when some events have a value there. */
  field: FoundField | undefined;
};

/** The fields of events, by their keys from the event down. */
export class FieldTree {
  readonly #root = newNode([]);
  readonly #fields: FoundField[] = [];
  #skeletonCount = 0;
  #isCut = false;

  /** Whether there are more fields than FIELD_PATHS_MAX. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Most events first, those of as many by their paths. */
  fields(): readonly FoundField[] {
    const named = this.#fields.map((field) => ({ field, name: JSON.stringify(field.path) }));
    named.sort(
      (left, right) =>
        right.field.eventCount - left.field.eventCount || (left.name < right.name ? -1 : 1),
    );
    return named.map(({ field }) => field);
  }

  /** Adds the fields of the events of a segment. */
  add({ tokens, starts, keys, counts }: SkeletonCounts): void {
    const names: (string | undefined)[] = [];
    const nameOf = (key: number): string => {
      names[key] ??= decodeWtf8(keys.bytes, keys.offsets[key]!, keys.offsets[key + 1]!);
      return names[key];
    };
    // Whether there is a field at the token, or below.
    const visit = (token: number, node: FieldNode, rowCount: number): boolean => {
      const kind = tokens[token]! & KIND_MASK;
      if (kind !== RECORD && kind !== RECORD_LIST) return this.#count(node, kind, rowCount);
      const end = endOfNode(tokens, token);
      let hasField = false;
      for (let at = token + NODE_HEADER_SIZE; at < end; at = endOfNode(tokens, at)) {
        if (kind === RECORD_LIST) {
          if (visit(at, node, rowCount)) hasField = true;
          continue;
        }
        const name = nameOf(tokens[at]! >>> KIND_BITS);
        const child = node.children.get(name) ?? newNode([...node.path, name]);
        if (!visit(at, child, rowCount)) continue;
        node.children.set(name, child);
        hasField = true;
      }
      return hasField;
    };
    for (let skeleton = 0; skeleton < counts.length; skeleton++) {
      if (counts[skeleton] === 0) continue;
      this.#skeletonCount += 1;
      visit(starts[skeleton]!, this.#root, counts[skeleton]!);
    }
  }

  /** Reads the values of all fields of some events. */
  read(roots: NestedVector, give: (field: FoundField, values: Vector) => void): void {
    const visit = (node: FieldNode, values: Vector): void => {
      if (node.field !== undefined) give(node.field, values);
      if (node.children.size === 0) return;
      const records = node === this.#root ? values : elementsOf(values);
      for (const [key, child] of node.children) visit(child, fieldOf(records, key));
    };
    visit(this.#root, roots);
  }

  /**
   * Counts a field in `rowCount` rows. Returns whether it did: not for a token without a value, nor for a new field
   * beyond FIELD_PATHS_MAX.
   */
  #count(node: FieldNode, kind: number, rowCount: number): boolean {
    const fieldKind = KINDS[kind];
    if (fieldKind === undefined) return false;
    if (node.field === undefined) {
      if (this.#fields.length >= FIELD_PATHS_MAX) {
        this.#isCut = true;
        return false;
      }
      node.field = { path: node.path, kinds: new Set(), eventCount: 0, lastSkeleton: 0 };
      this.#fields.push(node.field);
    }
    const { field } = node;
    field.kinds.add(fieldKind);
    // A list of records may have it more than once.
    if (field.lastSkeleton !== this.#skeletonCount) field.eventCount += rowCount;
    field.lastSkeleton = this.#skeletonCount;
    return true;
  }
}

function newNode(path: readonly string[]): FieldNode {
  return { path, children: new Map(), field: undefined };
}

/** By kind of token; those without a value have none. */
const KINDS: readonly (FieldKind | undefined)[] = (() => {
  const kinds: (FieldKind | undefined)[] = [];
  kinds[FALSE_KIND] = 'BOOL';
  kinds[TRUE_KIND] = 'BOOL';
  kinds[INTEGER] = 'INT64';
  kinds[BIG_INTEGER] = 'INT64';
  kinds[FLOAT] = 'FLOAT64';
  kinds[HUGE_NUMBER] = 'FLOAT64';
  kinds[TEXT] = 'STRING';
  kinds[JSON_TEXT] = 'ARRAY';
  return kinds;
})();

/** The records of lists, and records as they are. */
function elementsOf(vector: Vector): Vector {
  if (vector.kind === 'nested') return vector.source.unnest(vector).elements;
  const elements: SqlValue[] = [];
  for (let index = 0; index < vector.count; index++) {
    const value = valueAt(vector, index);
    if (isNested(value)) elements.push(...value.elements());
  }
  return { kind: 'value', count: elements.length, values: elements };
}

function fieldOf(records: Vector, key: string): Vector {
  if (records.kind === 'nested') return records.source.field(records, key);
  const values: SqlValue[] = [];
  for (let index = 0; index < records.count; index++) {
    const value = valueAt(records, index);
    values.push(isNested(value) ? value.field(key) : null);
  }
  return { kind: 'value', count: values.length, values };
}
