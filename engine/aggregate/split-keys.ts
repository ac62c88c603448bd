import { must } from '../assert.ts';
import { SHAPES_MAX } from '../column/split-footer.ts';
import { isHole, NOT_COUNTED, NUMBER } from '../column/split-shape.ts';
import type { Dictionary, DictionaryVector, SplitBlock } from '../column/vector.ts';
import { ByteIndex } from './byte-index.ts';
import { DictionaryMemo } from './dictionary-memo.ts';
import { NumberIndex } from './number-index.ts';

const ABSENT = -1;

/** Of a shape nobody has asked yet. */
const NOT_ASKED = -2;

/** Shapes that are numbered: a short key has 40 bits beside its shape, and a double holds 53. */
const COMMON_SHAPES_MAX = 2 ** 12;

/**
 * Ids of strings taken apart, by shape and parts: those that were met are not put together again. A shape
 * whose holes are all numbers, with its parts, is one string wherever it comes, so such strings are met
 * once for all dictionaries; words are numbered by dictionary, and so are strings that have some.
 */
export class SplitKeys {
  /** The number of a shape that is one for all dictionaries; heads are part of it. */
  readonly #shapes = new ByteIndex();
  readonly #commonIds = new NumberIndex();
  /** Of each shape its number, ABSENT where it has none, or NOT_ASKED. */
  readonly #shapeNumbers = new DictionaryMemo(({ split }) =>
    new Int32Array(must(split).shapes.offsets.length - 1).fill(NOT_ASKED),
  );
  readonly #ownIds = new DictionaryMemo(() => new NumberIndex());
  /** In front of all others: most strings have no part, or one of a byte. */
  readonly #fewParts = new DictionaryMemo(({ split }) => new FewPartIds(must(split)));

  /**
   * Writes the id of each entry; `idOf` gives that of a code whose string was not met before, or may not
   * have been, and of -1, which is NULL.
   */
  assign(
    { codes, dictionary }: DictionaryVector,
    count: number,
    ids: Int32Array,
    idOf: (code: number) => number,
  ): void {
    const fewParts = this.#fewParts.get(dictionary);
    for (let row = 0; row < count; row++) {
      const code = codes[row]!;
      const place = code < 0 ? NO_PLACE : fewParts.place(code);
      let id = place === NO_PLACE ? ABSENT : fewParts.ids[place]!;
      if (id === ABSENT) {
        id = code < 0 ? idOf(code) : this.#idOf(dictionary, code, idOf);
        if (place !== NO_PLACE) fewParts.ids[place] = id;
      }
      ids[row] = id;
    }
  }

  #idOf(dictionary: Dictionary, code: number, idOf: (code: number) => number): number {
    const split = must(dictionary.split);
    const key = split.shortKey(code);
    if (key === NOT_COUNTED) return idOf(code);
    const shape = split.shapeCodes[code]!;
    const shapeNumbers = this.#shapeNumbers.get(dictionary);
    let number = shapeNumbers[shape]!;
    if (number === NOT_ASKED) {
      number = this.#numberOf(split, shape);
      shapeNumbers[shape] = number;
    }
    const known = number < 0 ? this.#ownIds.get(dictionary) : this.#commonIds;
    const knownKey = number < 0 ? key : ((key - shape) / SHAPES_MAX) * COMMON_SHAPES_MAX + number;
    let id = known.find(knownKey);
    if (id === ABSENT) {
      id = idOf(code);
      known.insert(knownKey, id);
    }
    return id;
  }

  /** Of a shape behind one head for all. */
  #numberOf({ heads, shapes }: SplitBlock, shape: number): number {
    const rest = shapes.bytes.subarray(shapes.offsets[shape]!, shapes.offsets[shape + 1]!);
    if (rest.some((byte) => isHole(byte) && byte !== NUMBER)) return ABSENT;
    const head = heads.bytes.subarray(heads.offsets[0]!, heads.offsets[1]!);
    const text = head.length === 0 ? rest : Buffer.concat([head, rest]);
    if (this.#shapes.size === COMMON_SHAPES_MAX) return ABSENT;
    return this.#shapes.add(text, 0, text.length);
  }
}

/** Of a string that has more parts. */
const NO_PLACE = -1;

/** Of a shape of which no string was met. */
const NOT_MET = -2;

/** Counts of one byte are below. */
const BYTE_COUNTS = 0x80;

/** Ids of one dictionary's strings whose parts are none, or one count of a byte: by place, without a search. */
class FewPartIds {
  /** At the place of a string its id, or ABSENT. */
  ids = new Int32Array(2 * BYTE_COUNTS);
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
    this.#makeRoom(this.#size + room);
    this.ids.fill(ABSENT, this.#size, this.#size + room);
    this.#size += room;
    return place;
  }

  #makeRoom(size: number): void {
    if (size <= this.ids.length) return;
    const ids = new Int32Array(2 * size);
    ids.set(this.ids);
    this.ids = ids;
  }
}
