import { must } from '../assert.ts';
import { grownInt32, threadArrays } from '../column/arrays.ts';
import { ObjectCache } from '../column/caches.ts';
import type { JsonWriter } from '../column/json-buffer.ts';
import type { ByteRange } from '../column/skeleton.ts';
import { NOT_COUNTED } from '../column/split-shape.ts';
import type { SqlValue } from '../column/value.ts';
import type { Dictionary, DictionaryVector } from '../column/vector.ts';
import { bytesOfText, distinctValue, type PlacedValues } from './distinct-values.ts';
import { NumberIndex } from './number-index.ts';
import { KeyForms, NO_KEY, TextPatterns } from './text-patterns.ts';

const ABSENT = -1;

/**
 * Ids of strings taken apart, by shape and parts: they are not put together. Where all holes are for numbers these make
 * a key of the string, which is one for all dictionaries (`TextPatterns`). Words are numbered by dictionary, so strings
 * that have some are put together once for each.
 */
export class SplitKeys {
  readonly #patterns = new TextPatterns();
  readonly #forms = new ObjectCache(({ split }: Dictionary) =>
    KeyForms.of(must(split), this.#patterns),
  );
  /** Of strings that have a key. */
  readonly #keyIds = new NumberIndex();
  readonly #ownIds = new ObjectCache((_dictionary: Dictionary) => new NumberIndex());
  /** In front of all others: most strings have no part, or one of a byte. */
  readonly #fewParts = new ObjectCache(
    ({ split }: Dictionary) => new FewPartIds(must(split).holeCounts),
  );

  /** Writes the id of each entry: `idOf` gives that of a code that may not have been met before, and of -1, which is NULL. */
  assign(
    { codes, dictionary }: DictionaryVector,
    count: number,
    ids: Int32Array,
    idOf: (code: number) => number,
  ): void {
    const split = must(dictionary.split);
    const { shapeCodes, parts } = split;
    const fewParts = this.#fewParts.get(dictionary);
    const gathered = threadArrays.borrow(GatheredEntries, count);
    const { partStarts, codes: unmet, starts: unmetStarts, rows: unmetRows } = gathered;
    split.partStarts(codes, count, partStarts);
    let unmetCount = 0;
    for (let row = 0; row < count; row++) {
      const code = codes[row]!;
      const start = partStarts[row]!;
      const shape = code < 0 ? fewParts.noShape : shapeCodes[code]!;
      const firstPart = start < parts.length ? parts[start]! : 0;
      const id = fewParts.id(shape, firstPart);
      ids[row] = id;
      if (id !== ABSENT) continue;
      unmet[unmetCount] = code;
      unmetStarts[unmetCount] = start;
      unmetRows[unmetCount++] = row;
      const place = fewParts.place(shape, firstPart);
      if (place === NO_PLACE) continue;
      this.#resolve(dictionary, { gathered, count: unmetCount }, ids, idOf);
      unmetCount = 0;
      fewParts.keep(place, ids[row]!);
    }
    this.#resolve(dictionary, { gathered, count: unmetCount }, ids, idOf);
    threadArrays.giveBack(gathered);
  }

  /** Writes the ids of the rows gathered, in their order. */
  #resolve(
    dictionary: Dictionary,
    { gathered, count }: { readonly gathered: GatheredEntries; readonly count: number },
    ids: Int32Array,
    idOf: (code: number) => number,
  ): void {
    if (count === 0) return;
    const split = must(dictionary.split);
    const { codes, starts, rows, keys } = gathered;
    const entries = { codes, starts, count };
    this.#forms.get(dictionary).keysOf(split, entries, keys);
    const ownIds = this.#ownIds.get(dictionary);
    for (let index = 0; index < count; index++) {
      const code = codes[index]!;
      const key = keys[index]!;
      ids[rows[index]!] =
        key === NO_KEY
          ? knownId(ownIds, code < 0 ? NOT_COUNTED : split.shortKey(code), code, idOf)
          : knownId(this.#keyIds, key, code, idOf);
    }
  }
}

/** The id of a code, which is looked for where its key was not met before, or is NOT_COUNTED. */
function knownId(
  known: NumberIndex,
  key: number,
  code: number,
  idOf: (code: number) => number,
): number {
  if (key === NOT_COUNTED) return idOf(code);
  const id = known.find(key);
  return id === ABSENT ? known.add(key, idOf(code)) : id;
}

/** Of a string that has more parts, or a longer one. */
const NO_PLACE = 0;

/** Counts of one byte are below. */
const BYTE_COUNTS = 0x80;

/**
 * Ids of one dictionary's strings whose parts are none, or one count of a byte: by place, without a search. Each shape
 * of one part has a place for each byte, so that none is looked at.
 */
class FewPartIds {
  readonly #holeCounts: Readonly<Int16Array>;
  /** The shape of NULL, which no string has. */
  readonly noShape: number;
  /** At the place of a string its id, or ABSENT. */
  #ids: Int32Array<ArrayBuffer> = Int32Array.of(ABSENT);
  #size = 1;
  /** Of each shape the place of its string without parts, or of that whose part is 0; NO_PLACE: none was met. */
  readonly #places: Int32Array;
  /** Of each shape all bits of a part that is to be added to its place. */
  readonly #masks: Uint8Array;

  constructor(holeCounts: Readonly<Int16Array>) {
    this.#holeCounts = holeCounts;
    this.noShape = holeCounts.length;
    this.#places = new Int32Array(holeCounts.length + 1);
    this.#masks = new Uint8Array(holeCounts.length + 1);
  }

  /** The id of the string whose parts begin with this byte, or ABSENT. */
  id(shape: number, firstPart: number): number {
    return this.#ids[this.#places[shape]! + (firstPart & this.#masks[shape]!)]!;
  }

  keep(place: number, id: number): void {
    this.#ids[place] = id;
  }

  place(shape: number, firstPart: number): number {
    if (shape === this.noShape) return NO_PLACE;
    const holeCount = this.#holeCounts[shape]!;
    if (holeCount === NOT_COUNTED || holeCount > 1) return NO_PLACE;
    if (this.#places[shape] === NO_PLACE) this.#begin(shape, holeCount);
    if (holeCount === 0) return this.#places[shape]!;
    return firstPart < BYTE_COUNTS ? this.#places[shape]! + firstPart : NO_PLACE;
  }

  #begin(shape: number, holeCount: number): void {
    this.#places[shape] = this.#size;
    this.#masks[shape] = holeCount === 0 ? 0 : 0xff;
    this.#size += holeCount === 0 ? 1 : 256;
    this.#ids = grownInt32(this.#ids, this.#size, ABSENT);
  }
}

/** Room for what is gathered of the rows of a chunk whose strings are taken apart, to be made keys of together. */
export class GatheredEntries {
  readonly length: number;
  /** Where the parts of each row of the chunk begin. */
  readonly partStarts: Int32Array<ArrayBuffer>;
  /** Of the rows gathered their codes, where their parts begin, which rows they are, and their keys. */
  readonly codes: Int32Array<ArrayBuffer>;
  readonly starts: Int32Array<ArrayBuffer>;
  readonly rows: Int32Array<ArrayBuffer>;
  readonly keys: Float64Array<ArrayBuffer>;

  constructor(length: number) {
    this.length = length;
    this.partStarts = new Int32Array(length);
    this.codes = new Int32Array(length);
    this.starts = new Int32Array(length);
    this.rows = new Int32Array(length);
    this.keys = new Float64Array(length);
  }
}

/** The strings among the keys of groups, and no other values; their codes are the ids of the values. */
export class KeyStrings implements Dictionary {
  readonly isDistinct = true;
  readonly #values: PlacedValues;
  readonly #refs: Int32Array;
  readonly size: number;

  constructor(values: PlacedValues, refs: Int32Array) {
    this.#values = values;
    this.#refs = refs;
    this.size = refs.length;
  }

  value(code: number): SqlValue {
    return distinctValue(this.#values, this.#refs[code]!);
  }

  range(code: number): ByteRange {
    return bytesOfText(this.#values, this.#refs[code]!);
  }

  writeJson(code: number, out: JsonWriter): void {
    const { bytes, start, end } = this.range(code);
    out.stringBytes(bytes, start, end);
  }
}
