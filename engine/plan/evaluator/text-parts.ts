import { carvedInt32 } from '../../column/carved-arrays.ts';
import { PlainStrings } from '../../column/string-values.ts';
import type { SqlValue } from '../../column/value.ts';
import {
  type DictionaryVector,
  dictionaryVector,
  type StringDictionary,
} from '../../column/vector.ts';
import { encodeWtf8 } from '../../column/wtf8.ts';
import type { PartFinder } from '../../function/text/text-measures.ts';
import { spendSteps } from '../../function/work-meter.ts';

/** Bytes that are looked at in the time of a step. */
export const BYTES_PER_STEP = 4;

const NULL = -1;

/**
 * The part of each string that a function gives: as strings of their own, one for each row, end to end. `evaluate` gives
 * the part of a code's string where the finder cannot tell.
 */
export function partOfEach(
  finder: PartFinder,
  strings: StringDictionary,
  { codes, count }: DictionaryVector,
  evaluate: (code: number) => SqlValue,
): DictionaryVector {
  const parts = new TextBlock(count);
  const partCodes = carvedInt32(count);
  let lookedAt = 0;
  for (let row = 0; row < count; row++) {
    const code = codes[row]!;
    if (code < 0) {
      partCodes[row] = NULL;
      continue;
    }
    const { bytes, start, end } = strings.range(code);
    lookedAt += end - start;
    const isFound = finder.find(bytes, start, end);
    if (isFound === undefined) partCodes[row] = parts.addText(evaluate(code));
    else if (!isFound || finder.start < 0) partCodes[row] = NULL;
    else partCodes[row] = parts.add(bytes, finder.start, finder.end);
  }
  spendSteps(count + Math.floor(lookedAt / BYTES_PER_STEP));
  return dictionaryVector(partCodes, count, parts.dictionary());
}

/** Strings end to end, in the order in which they come. */
class TextBlock {
  #bytes = new Uint8Array(0);
  readonly #offsets: Uint32Array;
  #count = 0;

  constructor(countMax: number) {
    this.#offsets = new Uint32Array(countMax + 1);
  }

  /** Gives the code of the string `bytes[start, end)`. */
  add(bytes: Uint8Array, start: number, end: number): number {
    let to = this.#offsets[this.#count]!;
    if (to + end - start > this.#bytes.length) this.#grow(to + end - start);
    const own = this.#bytes;
    for (let at = start; at < end; at++, to++) own[to] = bytes[at]!;
    this.#offsets[this.#count + 1] = to;
    return this.#count++;
  }

  /** Gives the code of a string, and that of NULL for NULL. */
  addText(value: SqlValue): number {
    if (typeof value !== 'string') return NULL;
    const bytes = encodeWtf8(value);
    return this.add(bytes, 0, bytes.length);
  }

  dictionary(): PlainStrings {
    const strings = { bytes: this.#bytes, offsets: this.#offsets };
    return new PlainStrings(strings, { size: this.#count, isDistinct: false, isPerValue: true });
  }

  #grow(size: number): void {
    const grown = new Uint8Array(Math.max(2 * this.#bytes.length, size, 8 * this.#offsets.length));
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}
