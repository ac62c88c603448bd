import { must } from '../assert.ts';
import { threadArrays } from '../column/arrays.ts';
import { ObjectCache } from '../column/caches.ts';
import { UUID_BYTES } from '../column/number-vectors.ts';
import type { ByteRange } from '../column/skeleton.ts';
import type { Dictionary, DictionaryVector, NumberVector, Vector } from '../column/vector.ts';
import { ByteIndex, rangeOfText } from './byte-index.ts';
import {
  type DistinctValues,
  formOf,
  NUMBER_FORM,
  placeOf,
  TEXT_FORM,
  UUID_FORM,
} from './distinct-values.ts';
import { NumberIndex, WIDE_NUMBER_MIN } from './number-index.ts';
import { GatheredEntries } from './split-keys.ts';
import { ANY_PART, KeyForms, NO_KEY, NO_PART, TextPatterns } from './text-patterns.ts';

const ABSENT = -1;

/** The ids of these indexes tell nothing: a value is there or is not. */
const SOME_ID = 0;

/**
 * Tells rows apart that may have one of some known values of a column from those that have none: quickly for numbers
 * and strings, which are not put together for it where their keys (`TextPatterns`) tell; rows of any other form may.
 */
export class KnownKeys {
  readonly #numbers = new NumberIndex();
  #hasNaN = false;
  /** All strings but UUIDs; those with keys are found by these, too. */
  readonly #texts = new ByteIndex();
  readonly #patterns = new TextPatterns();
  readonly #keys: number[] = [];
  readonly #keyIndex = new NumberIndex();
  /** Whether each text with numbers has a key. */
  #areAllKeyed = true;
  readonly #uuids = new ByteIndex();
  /** Whether there are values that are neither numbers nor strings: NULL, a record. */
  #hasOthers = false;
  /** Of each code whether its value is known: NOT_ASKED, UNKNOWN or KNOWN. */
  readonly #codes = new ObjectCache((dictionary: Dictionary) => new Uint8Array(dictionary.size));
  readonly #firstParts = new ObjectCache((dictionary: Dictionary) =>
    this.#firstPartsOf(dictionary),
  );

  /** Those values alone that `refs` names. */
  constructor({ refs, numbers, texts, uuids }: DistinctValues) {
    for (const ref of refs) {
      const place = placeOf(ref);
      switch (formOf(ref)) {
        case NUMBER_FORM:
          this.#addNumber(numbers![place]!);
          break;
        case TEXT_FORM:
          this.#addText(rangeOfText(texts!, place));
          break;
        case UUID_FORM:
          this.#uuids.add(uuids!, place * UUID_BYTES, (place + 1) * UUID_BYTES);
          break;
        default:
          this.#hasOthers = true;
      }
    }
  }

  /** Keeps, of the ascending `rows[0, count)` of a vector, those that may have a known value; how many they are. */
  retain(vector: Vector, rows: Int32Array, count: number): number {
    switch (vector.kind) {
      case 'number':
        return this.#retainNumbers(vector, rows, count);
      case 'dictionary':
        return vector.dictionary.split === undefined
          ? this.#retainCodes(vector, rows, count)
          : this.#retainSplit(vector, rows, count);
      default:
        return count;
    }
  }

  #addNumber(value: number): void {
    if (Number.isNaN(value)) this.#hasNaN = true;
    else this.#numbers.add(value, SOME_ID);
  }

  #addText({ bytes, start, end }: ByteRange): void {
    this.#texts.add(bytes, start, end);
    const key = this.#patterns.keyOf(bytes, start, end);
    if (key === NO_KEY) {
      if (this.#patterns.hasNumbers(bytes, start, end)) this.#areAllKeyed = false;
      return;
    }
    this.#keys.push(key);
    this.#keyIndex.add(key, SOME_ID);
  }

  #retainNumbers({ values, nulls }: NumberVector, rows: Int32Array, count: number): number {
    let kept = 0;
    for (let index = 0; index < count; index++) {
      const row = rows[index]!;
      const isNull = nulls !== undefined && nulls[row] === 1;
      const isKnown = isNull ? this.#hasOthers : this.#hasNumber(values[row]!);
      rows[kept] = row;
      kept += Number(isKnown);
    }
    return kept;
  }

  /** A large one may be a bigint among the others. */
  #hasNumber(value: number): boolean {
    if (this.#hasOthers && Math.abs(value) >= WIDE_NUMBER_MIN) return true;
    return Number.isNaN(value) ? this.#hasNaN : this.#numbers.find(value) !== ABSENT;
  }

  #retainCodes({ codes, dictionary }: DictionaryVector, rows: Int32Array, count: number): number {
    const known = this.#codes.get(dictionary);
    let kept = 0;
    for (let index = 0; index < count; index++) {
      const row = rows[index]!;
      const code = codes[row]!;
      let verdict = code < 0 ? Number(this.#hasOthers) : known[code]! - UNKNOWN;
      if (verdict < 0) {
        verdict = Number(this.#hasValue(dictionary, code));
        known[code] = UNKNOWN + verdict;
      }
      rows[kept] = row;
      kept += verdict;
    }
    return kept;
  }

  #hasValue(dictionary: Dictionary, code: number): boolean {
    const { strings, uuids } = dictionary;
    if (strings !== undefined) {
      const { bytes, offsets } = strings;
      return this.#hasText(bytes, offsets[code]!, offsets[code + 1]!);
    }
    if (uuids !== undefined) {
      return this.#uuids.find(uuids, code * UUID_BYTES, (code + 1) * UUID_BYTES) !== ABSENT;
    }
    return true;
  }

  /** A text that is a UUID is among those, and not looked for: so it may be. */
  #hasText(bytes: Uint8Array, start: number, end: number): boolean {
    return this.#texts.find(bytes, start, end) !== ABSENT || this.#uuids.size > 0;
  }

  #retainSplit({ codes, dictionary }: DictionaryVector, rows: Int32Array, count: number): number {
    const split = must(dictionary.split);
    const { shapeCodes, parts } = split;
    const length = count === 0 ? 0 : rows[count - 1]! + 1;
    const gathered = threadArrays.borrow(GatheredEntries, length);
    const { partStarts, codes: metCodes, starts: metStarts, rows: metRows, keys } = gathered;
    split.partStarts(codes, length, partStarts);
    const firstParts = this.#firstParts.get(dictionary);
    const verdicts = firstParts.verdicts;
    let metCount = 0;
    for (let index = 0; index < count; index++) {
      const row = rows[index]!;
      const code = codes[row]!;
      const start = partStarts[row]!;
      const place = code < 0 ? 0 : PART_VALUES * shapeCodes[code]! + (parts[start] ?? 0);
      let verdict = code < 0 ? UNKNOWN + Number(this.#hasOthers) : verdicts[place]!;
      if (verdict === NOT_ASKED) {
        firstParts.ask(shapeCodes[code]!);
        verdict = verdicts[place]!;
      }
      metCodes[metCount] = code;
      metStarts[metCount] = start;
      metRows[metCount] = row;
      metCount += verdict - UNKNOWN;
    }
    const entries = { codes: metCodes, starts: metStarts, count: metCount };
    firstParts.forms.keysOf(split, entries, keys);
    let kept = 0;
    for (let index = 0; index < metCount; index++) {
      rows[kept] = metRows[index]!;
      kept += Number(this.#isKnown(dictionary, metCodes[index]!, keys[index]!));
    }
    threadArrays.giveBack(gathered);
    return kept;
  }

  /** Of a string taken apart, or of NULL. */
  #isKnown(dictionary: Dictionary, code: number, key: number): boolean {
    if (key !== NO_KEY) return this.#keyIndex.find(key) !== ABSENT;
    if (code < 0) return true;
    const { bytes, start, end } = must(dictionary.split).range(code);
    return this.#hasText(bytes, start, end);
  }

  #firstPartsOf(dictionary: Dictionary): FirstParts {
    const split = must(dictionary.split);
    const forms = KeyForms.of(split, this.#patterns);
    return new FirstParts(
      forms,
      split.holeCounts.length,
      this.#areAllKeyed ? this.#keys : undefined,
    );
  }
}

const NOT_ASKED = 0;
const UNKNOWN = 1;
const KNOWN = 2;

/** What the first byte of a string's parts may be. */
const PART_VALUES = 256;

/** By shape and first byte of the parts, which of the strings of one dictionary may have one of some keys. */
class FirstParts {
  readonly forms: KeyForms;
  /** NOT_ASKED, UNKNOWN or KNOWN, `PART_VALUES` for each shape. */
  readonly verdicts: Uint8Array;
  readonly #keys: readonly number[] | undefined;

  /** Without `keys` strings with any may be known. */
  constructor(forms: KeyForms, shapeCount: number, keys: readonly number[] | undefined) {
    this.forms = forms;
    this.verdicts = new Uint8Array(PART_VALUES * shapeCount);
    this.#keys = keys;
  }

  /** Writes what holds of the strings of a shape. */
  ask(shape: number): void {
    const from = PART_VALUES * shape;
    const ofShape = this.verdicts.subarray(from, from + PART_VALUES);
    const keys = this.forms.has(shape) ? this.#keys : undefined;
    ofShape.fill(keys === undefined ? KNOWN : UNKNOWN);
    for (const key of keys ?? []) {
      const part = this.forms.firstPartOf(shape, key);
      if (part === ANY_PART) ofShape.fill(KNOWN);
      else if (part !== NO_PART) ofShape[part] = KNOWN;
    }
  }
}
