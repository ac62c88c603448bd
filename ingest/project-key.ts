import {
  JSON_TEXT,
  KIND_HAS_TEXT,
  MIXED_PROJECTS,
  must,
  NO_STRING,
  NODE_HEADER_SIZE,
  RECORD,
  RECORD_LIST,
  referenceLength,
  referenceOffset,
  TEXT,
} from '../engine/columns.ts';
import type { BodyText } from './body-text.ts';
import { fieldKey, fieldKind, fieldSlotCount, fieldTokenCount } from './duplicate-key.ts';
import type { KeyTable } from './key-table.ts';

const NO_MATCH = 1;
const SIMILAR = 2;
const EXACT = 3;

/** A name of the path, and for each key of the body how it matches the name; 0 is not known yet. */
type PathStep = { readonly name: string; readonly matches: Uint8Array };

/**
 * Reads the project key of root records, by a path that begins with `metadata`. It follows the rules by which a query reads
 * the path, so a row has the key exactly if the query's comparison is true: a name matches exactly, or else without case, and
 * a list of one record is read as that record. A row is *mixed* if queries could see several values, or if a number or a
 * boolean is in place of a string.
 */
export class ProjectKeyReader {
  readonly #text: BodyText;
  readonly #keys: KeyTable;
  readonly #path: readonly PathStep[];
  readonly #tokens: Int32Array;
  readonly #slots: Float64Array;
  #fieldAt = 0;
  #fieldSlot = 0;

  /** The arrays may be filled after this call. */
  constructor(
    records: {
      readonly text: BodyText;
      readonly keys: KeyTable;
      readonly tokens: Int32Array;
      readonly slots: Float64Array;
    },
    path: readonly string[],
  ) {
    this.#text = records.text;
    this.#keys = records.keys;
    this.#tokens = records.tokens;
    this.#slots = records.slots;
    this.#path = path.map((name) => ({ name, matches: new Uint8Array(records.keys.count) }));
  }

  /**
   * Reads the project key of the root record at `root`, whose first slot is `slot`. Returns a string reference,
   * NO_STRING if no element of its metadata names a project, or MIXED_PROJECTS if elements disagree or name one by a
   * number.
   */
  read(root: number, slot: number): number {
    if (!this.#findField(root, slot, 0)) return NO_STRING;
    const kind = fieldKind(this.#tokens, this.#fieldAt);
    if (kind === RECORD) return this.#ofRecord(this.#fieldAt, this.#fieldSlot, 1);
    if (kind === RECORD_LIST) return this.#ofElements(this.#fieldAt, this.#fieldSlot);
    // The key is `metadata` in another case, with other values in its list.
    return kind === JSON_TEXT ? MIXED_PROJECTS : NO_STRING;
  }

  /** Reads a list of which each element is a row of its own for a query. */
  #ofElements(at: number, slot: number): number {
    const tokens = this.#tokens;
    const end = at + fieldTokenCount(tokens, at);
    let element = at + NODE_HEADER_SIZE;
    let elementSlot = slot;
    const key = this.#ofRecord(element, elementSlot, 1);
    for (;;) {
      elementSlot += fieldSlotCount(tokens, element);
      element += fieldTokenCount(tokens, element);
      if (element >= end) return key;
      if (!this.#areEqual(this.#ofRecord(element, elementSlot, 1), key)) return MIXED_PROJECTS;
    }
  }

  #ofRecord(at: number, slot: number, depth: number): number {
    if (!this.#findField(at, slot, depth)) return NO_STRING;
    const tokens = this.#tokens;
    const field = this.#fieldAt;
    const kind = fieldKind(tokens, field);
    if (depth === this.#path.length - 1) {
      if (kind === TEXT) return this.#slots[this.#fieldSlot]!;
      return KIND_HAS_TEXT[kind] === true ? MIXED_PROJECTS : NO_STRING;
    }
    if (kind === RECORD) return this.#ofRecord(field, this.#fieldSlot, depth + 1);
    // A record below the depth kept as tokens, or a list with other values: its text is not read here.
    if (kind === JSON_TEXT) return MIXED_PROJECTS;
    if (kind !== RECORD_LIST) return NO_STRING;
    return this.#ofList(field, this.#fieldSlot, depth + 1);
  }

  /** Reads a list within metadata. Whether a query sees one of several elements, or none, depends on the query. */
  #ofList(at: number, slot: number, depth: number): number {
    const tokens = this.#tokens;
    const end = at + fieldTokenCount(tokens, at);
    let element = at + NODE_HEADER_SIZE;
    let elementSlot = slot;
    const isSingle = element + fieldTokenCount(tokens, element) === end;
    if (isSingle) return this.#ofRecord(element, elementSlot, depth);
    while (element < end) {
      if (this.#ofRecord(element, elementSlot, depth) !== NO_STRING) return MIXED_PROJECTS;
      elementSlot += fieldSlotCount(tokens, element);
      element += fieldTokenCount(tokens, element);
    }
    return NO_STRING;
  }

  /** Sets `#fieldAt` and `#fieldSlot`. Returns false if the record lacks the field. */
  #findField(record: number, recordSlot: number, depth: number): boolean {
    const tokens = this.#tokens;
    const step = must(this.#path[depth], 'the path has a name at this depth');
    const end = record + fieldTokenCount(tokens, record);
    let slot = recordSlot;
    let isFound = false;
    for (let at = record + NODE_HEADER_SIZE; at < end; at += fieldTokenCount(tokens, at)) {
      const key = fieldKey(tokens, at);
      const known = step.matches[key]!;
      const match = known === 0 ? this.#match(key, step) : known;
      if (match === EXACT || (match === SIMILAR && !isFound)) {
        this.#fieldAt = at;
        this.#fieldSlot = slot;
        isFound = true;
        if (match === EXACT) return true;
      }
      slot += fieldSlotCount(tokens, at);
    }
    return isFound;
  }

  #match(key: number, { name, matches }: PathStep): number {
    const reference = this.#keys.getReference(key);
    const start = referenceOffset(reference);
    // Lower case changes the length of a string by little, so a much longer key is not worth decoding.
    const isNear = referenceLength(reference) <= name.length * 3;
    const text = isNear ? this.#text.utf8(start, start + referenceLength(reference)) : '';
    const match =
      text === name ? EXACT : text.toLowerCase() === name.toLowerCase() ? SIMILAR : NO_MATCH;
    matches[key] = match;
    return match;
  }

  #areEqual(left: number, right: number): boolean {
    if (left === right) return true;
    if (left < 0 || right < 0) return false;
    const { bytes } = this.#text;
    const length = referenceLength(left);
    const leftStart = referenceOffset(left);
    const rightStart = referenceOffset(right);
    return (
      length === referenceLength(right) &&
      bytes.compare(bytes, rightStart, rightStart + length, leftStart, leftStart + length) === 0
    );
  }
}
