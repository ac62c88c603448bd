import { must } from '../assert.ts';
import { NOT_COUNTED } from '../column/split-shape.ts';
import type { Dictionary, DictionaryVector, SplitBlock } from '../column/vector.ts';
import { DictionaryMemo } from './dictionary-memo.ts';
import { grownFloat64, grownInt32, NO_FLOAT64, NO_INT32 } from './growth.ts';
import { NumberIndex } from './number-index.ts';
import { KeyForms, NO_KEY, type TextPatterns } from './text-patterns.ts';

const ABSENT = -1;

/**
 * Ids of strings taken apart, by shape and parts: they are not put together. Where all holes are for numbers these make
 * a key of the string, which is one for all dictionaries (`TextPatterns`). Words are numbered by dictionary, so strings
 * that have some are put together once for each.
 */
export class SplitKeys {
  readonly #forms: DictionaryMemo<KeyForms>;
  readonly #ownIds = new DictionaryMemo(() => new NumberIndex());
  /** In front of all others: most strings have no part, or one of a byte. */
  readonly #fewParts = new DictionaryMemo(({ split }) => new FewPartIds(must(split)));

  constructor(patterns: TextPatterns) {
    this.#forms = new DictionaryMemo((dictionary) => {
      const split = must(dictionary.split);
      const isOfOneHead = split.heads.offsets.length === 2;
      return new KeyForms(split.shapes.offsets.length - 1, (shape) =>
        isOfOneHead ? patterns.formOf(split, shape) : undefined,
      );
    });
  }

  /**
   * Writes the id of each entry: `idOfKey` gives that of a key, and `idOf` that of a code whose string has none and was
   * not met before, or may not have been, and of -1, which is NULL.
   */
  assign(
    { codes, dictionary }: DictionaryVector,
    count: number,
    ids: Int32Array,
    { idOfKey, idOf }: FindIds,
  ): void {
    const fewParts = this.#fewParts.get(dictionary);
    unmet = grownInt32(unmet, count);
    unmetRows = grownInt32(unmetRows, count);
    const found = { ids, idOfKey, idOf };
    let unmetCount = 0;
    for (let row = 0; row < count; row++) {
      const code = codes[row]!;
      const place = code < 0 ? NO_PLACE : fewParts.place(code);
      const id = place === NO_PLACE ? ABSENT : fewParts.ids[place]!;
      ids[row] = id;
      if (id !== ABSENT) continue;
      unmet[unmetCount] = code;
      unmetRows[unmetCount++] = row;
      if (place === NO_PLACE) continue;
      this.#resolve(dictionary, unmetCount, found);
      unmetCount = 0;
      fewParts.ids[place] = ids[row]!;
    }
    this.#resolve(dictionary, unmetCount, found);
  }

  /** Writes the ids of the rows gathered, in their order. */
  #resolve(
    dictionary: Dictionary,
    count: number,
    { ids, idOfKey, idOf }: FindIds & { readonly ids: Int32Array },
  ): void {
    if (count === 0) return;
    const split = must(dictionary.split);
    keys = grownFloat64(keys, count);
    this.#forms.get(dictionary).keysOf(split, unmet, count, keys);
    const ownIds = this.#ownIds.get(dictionary);
    for (let index = 0; index < count; index++) {
      const key = keys[index]!;
      ids[unmetRows[index]!] =
        key === NO_KEY ? ownId(ownIds, split, unmet[index]!, idOf) : idOfKey(key);
    }
  }
}

interface FindIds {
  readonly idOfKey: (key: number) => number;
  /** Of the code of a string without a key, and of -1, which is NULL. */
  readonly idOf: (code: number) => number;
}

/** Codes of one chunk whose ids are not known by place, their rows, and their keys: all columns share them. */
let unmet: Int32Array<ArrayBuffer> = NO_INT32;
let unmetRows: Int32Array<ArrayBuffer> = NO_INT32;
let keys: Float64Array<ArrayBuffer> = NO_FLOAT64;

function ownId(
  known: NumberIndex,
  split: SplitBlock,
  code: number,
  idOf: (code: number) => number,
): number {
  const key = code < 0 ? NOT_COUNTED : split.shortKey(code);
  if (key === NOT_COUNTED) return idOf(code);
  let id = known.find(key);
  if (id === ABSENT) {
    id = idOf(code);
    known.insert(key, id);
  }
  return id;
}

/** Of a string that has more parts. */
const NO_PLACE = -1;

/** Of a shape of which no string was met. */
const NOT_MET = -2;

/** Counts of one byte are below. */
const BYTE_COUNTS = 0x80;

/** Ids of one dictionary's strings whose parts are none, or one count of a byte: by place, without a search. */
class FewPartIds {
  /** At the place of a string its id, or ABSENT: its owner writes it. */
  ids: Int32Array<ArrayBuffer> = NO_INT32;
  readonly #split: SplitBlock;
  /** Of each shape the place of its string without parts, or of that whose part is 0. */
  readonly #places: Int32Array;
  #size = 0;

  constructor(split: SplitBlock) {
    this.#split = split;
    this.#places = new Int32Array(split.holeCounts.length).fill(NOT_MET);
  }

  place(code: number): number {
    const { shapeCodes, holeCounts, parts } = this.#split;
    const shape = shapeCodes[code]!;
    let place = this.#places[shape]!;
    if (place === NOT_MET) place = this.#begin(shape);
    if (holeCounts[shape] !== 1) return place;
    const part = parts[this.#split.partStart(code)]!;
    return part < BYTE_COUNTS ? place + part : NO_PLACE;
  }

  /** The place of a shape's first string. */
  #begin(shape: number): number {
    const holeCount = this.#split.holeCounts[shape]!;
    const room = holeCount === 0 ? 1 : holeCount === 1 ? BYTE_COUNTS : 0;
    const place = room === 0 ? NO_PLACE : this.#size;
    this.#places[shape] = place;
    this.#size += room;
    this.ids = grownInt32(this.ids, this.#size, ABSENT);
    return place;
  }
}
