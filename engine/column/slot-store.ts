import type { JsonBuffer } from './json-buffer.ts';
import type { JsonTemplate } from './json-template.ts';
import type { JsonWriter } from './json-writer.ts';
import type { RowSpan } from './segment.ts';
import type { Vector } from './vector.ts';

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
