import { must } from '../assert.ts';
import { SHAPES_MAX } from '../column/split-footer.ts';
import { isHole, NOT_COUNTED, NUMBER } from '../column/split-shape.ts';
import type { DictionaryVector, SplitBlock } from '../column/vector.ts';
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
    const split = must(dictionary.split);
    const { shapeCodes } = split;
    const shapeNumbers = this.#shapeNumbers.get(dictionary);
    const ownIds = this.#ownIds.get(dictionary);
    for (let row = 0; row < count; row++) {
      const code = codes[row]!;
      const key = code < 0 ? NOT_COUNTED : split.shortKey(code);
      if (key === NOT_COUNTED) {
        ids[row] = idOf(code);
        continue;
      }
      const shape = shapeCodes[code]!;
      let number = shapeNumbers[shape]!;
      if (number === NOT_ASKED) {
        number = this.#numberOf(split, shape);
        shapeNumbers[shape] = number;
      }
      const known = number < 0 ? ownIds : this.#commonIds;
      const knownKey = number < 0 ? key : ((key - shape) / SHAPES_MAX) * COMMON_SHAPES_MAX + number;
      let id = known.find(knownKey);
      if (id === ABSENT) {
        id = idOf(code);
        known.insert(knownKey, id);
      }
      ids[row] = id;
    }
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
