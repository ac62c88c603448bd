import { carvedFloat64, carvedInt32, lengthened } from './arrays.ts';
import { consecutivePositions } from './chunk.ts';
import type { ByteRange } from './skeleton.ts';
import { StringColumn } from './string-footer.ts';
import { type TextVector, textsOfEach } from './text-block.ts';
import {
  type DictionaryVector,
  dictionaryVector,
  type NumberVector,
  numberVector,
  type StringDictionary,
  type UnnestedElements,
  type Vector,
} from './vector.ts';

/**
 * Lists of strings: that of entry `i` is strings `[starts[i], starts[i + 1])`, where it is not NULL. None of these is
 * NULL. `values`, the plain form, is made when somebody reads it.
 */
export class TextLists {
  readonly kind = 'value';
  readonly form = 'text lists';
  readonly count: number;
  readonly starts: Int32Array;
  readonly strings: StringDictionary;
  /** 1 where there is no list; `undefined`: there is one in each entry. */
  readonly nulls: Uint8Array | undefined;
  #values: (readonly string[] | null)[] | undefined;

  constructor(starts: Int32Array, strings: StringDictionary, nulls?: Uint8Array) {
    this.count = starts.length - 1;
    this.starts = starts;
    this.strings = strings;
    this.nulls = nulls;
  }

  get values(): readonly (readonly string[] | null)[] {
    this.#values ??= Array.from({ length: this.count }, (_, entry) => this.#list(entry));
    return this.#values;
  }

  /** How many strings each list has. */
  lengths(): NumberVector {
    const lengths = carvedFloat64(this.count);
    for (let entry = 0; entry < this.count; entry++) {
      lengths[entry] = this.starts[entry + 1]! - this.starts[entry]!;
    }
    return numberVector(lengths, this.count, this.nulls);
  }

  /** The string at an index of each list, and NULL where there is none. */
  element(index: number): DictionaryVector {
    const codes = carvedInt32(this.count);
    for (let entry = 0; entry < this.count; entry++) {
      const code = this.starts[entry]! + index;
      codes[entry] = index >= 0 && code < this.starts[entry + 1]! ? code : -1;
    }
    return dictionaryVector(codes, this.count, this.strings);
  }

  /** All strings, and the entries that they are of. */
  unnested(): UnnestedElements {
    const count = this.starts[this.count]!;
    const parents = carvedInt32(count);
    for (let entry = 0; entry < this.count; entry++) {
      parents.fill(entry, this.starts[entry], this.starts[entry + 1]);
    }
    const codes = consecutivePositions(0, count);
    return { count, parents, elements: dictionaryVector(codes, count, this.strings) };
  }

  #list(entry: number): readonly string[] | null {
    if (this.nulls !== undefined && this.nulls[entry] === 1) return null;
    const start = this.starts[entry]!;
    const length = this.starts[entry + 1]! - start;
    // By contract, strings.
    return Array.from({ length }, (_, index) => this.strings.value(start + index) as string);
  }
}

/** Lists with a string of each column, which stay where they are; `undefined` where these are no strings, or some is NULL. */
export function listsOfTexts(vectors: readonly Vector[], count: number): TextLists | undefined {
  const columns = textsOfEach(vectors);
  if (columns?.some(({ codes }) => codes.subarray(0, count).includes(-1)) !== false)
    return undefined;
  const starts = carvedInt32(count + 1);
  for (let row = 0; row <= count; row++) starts[row] = row * columns.length;
  return new TextLists(starts, new WovenStrings(columns, count));
}

/** The first string of each column, then the second of each, and so on. */
class WovenStrings extends StringColumn {
  readonly #columns: readonly TextVector[];

  constructor(columns: readonly TextVector[], count: number) {
    super({ size: count * columns.length, isDistinct: false, isPerValue: true });
    this.#columns = columns;
  }

  range(code: number): ByteRange {
    const { codes, dictionary } = this.#columns[code % this.#columns.length]!;
    return dictionary.range(codes[Math.floor(code / this.#columns.length)]!);
  }

  /** By contract, strings. */
  override value(code: number): string {
    const { codes, dictionary } = this.#columns[code % this.#columns.length]!;
    return dictionary.value(codes[Math.floor(code / this.#columns.length)]!) as string;
  }
}

/** Parts of texts that lie end to end, by the order in which they are added. They stay where they are. */
export class TextParts {
  readonly #bytes: Uint8Array;
  #starts: Int32Array<ArrayBuffer>;
  #ends: Int32Array<ArrayBuffer>;
  count = 0;

  /** Begins with room for so many. */
  constructor(bytes: Uint8Array, countMin: number) {
    this.#bytes = bytes;
    this.#starts = new Int32Array(countMin);
    this.#ends = new Int32Array(countMin);
  }

  add(start: number, end: number): void {
    if (this.count === this.#starts.length) {
      this.#starts = lengthened(this.#starts, this.count + 1);
      this.#ends = lengthened(this.#ends, this.count + 1);
    }
    this.#starts[this.count] = start;
    this.#ends[this.count++] = end;
  }

  /** The parts by their codes; none is added any more. */
  dictionary(): StringDictionary {
    return new PartStrings(this.#bytes, this.#starts, this.#ends, this.count);
  }
}

class PartStrings extends StringColumn {
  readonly #bytes: Uint8Array;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;

  constructor(bytes: Uint8Array, starts: Int32Array, ends: Int32Array, size: number) {
    super({ size, isDistinct: false, isPerValue: true });
    this.#bytes = bytes;
    this.#starts = starts;
    this.#ends = ends;
  }

  range(code: number): ByteRange {
    return { bytes: this.#bytes, start: this.#starts[code]!, end: this.#ends[code]! };
  }
}
