import { carvedFloat64, carvedInt32, carvedUint8, threadArrays } from './arrays.ts';
import type { CommonVector } from './common-source.ts';
import { JsonBuffer, type JsonWriter } from './json-buffer.ts';
import { JsonNested } from './json-nested.ts';
import type {
  AscendingNumbers,
  CodedNumbers,
  CodedTruths,
  NumberLists,
  PackedNumbers,
  RunNumbers,
} from './number-vectors.ts';
import type { ByteRange } from './skeleton.ts';
import type { SplitTexts } from './split-strings.ts';
import type { StringRange } from './string-values.ts';
import type { TextLists } from './text-lists.ts';
import type { TrailVector } from './token-source.ts';
import { isNested, type Nested, type SqlValue } from './value.ts';

/**
 * The values of one column for the rows of one chunk, dense: entry `i` belongs to row `i` of the
 * chunk. Vectors are never changed once made; they may share memory with a segment, so readers
 * must not write to them either.
 *
 * `kind` says how the values are read, whatever their form. Some kinds have further forms, which know more of their
 * values: `form` names them, and a plain vector has none. Here are all kinds and forms.
 */
export type Vector =
  | NumberVector
  | BooleanVector
  | DictionaryVector
  | NestedVector
  | ValueVector
  | ConstantVector;

export type NumberVector =
  | PlainNumbers
  | PackedNumbers
  | CodedNumbers
  | RunNumbers
  | AscendingNumbers;

export type BooleanVector = PlainTruths | CodedTruths;

export type DictionaryVector = PlainCodes | StringRange;

export type NestedVector = PlainNested | TrailVector | CommonVector;

export type ValueVector = PlainValues | NumberLists | TextLists;

/** INT64 within ±2^53, FLOAT64, TIMESTAMP or DATETIME. `values` may be longer than `count`. */
type PlainNumbers = {
  readonly kind: 'number';
  readonly form?: undefined;
  readonly count: number;
  readonly values: Float64Array;
  /** 1 where NULL; `undefined` when no entry is. The value under a NULL is arbitrary. */
  readonly nulls: Uint8Array | undefined;
};

export const FALSE = 0;
export const TRUE = 1;
export const UNKNOWN = 2;
export const TRUTH_COUNT = 3;

/** BOOL: each byte is FALSE, TRUE or UNKNOWN (NULL). */
type PlainTruths = {
  readonly kind: 'boolean';
  readonly form?: undefined;
  readonly count: number;
  readonly values: Uint8Array;
};

/** Codes into a dictionary, mostly of strings; -1 is NULL. */
type PlainCodes = {
  readonly kind: 'dictionary';
  readonly form?: undefined;
  readonly count: number;
  readonly codes: Int32Array;
  readonly dictionary: Dictionary;
};

/** Records and lists in a segment, none of them read yet. */
type PlainNested = {
  readonly kind: 'nested';
  readonly form?: undefined;
  readonly count: number;
  readonly source: NestedSource;
  /** Row of the segment, per entry. */
  readonly rows: Int32Array;
  /** Position of the record's or list's token in the segment's tokens; -1 is NULL. */
  readonly nodes: Int32Array;
  /** The entries at `positions[0, count)`, where they can be told more shortly than by their nodes. */
  take?(positions: Int32Array, count: number): NestedVector | undefined;
};

/** The general form: any values, `null` for NULL. What no faster form holds ends here. */
type PlainValues = {
  readonly kind: 'value';
  readonly form?: undefined;
  readonly count: number;
  readonly values: readonly SqlValue[];
};

/** One value in every row. */
export type ConstantVector = {
  readonly kind: 'constant';
  readonly form?: undefined;
  readonly count: number;
  readonly value: SqlValue;
};

/** The distinct values behind codes. Lives as long as its segment; compare dictionaries by identity. */
export interface Dictionary {
  /** Codes are [0, size). */
  readonly size: number;
  /** Whether equal values always have equal codes. */
  readonly isDistinct: boolean;
  /** Whether each entry is of one value alone, so that remembering what was found of it gains nothing. */
  readonly isPerValue?: boolean;
  value(code: number): SqlValue;
  /**
   * Writes a value as JSON; present where that is quicker than by way of the value. `isKept`: whether
   * the text may be kept for the next time.
   */
  writeJson?(code: number, out: JsonWriter, isKept?: boolean): void;
  /** The bytes of a value, good until the next call to any dictionary; present when the values are strings that are bytes. */
  range?(code: number): ByteRange;
  /** Present when the values are strings that lie in one block of UTF-8. */
  readonly strings?: StringBlock;
  /** Present when the values are strings taken apart. */
  readonly split?: SplitBlock;
  /** Present when the values are UUIDs in their canonical form: 16 bytes of each, end to end. */
  readonly uuids?: Uint8Array | undefined;
}

/** Strings by their codes. */
export type StringDictionary = Dictionary & { range(code: number): ByteRange };

/** Whether a dictionary is known to have strings only: it may not be, and have them all the same. */
export function isOfStrings(dictionary: Dictionary): dictionary is StringDictionary {
  return dictionary.range !== undefined;
}

/** Strings end to end: string `code` is `bytes[offsets[code], offsets[code + 1])`. */
export type StringBlock = { readonly bytes: Uint8Array; readonly offsets: Uint32Array };

/**
 * Strings taken apart: string `code` is a head, and behind it a *rest*, which is its shape with the
 * holes filled (`split-shape.ts`). What holds of a head or a shape need not be asked of each string.
 */
export interface SplitBlock {
  /** The bytes of string `code`; good until the next call to any block. */
  range(code: number): ByteRange;
  /** What of it is behind the head; good until the next call to any block. */
  rest(code: number): ByteRange;
  readonly heads: StringBlock;
  /** Whether each string's head is in `heads`; else, or where it is not said, `heads` tell of no more than they hold. */
  readonly hasHeads?: boolean;
  /** First string of each run of strings with one head, ascending. */
  readonly headStarts: Uint32Array;
  /** The head of each run. */
  readonly headCodes: Uint32Array;
  /** The run a string is in. */
  headRun(code: number): number;
  /** Constant bytes and holes. */
  readonly shapes: StringBlock;
  /** For each shape the first with the same bytes; absent: no two have the same. */
  readonly shapesAlike?: Readonly<Uint8Array>;
  /** Of each string. */
  readonly shapeCodes: Uint8Array;
  /** What fills the holes of all strings (`PartReader`). */
  readonly parts: Uint8Array;
  /** Where the parts of a string begin, one for each hole of its shape; not of one that is an ANY hole. */
  partStart(code: number): number;
  /** Writes where the parts of each code begin to its row of `starts`; 0 for -1. */
  partStarts(codes: Int32Array, count: number, starts: Int32Array): void;
  /** What fills the WORD holes of strings, and no other hole. */
  readonly words: StringBlock;
  /** The strings with word `w`, ascending: `wordEntries[wordStarts[w], wordStarts[w + 1])`. */
  readonly wordStarts: Uint32Array;
  readonly wordEntries: Uint32Array;
  /** Of each word the places where it fills a hole (`SplitFooter`); absent: not known. */
  readonly wordPlaces?: Readonly<Uint8Array> | undefined;
  /** 1 for each word that fills a hole of some string; absent: any that has strings may. */
  readonly isWordHeld?: Readonly<Uint8Array> | undefined;
  /** 1 for each shape whose strings may have a word in what was cut off; absent: nothing was. */
  readonly hasWordsCutOff?: Readonly<Uint8Array>;
  /** The strings whose shape has a TEXT or ANY hole, ascending. */
  readonly textEntries: Uint32Array;
  /** What is behind the head of each of `textEntries`, end to end; absent where that is too much. */
  readonly texts?: SplitTexts | undefined;
  /**
   * Of each shape how many counts fill its holes, where strings of it are told apart by these alone; else
   * NOT_COUNTED.
   */
  readonly holeCounts: Readonly<Int16Array>;
  /** A number that only strings equal to this one have, though not all of them need to; -1: none. */
  shortKey(code: number): number;
  /** The shape of a string and the first of its parts in one number, if these are short counts; else -1. */
  partsKey(code: number, partCount: number): number;
}

/** A segment, as far as the records inside its rows go. Vectors given to it are its own. */
export interface NestedSource {
  /** The value under `name` in each record, by the rules of `Nested.field`; NULL where there is none. */
  field(records: NestedVector, name: string): Vector;
  /**
   * The elements of each list, in order; a record counts as a list of itself, NULL as an empty one.
   * `parents[i]` is the entry that element `i` came from, ascending; `undefined` when element `i`
   * came from entry `i` for all (each had exactly one).
   */
  unnest(lists: NestedVector): UnnestedElements;
  /** One record or list as a value of its own. */
  nested(row: number, node: number): Nested;
}

export type UnnestedElements = {
  readonly count: number;
  readonly parents: Int32Array | undefined;
  readonly elements: Vector;
};

export function numberVector(
  values: Float64Array,
  count: number,
  nulls?: Uint8Array,
): NumberVector {
  return { kind: 'number', count, values, nulls };
}

export function booleanVector(values: Uint8Array, count: number): BooleanVector {
  return { kind: 'boolean', count, values };
}

export function dictionaryVector(
  codes: Int32Array,
  count: number,
  dictionary: Dictionary,
): DictionaryVector {
  return { kind: 'dictionary', count, codes, dictionary };
}

export function valueVector(values: readonly SqlValue[]): ValueVector {
  return { kind: 'value', count: values.length, values };
}

export function constantVector(value: SqlValue, count: number): ConstantVector {
  return { kind: 'constant', count, value };
}

/** Whether all rows are NULL, and known to be. */
export function isConstantNull(vector: Vector): boolean {
  return vector.kind === 'constant' && vector.value === null;
}

/** Entry `index` of any vector: the slow, plain way to read one, and the meaning of each form. */
export function valueAt(vector: Vector, index: number): SqlValue {
  switch (vector.kind) {
    case 'number':
      return vector.nulls !== undefined && vector.nulls[index] === 1
        ? null
        : (vector.values[index] as number);
    case 'boolean': {
      const truth = vector.values[index];
      return truth === UNKNOWN ? null : truth === TRUE;
    }
    case 'dictionary': {
      const code = vector.codes[index] as number;
      return code < 0 ? null : vector.dictionary.value(code);
    }
    case 'nested': {
      const node = vector.nodes[index] as number;
      return node < 0 ? null : vector.source.nested(vector.rows[index] as number, node);
    }
    case 'value':
      return vector.values[index] as SqlValue;
    case 'constant':
      return vector.value;
  }
}

/** The entries at `positions[0, count)`, in that order. A position of -1 gives NULL. */
export function takeVector(vector: Vector, positions: Int32Array, count: number): Vector {
  switch (vector.kind) {
    case 'number':
      return takeNumbers(vector, positions, count);
    case 'boolean': {
      const values = carvedUint8(count);
      for (let i = 0; i < count; i++) {
        const position = positions[i]!;
        values[i] = position < 0 ? UNKNOWN : vector.values[position]!;
      }
      return booleanVector(values, count);
    }
    case 'dictionary': {
      const codes = takeIntegers(vector.codes, positions, count, -1);
      return dictionaryVector(codes, count, vector.dictionary);
    }
    case 'nested': {
      const taken = vector.take?.(positions, count);
      if (taken !== undefined) return taken;
      const rows = takeIntegers(vector.rows, positions, count, 0);
      const nodes = takeIntegers(vector.nodes, positions, count, -1);
      return { kind: 'nested', count, source: vector.source, rows, nodes };
    }
    case 'value': {
      const values = new Array<SqlValue>(count);
      for (let i = 0; i < count; i++) {
        const position = positions[i]!;
        values[i] = position < 0 ? null : (vector.values[position] as SqlValue);
      }
      return valueVector(values);
    }
    case 'constant':
      return takeConstant(vector, positions, count);
  }
}

function takeNumbers(vector: NumberVector, positions: Int32Array, count: number): NumberVector {
  const values = carvedFloat64(count);
  let nulls: Uint8Array | undefined = vector.nulls === undefined ? undefined : carvedUint8(count);
  for (let i = 0; i < count; i++) {
    const position = positions[i]!;
    if (position < 0) {
      nulls ??= carvedUint8(count);
      nulls[i] = 1;
    } else {
      values[i] = vector.values[position]!;
      if (vector.nulls !== undefined) nulls![i] = vector.nulls[position]!;
    }
  }
  return numberVector(values, count, nulls);
}

function takeIntegers(
  source: Int32Array,
  positions: Int32Array,
  count: number,
  absent: number,
): Int32Array {
  const taken = carvedInt32(count);
  for (let i = 0; i < count; i++) {
    const position = positions[i]!;
    taken[i] = position < 0 ? absent : source[position]!;
  }
  return taken;
}

function takeConstant(vector: ConstantVector, positions: Int32Array, count: number): Vector {
  if (vector.value === null) return constantVector(null, count);
  for (let i = 0; i < count; i++) {
    if (positions[i]! < 0) {
      const values = Array.from(positions.subarray(0, count), (position) =>
        position < 0 ? null : vector.value,
      );
      return valueVector(values);
    }
  }
  return constantVector(vector.value, count);
}

/**
 * The same values in memory of their own, so that the segment they were read from can be let go:
 * strings as they are, records and lists as their JSON text.
 */
export function detachedVector(vector: Vector): Vector {
  switch (vector.kind) {
    case 'number':
    case 'boolean':
      return vector;
    case 'dictionary':
    case 'nested':
    case 'value':
    case 'constant': {
      const values: SqlValue[] = [];
      for (let i = 0; i < vector.count; i++) values.push(detachedValue(valueAt(vector, i)));
      return valueVector(values);
    }
  }
}

/** The value without anything that lies in a segment: records and lists become their JSON text. */
export function detachedValue(value: SqlValue): SqlValue {
  if (Array.isArray(value)) return value.map(detachedValue);
  if (!isNested(value)) return value;
  const text = threadArrays.borrow(JsonBuffer, 0);
  value.writeJson(text);
  const bytes = text.take();
  threadArrays.giveBack(text);
  return new JsonNested(bytes, 0, bytes.length);
}

/** The best form for values read one by one. */
export function vectorOf(values: readonly SqlValue[]): Vector {
  const count = values.length;
  if (values.every((value) => value === null)) return constantVector(null, count);
  if (values.every((value) => value === null || typeof value === 'number')) {
    const nulls = values.includes(null)
      ? Uint8Array.from(values, (value) => (value === null ? 1 : 0))
      : undefined;
    return numberVector(Float64Array.from(values, Number), count, nulls);
  }
  if (values.every((value) => value === null || typeof value === 'boolean')) {
    const truths = values.map((value) => (value === null ? UNKNOWN : value ? TRUE : FALSE));
    return booleanVector(Uint8Array.from(truths), count);
  }
  return valueVector(values);
}
