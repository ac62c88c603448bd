import { must } from '../assert.ts';
import { FIELD_MEMOS_MAX, TEMPLATE_BYTES_MAX } from '../limits.ts';
import { compileTemplate, type JsonTemplate, templateSize } from './json-template.ts';
import { KeyPattern } from './key-pattern.ts';
import type { SlotStore } from './slot-store.ts';
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

export const PAGE_BITS = 10;
const PAGE_SIZE = 2 ** PAGE_BITS;
export const PAGE_MASK = PAGE_SIZE - 1;

/** What a memo says of a node that was not looked at yet. */
export const UNRESOLVED = 0;
/** … of a node without such a field. */
export const NO_FIELD = -1;
/** … of a node whose fields only its text knows. */
export const FIELD_IN_TEXT = -2;

/**
 * Where the field of one name lies, for each node: page `node >> PAGE_BITS` holds two integers for
 * each of its nodes, the field's own node (or one of the above) and its place. A page is made when
 * one of its nodes is first met, so nobody pays for the skeletons of others.
 */
export type FieldMemo = {
  readonly pattern: KeyPattern;
  readonly pages: (Int32Array | undefined)[];
};

/** Finds fields and elements by their tokens, and remembers them. */
export class Skeletons {
  #arrays: SkeletonArrays;
  readonly #memos = new Map<string, FieldMemo>();
  /** Place of records and lists met, plus one; in pages as a memo's. */
  readonly #places: (Int32Array | undefined)[] = [];
  /** What `onlyElement` gave, plus two; in pages as a memo's. */
  readonly #onlyElements: (Int32Array | undefined)[] = [];

  readonly #templates = new Map<number, JsonTemplate>();
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
      memo = { pattern: new KeyPattern(name), pages: [] };
      this.#memos.set(name, memo);
    }
    return memo;
  }

  /** How the record or list at `node` is written as JSON; `store`: of the same segment. */
  template(node: number, store: SlotStore): JsonTemplate {
    let template = this.#templates.get(node);
    if (template === undefined) {
      template = compileTemplate(this, store, node);
      if (this.#templateBytes > TEMPLATE_BYTES_MAX) {
        this.#templates.clear();
        this.#templateBytes = 0;
      }
      this.#templates.set(node, template);
      this.#templateBytes += templateSize(template);
    }
    return template;
  }

  /** The memo's page for `node`, its entry resolved. */
  resolve(memo: FieldMemo, node: number): Int32Array {
    memo.pages[node >>> PAGE_BITS] ??= new Int32Array(2 * PAGE_SIZE);
    const page = must(memo.pages[node >>> PAGE_BITS]);
    const entry = 2 * (node & PAGE_MASK);
    if (page[entry] !== UNRESOLVED) return page;
    const record = this.onlyElement(node);
    const isText = (this.#arrays.tokens[node]! & KIND_MASK) === JSON_TEXT;
    if (record >= 0) this.#resolveIn(record, memo.pattern, page, entry);
    else page[entry] = isText ? FIELD_IN_TEXT : NO_FIELD;
    return page;
  }

  /** The record at `node`, or the only record of the list there; -1 when there is not just one. */
  onlyElement(node: number): number {
    const known = this.#onlyElements[node >>> PAGE_BITS]?.[node & PAGE_MASK] ?? 0;
    if (known > 0) return known - 2;
    const element = this.#findOnlyElement(node);
    this.#onlyElements[node >>> PAGE_BITS] ??= new Int32Array(PAGE_SIZE);
    must(this.#onlyElements[node >>> PAGE_BITS])[node & PAGE_MASK] = element + 2;
    return element;
  }

  /** The place of the first slot of a record or list, or of a list kept as text. */
  place(node: number): number {
    const known = this.#places[node >>> PAGE_BITS]?.[node & PAGE_MASK] ?? 0;
    if (known > 0) return known - 1;
    const place = this.#findPlace(node);
    this.remember(node, place);
    return place;
  }

  remember(node: number, place: number): void {
    this.#places[node >>> PAGE_BITS] ??= new Int32Array(PAGE_SIZE);
    must(this.#places[node >>> PAGE_BITS])[node & PAGE_MASK] = place + 1;
  }

  #findOnlyElement(node: number): number {
    const { tokens } = this.#arrays;
    const kind = tokens[node]! & KIND_MASK;
    if (kind === RECORD) return node;
    if (kind !== RECORD_LIST) return -1;
    const first = node + NODE_HEADER_SIZE;
    if (endOfNode(tokens, first) !== endOfNode(tokens, node)) return -1;
    this.remember(first, this.place(node));
    return first;
  }

  /** Sets the page's entry to the field of the record that the pattern fits best. */
  #resolveIn(record: number, pattern: KeyPattern, page: Int32Array, entry: number): void {
    const { tokens, keys } = this.#arrays;
    const end = endOfNode(tokens, record);
    let place = this.place(record);
    page[entry] = NO_FIELD;
    for (let at = record + NODE_HEADER_SIZE; at < end; at = endOfNode(tokens, at)) {
      const key = tokens[at]! >>> KIND_BITS;
      const match = pattern.match(keys.bytes, keys.offsets[key]!, keys.offsets[key + 1]!);
      if (match === 'exact' || (match === 'similar' && page[entry] === NO_FIELD)) {
        page[entry] = at;
        page[entry + 1] = place;
        this.remember(at, place);
        if (match === 'exact') return;
      }
      place += slotCount(tokens, at);
    }
  }

  /** The place of a node nobody came to from above: steps down to it from its root. */
  #findPlace(node: number): number {
    const { tokens, placeStarts } = this.#arrays;
    const skeleton = this.skeletonOf(node);
    let place = placeStarts === undefined ? 0 : placeStarts[skeleton]!;
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
