import { TEMPLATE_BYTES_MAX } from '../limits.ts';
import { keepRecent } from './caches.ts';
import type { JsonBuffer, JsonWriter } from './json-buffer.ts';
import { compileTemplate, type JsonTemplate, templateSize } from './json-template.ts';
import { partitionPoint } from './positions.ts';
import { RowTexts } from './row-texts.ts';
import type { RowSpan } from './segment.ts';
import {
  endOfNode,
  JSON_TEXT,
  KIND_BITS,
  KIND_MASK,
  NODE_HEADER_SIZE,
  RECORD,
  RECORD_LIST,
  slotCount,
} from './token.ts';
import type { StringBlock, Vector } from './vector.ts';
import { decodeWtf8, encodeWtf8 } from './wtf8.ts';

/** Names whose fields a reader of a segment remembers the way to. */
const FIELD_NAMES_MAX = 1024;

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
/** In place of a field's node: only the text of the record tells whether there is one. */
export const FIELD_IN_TEXT = -2;

/** A node, or one of the above, and the place of its first slot; without a node the place is -1. */
export type Found = { readonly node: number; readonly place: number };

export const NOTHING: Found = { node: NO_FIELD, place: -1 };
const IN_TEXT: Found = { node: FIELD_IN_TEXT, place: -1 };

/** Where the fields of one name lie, for the nodes that were asked about. */
type FieldPlaces = {
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
  readonly fieldsNamed = keepRecent(
    FIELD_NAMES_MAX,
    (name: string): FieldPlaces => ({ pattern: new KeyPattern(name), fields: new NodeMap() }),
  );
  /** From records and lists met to themselves and their places. */
  readonly #places = new NodeMap();
  readonly #templates = new Map<number, PlacedTemplate>();
  /** Nodes of which a row was written. */
  readonly #written = new Set<number>();
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

  /**
   * To be called for each row of a node that is written: whether it is the first. In an answer of events of many shapes most
   * have one row, and to compile a template takes twice as long as to write one row without.
   */
  noteRow(node: number): boolean {
    if (this.#written.has(node)) return false;
    this.#written.add(node);
    return true;
  }

  /** How the record or list at `node` is written as JSON; `store`: of the same segment. */
  template(node: number, store: WrittenSlots): PlacedTemplate {
    let placed = this.#templates.get(node);
    if (placed === undefined) {
      const place = this.placeOnce(node);
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

  /** The entry for the field of `node`; good until another node is asked about. */
  resolve({ fields, pattern }: FieldPlaces, node: number): number {
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

  /** As `place`, of a node that is seldom asked about again: remembers nothing. */
  placeOnce(node: number): number {
    return this.#knownPlace(node) ?? this.#findPlace(node);
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
    return partitionPoint(1, count, (skeleton) => starts[skeleton]! <= node) - 1;
  }
}

/** Whether nodes of a kind are asked for fields, elements or their JSON. */
function isNestedKind(kind: number): boolean {
  return kind === RECORD || kind === RECORD_LIST || kind === JSON_TEXT;
}

/** Entries of a new map; a power of two, as every capacity. */
const CAPACITY_MIN = 16;

/** Integers of one entry. */
const ENTRY_SIZE = 3;

/** 2^32 divided by the golden ratio: neighbouring nodes come to lie far apart (Knuth, TAOCP 3, 6.4). */
const SPREAD = 0x9e3779b1;

/**
 * Where some nodes lead: to a node, or a negative number instead, and to the place there. Takes 24 to
 * 48 bytes for each node put in, however many other nodes a segment has.
 *
 * ```
 *  entry e, at 3 e; open addressing, at most every second entry is taken
 * ┌──────────┬────────┬───────┐
 * │ node + 1 │ target │ place │   0 0 0: free
 * └──────────┴────────┴───────┘
 * ```
 */
export class NodeMap {
  #entries = new Int32Array(ENTRY_SIZE * CAPACITY_MIN);
  #capacity = CAPACITY_MIN;
  /** 32 less the logarithm of the capacity. */
  #shift = Math.clz32(CAPACITY_MIN) + 1;
  #count = 0;

  /** The entry of a node, -1 for none: good until the next `set`. */
  find(node: number): number {
    const entry = this.#entryFor(node);
    return this.#entries[entry] === 0 ? -1 : entry;
  }

  target(entry: number): number {
    return this.#entries[entry + 1]!;
  }

  place(entry: number): number {
    return this.#entries[entry + 2]!;
  }

  /** Puts in a node, or gives it another target and place; its entry. */
  set(node: number, target: number, place: number): number {
    let entry = this.#entryFor(node);
    if (this.#entries[entry] === 0) {
      if (2 * (this.#count + 1) > this.#capacity) {
        this.#grow();
        entry = this.#entryFor(node);
      }
      this.#count += 1;
    }
    const entries = this.#entries;
    entries[entry] = node + 1;
    entries[entry + 1] = target;
    entries[entry + 2] = place;
    return entry;
  }

  /** The entry of a node, or the free one that it would take. */
  #entryFor(node: number): number {
    const entries = this.#entries;
    const mask = this.#capacity - 1;
    const key = node + 1;
    // Only the uppermost bits of the product depend on all bits of the node.
    let index = Math.imul(node, SPREAD) >>> this.#shift;
    for (;;) {
      const entry = ENTRY_SIZE * index;
      if (entries[entry] === key || entries[entry] === 0) return entry;
      index = (index + 1) & mask;
    }
  }

  #grow(): void {
    const before = this.#entries;
    this.#capacity *= 2;
    this.#shift -= 1;
    this.#entries = new Int32Array(ENTRY_SIZE * this.#capacity);
    for (let entry = 0; entry < before.length; entry += ENTRY_SIZE) {
      if (before[entry] === 0) continue;
      const moved = this.#entryFor(before[entry]! - 1);
      this.#entries.set(before.subarray(entry, entry + ENTRY_SIZE), moved);
    }
  }
}

type KeyMatch = 'none' | 'similar' | 'exact';

/** A field name as it is looked for among keys: exactly, else with another case. */
export class KeyPattern {
  readonly #bytes: Uint8Array;
  readonly #lowerCase: string;
  readonly #isAscii: boolean;

  constructor(name: string) {
    this.#bytes = new Uint8Array(encodeWtf8(name));
    this.#lowerCase = name.toLowerCase();
    this.#isAscii = isAscii(this.#bytes, 0, this.#bytes.length);
  }

  /** How the key `bytes[start, end)` compares with the name. */
  match(bytes: Uint8Array, start: number, end: number): KeyMatch {
    const own = this.#bytes;
    if (this.#isAscii && isAscii(bytes, start, end)) {
      if (own.length !== end - start) return 'none';
      let match: KeyMatch = 'exact';
      for (let index = 0; index < own.length; index++) {
        const ownByte = own[index]!;
        const byte = bytes[start + index]!;
        if (ownByte === byte) continue;
        if (lowerCase(ownByte) !== lowerCase(byte)) return 'none';
        match = 'similar';
      }
      return match;
    }
    if (own.length === end - start && own.every((byte, index) => byte === bytes[start + index])) {
      return 'exact';
    }
    const key = decodeWtf8(bytes, start, end);
    return key.toLowerCase() === this.#lowerCase ? 'similar' : 'none';
  }
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at]! >= 0x80) return false;
  return true;
}

function lowerCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}

/** Bytes `bytes[start, end)`. */
export type ByteRange = {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
};

/** Rows `rows[0, count)`, and the places `places[0, placeCount)` of the skeletons among them. */
export type ListedPlaces = {
  readonly rows: Int32Array;
  readonly count: number;
  readonly places: Int32Array;
  readonly placeCount: number;
};

/**
 * Where a segment keeps the slots of its rows. Places are as `SkeletonArrays` has them; a place
 * must belong to the skeleton of its row, and to a slot of the kind asked for.
 */
export interface SlotStore {
  /** Numbers of many rows, one place each; where the place is negative the entry is arbitrary. */
  numbers(rows: Int32Array, places: Int32Array, count: number): Float64Array;
  /** Strings of many rows (tokens of kind TEXT); where the place is negative, NULL. */
  strings(rows: Int32Array, places: Int32Array, count: number): Vector;
  /**
   * Numbers or strings of consecutive rows as they lie, given the place of each skeleton among them, all
   * of which have one; `undefined` where they are to be read by rows.
   */
  range?(rows: RowSpan, places: Int32Array, placeCount: number): Vector | undefined;
  /** The same of rows one by one; `undefined` where each is to be read by its own place. */
  list?(rows: ListedPlaces): Vector | undefined;
  /** A slot of kind INTEGER or FLOAT. */
  number(row: number, place: number): number;
  /** A slot of kind TEXT. */
  text(row: number, place: number): string;
  /** A slot of another kind that is a string: BIG_INTEGER, JSON_TEXT or HUGE_NUMBER. */
  verbatim(row: number, place: number): ByteRange;
  /** Writes a slot of kind TEXT as a JSON string. */
  writeText(row: number, place: number, out: JsonWriter): void;
  /** Writes a slot if every row that has the place has the same value there; gives whether. */
  writeConstant?(place: number, kind: number, out: JsonWriter): boolean;
  /**
   * Writes a row by its template, the first of whose slots is at `place`: as `writeTemplate` does,
   * where the store has a quicker way than slot after slot.
   */
  writeRow?(template: JsonTemplate, row: number, place: number, out: JsonBuffer): void;
}

/** The part of a store by which a row is written as JSON. */
export type WrittenSlots = Pick<SlotStore, 'number' | 'verbatim' | 'writeText' | 'writeConstant'>;
