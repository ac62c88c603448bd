import { TEMPLATE_BYTES_MAX } from '../limits.ts';
// biome-ignore lint/suspicious/noImportCycles: a skeleton compiles templates that walk through it.
import { compileTemplate, type JsonTemplate, templateSize } from './json-template.ts';
import { KeyPattern } from './key-pattern.ts';
import { NodeMap } from './node-map.ts';
import { RowTexts } from './row-texts.ts';
import type { WrittenSlots } from './slot-store.ts';
import {
  JSON_TEXT,
  KIND_BITS,
  KIND_HAS_SLOT,
  KIND_MASK,
  NODE_HEADER_SIZE,
  RECORD,
  RECORD_LIST,
} from './token.ts';
import type { StringBlock } from './vector.ts';

/** Names whose fields a segment's reader remembers the way to; beyond, it forgets them all. */
const FIELD_MEMOS_MAX = 1024;

/**
 * The skeletons of a segment. A *node* is the position of a token among all tokens; a *place* says
 * where the slot of a token lies, in the way of the segment: place `placeStarts[skeleton] + i` is
 * slot `i` of any row of the skeleton.
 */
export type SkeletonArrays = {
  readonly tokens: Int32Array;
  /** `count + 1` entries. */
  readonly starts: Uint32Array;
  readonly count: number;
  /** `undefined`: all 0. */
  readonly placeStarts: Uint32Array | undefined;
  /** Keys of the tokens. */
  readonly keys: StringBlock;
};

/** The place of the first slot of a skeleton. */
export function firstPlaceOf({ placeStarts }: SkeletonArrays, skeleton: number): number {
  return placeStarts === undefined ? 0 : placeStarts[skeleton]!;
}

/** In place of a field's node: the record has no such field. */
const NO_FIELD = -1;
/** … or only the text of the record knows. */
export const FIELD_IN_TEXT = -2;

/** A node, or one of the above, and the place of its first slot; without a node the place is -1. */
export type Found = { readonly node: number; readonly place: number };

export const NOTHING: Found = { node: NO_FIELD, place: -1 };
const IN_TEXT: Found = { node: FIELD_IN_TEXT, place: -1 };

/** Where the fields of one name lie, for the nodes that were asked about. */
export type FieldMemo = {
  readonly pattern: KeyPattern;
  /** From each node to its field, as `Found` has it. */
  readonly fields: NodeMap;
};

/** How a record or list is written, and the place of its first slot. */
type PlacedTemplate = { readonly template: JsonTemplate; readonly place: number };

/**
 * Finds fields and elements by their tokens. What it remembers takes memory for each node met, and none
 * for the others: a thread keeps many segments open and reads a few shapes of each.
 */
export class Skeletons {
  #arrays: SkeletonArrays;
  readonly #memos = new Map<string, FieldMemo>();
  /** From records and lists met to themselves and their places. */
  readonly #places = new NodeMap();
  readonly #templates = new Map<number, PlacedTemplate>();
  /** Of the same segment. */
  readonly rowTexts = new RowTexts();
  #templateBytes = 0;

  constructor(arrays: SkeletonArrays) {
    this.#arrays = arrays;
  }

  get arrays(): SkeletonArrays {
    return this.#arrays;
  }

  /** Goes on with the same skeletons and more after them. */
  extend(arrays: SkeletonArrays): void {
    if (arrays.count > this.#arrays.count) this.#arrays = arrays;
  }

  memo(name: string): FieldMemo {
    let memo = this.#memos.get(name);
    if (memo === undefined) {
      if (this.#memos.size >= FIELD_MEMOS_MAX) this.#memos.clear();
      memo = { pattern: new KeyPattern(name), fields: new NodeMap() };
      this.#memos.set(name, memo);
    }
    return memo;
  }

  /** How the record or list at `node` is written as JSON; `store`: of the same segment. */
  template(node: number, store: WrittenSlots): PlacedTemplate {
    let placed = this.#templates.get(node);
    if (placed === undefined) {
      // Not remembered twice: whoever writes a node seldom asks for its place otherwise.
      const place = this.#knownPlace(node) ?? this.#findPlace(node);
      placed = { template: compileTemplate({ skeletons: this, store }, node, place), place };
      if (this.#templateBytes > TEMPLATE_BYTES_MAX) {
        this.#templates.clear();
        this.#templateBytes = 0;
      }
      this.#templates.set(node, placed);
      this.#templateBytes += templateSize(placed.template);
    }
    return placed;
  }

  /** The memo's entry for the field of `node`; good until the memo is asked about another node. */
  resolve({ fields, pattern }: FieldMemo, node: number): number {
    const known = fields.find(node);
    if (known >= 0) return known;
    const place = this.onlyElement(node) < 0 ? -1 : this.place(node);
    const field = this.findField({ node, place }, pattern);
    if (field.node >= 0 && isNestedKind(this.#arrays.tokens[field.node]! & KIND_MASK)) {
      this.remember(field.node, field.place);
    }
    return fields.set(node, field.node, field.place);
  }

  /**
   * The field, among those of a record or of the only record of a list, that the pattern fits best.
   * Remembers nothing.
   */
  findField({ node, place }: Found, pattern: KeyPattern): Found {
    const { tokens } = this.#arrays;
    const record = this.onlyElement(node);
    if (record >= 0) return this.#findIn(record, place, pattern);
    return (tokens[node]! & KIND_MASK) === JSON_TEXT ? IN_TEXT : NOTHING;
  }

  /**
   * The record at `node`, or the only record of the list there; -1 when there is not just one. A list
   * has no slot of its own: both have the same place.
   */
  onlyElement(node: number): number {
    const { tokens } = this.#arrays;
    const kind = tokens[node]! & KIND_MASK;
    if (kind === RECORD) return node;
    if (kind !== RECORD_LIST) return -1;
    const first = node + NODE_HEADER_SIZE;
    return endOfNode(tokens, first) === endOfNode(tokens, node) ? first : -1;
  }

  /** The place of the first slot of a record or list, or of a list kept as text. */
  place(node: number): number {
    const known = this.#knownPlace(node);
    if (known !== undefined) return known;
    const place = this.#findPlace(node);
    this.remember(node, place);
    return place;
  }

  remember(node: number, place: number): void {
    this.#places.set(node, node, place);
  }

  #knownPlace(node: number): number | undefined {
    const entry = this.#places.find(node);
    return entry < 0 ? undefined : this.#places.place(entry);
  }

  #findIn(record: number, recordPlace: number, pattern: KeyPattern): Found {
    const { tokens, keys } = this.#arrays;
    const end = endOfNode(tokens, record);
    let found = NOTHING;
    let place = recordPlace;
    for (let at = record + NODE_HEADER_SIZE; at < end; at = endOfNode(tokens, at)) {
      const key = tokens[at]! >>> KIND_BITS;
      const match = pattern.match(keys.bytes, keys.offsets[key]!, keys.offsets[key + 1]!);
      if (match === 'exact') return { node: at, place };
      if (match === 'similar' && found === NOTHING) found = { node: at, place };
      place += slotCount(tokens, at);
    }
    return found;
  }

  /** The place of a node nobody came to from above: steps down to it from its root. */
  #findPlace(node: number): number {
    const { tokens } = this.#arrays;
    const skeleton = this.skeletonOf(node);
    let place = firstPlaceOf(this.#arrays, skeleton);
    let at = this.#arrays.starts[skeleton]!;
    while (at !== node) {
      const end = endOfNode(tokens, at);
      if (end <= node) {
        place += slotCount(tokens, at);
        at = end;
      } else {
        at += NODE_HEADER_SIZE;
      }
    }
    return place;
  }

  /** The skeleton that a node belongs to. */
  skeletonOf(node: number): number {
    const { starts, count } = this.#arrays;
    let low = 0;
    let high = count;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (starts[middle]! <= node) low = middle;
      else high = middle;
    }
    return low;
  }
}

/** Whether nodes of a kind are asked for fields, elements or their JSON. */
function isNestedKind(kind: number): boolean {
  return kind === RECORD || kind === RECORD_LIST || kind === JSON_TEXT;
}

/** The position after a token and all that is below it. */
export function endOfNode(tokens: Int32Array, node: number): number {
  const kind = tokens[node]! & KIND_MASK;
  return kind === RECORD || kind === RECORD_LIST
    ? node + NODE_HEADER_SIZE + tokens[node + 1]!
    : node + 1;
}

/** Slots of a token and of all that is below it. */
export function slotCount(tokens: Int32Array, node: number): number {
  const kind = tokens[node]! & KIND_MASK;
  if (kind === RECORD || kind === RECORD_LIST) return tokens[node + 2]!;
  return KIND_HAS_SLOT[kind] ? 1 : 0;
}
