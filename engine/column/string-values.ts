import { DeflatedStrings } from './deflated-strings.ts';
import type { JsonWriter } from './json-writer.ts';
import { NumberValues } from './number-values.ts';
import type { SliceSource, UnsignedArray } from './slice.ts';
import type { ByteRange } from './slot-store.ts';
import type { StringEntries } from './string-entries.ts';
import type { StringsFooter } from './string-footer.ts';
import type { StringBlock } from './vector.ts';
import { WORD_FORMS, type WordForm } from './word-forms.ts';
import { decodeWtf8 } from './wtf8.ts';

/** A dictionary up to this size keeps the JavaScript strings it has made. */
const CACHED_ENTRIES_MAX = 4096;

const HEX_DIGITS = Uint8Array.from(Buffer.from('0123456789abcdef', 'latin1'));
/** Hex digits of each byte of a UUID begin here in its canonical form. */
const UUID_PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;
const DASH_PLACES = [8, 13, 18, 23] as const;
const DASH = 0x2d;
export const UUID_BYTES = 16;
export const UUID_LENGTH = 36;

/** The strings of one column. Positions are [0, number of values). */
export class StringValues {
  readonly entries: StringEntries;
  readonly #codes: UnsignedArray | undefined;
  /** Whether all are equal, and known to be without looking. */
  readonly isConstant: boolean;

  /** `leafEntries` gives the entries of another leaf column, for a column that lies in that one. */
  constructor(source: SliceSource, footer: StringsFooter, leafEntries: LeafEntries = noLeaf) {
    const { codes } = footer;
    this.entries = openEntries(source, footer, leafEntries);
    this.isConstant = codes === 'constant';
    if (codes !== null && codes !== 'constant') {
      this.#codes = source.unsigned(codes.slice, codes.width);
    }
  }

  code(position: number): number {
    if (this.isConstant) return 0;
    return this.#codes === undefined ? position : this.#codes[position]!;
  }

  /** Codes at `positions[0, count)`; -1 where a position is negative. Always a new array. */
  gather(positions: Int32Array, count: number): Int32Array {
    const codes = this.#codes;
    if (codes === undefined && !this.isConstant) return positions.slice(0, count);
    const taken = new Int32Array(count);
    for (let i = 0; i < count; i++) {
      const position = positions[i]!;
      if (position < 0) taken[i] = -1;
      else taken[i] = codes === undefined ? 0 : codes[position]!;
    }
    return taken;
  }
}

export type LeafEntries = (column: number) => StringEntries;

function noLeaf(column: number): StringEntries {
  throw new Error(`assertion failed: a declared column does not lie in leaf column ${column}`);
}

function openEntries(
  source: SliceSource,
  footer: StringsFooter,
  leafEntries: LeafEntries,
): StringEntries {
  const { packing, entryCount, isDistinct } = footer;
  switch (packing.kind) {
    case 'plain': {
      const offsets = source.unsigned32(packing.offsets);
      return new PlainStrings(
        { bytes: source.bytes(packing.bytes), offsets },
        entryCount,
        isDistinct,
        footer.codes === null,
      );
    }
    case 'hex':
    case 'uuid': {
      const digitCount = packing.kind === 'hex' ? packing.digitCount : undefined;
      return new PackedStrings(source.bytes(packing.bytes), digitCount, entryCount, isDistinct);
    }
    case 'deflated':
      return new DeflatedStrings(source, packing, entryCount, isDistinct);
    case 'form': {
      const numbers = new NumberValues(source, packing.numbers);
      return new FormStrings(numbers, WORD_FORMS[packing.form], entryCount, isDistinct);
    }
    case 'suffix': {
      const sizes = source.unsigned(packing.sizes, packing.sizeWidth);
      return new SuffixStrings(leafEntries(packing.column), sizes, isDistinct);
    }
  }
}

/** Strings end to end. `size` may be less than the block holds. */
export class PlainStrings implements StringEntries {
  readonly size: number;
  readonly isDistinct: boolean;
  readonly isPerValue: boolean;
  readonly strings: StringBlock;
  readonly #cache: (string | undefined)[] | undefined;

  constructor(strings: StringBlock, size: number, isDistinct: boolean, isPerValue = false) {
    this.strings = strings;
    this.size = size;
    this.isDistinct = isDistinct;
    this.isPerValue = isPerValue;
    this.#cache = size <= CACHED_ENTRIES_MAX ? [] : undefined;
  }

  value(code: number): string {
    const known = this.#cache?.[code];
    if (known !== undefined) return known;
    const { bytes, offsets } = this.strings;
    const text = decodeWtf8(bytes, offsets[code]!, offsets[code + 1]!);
    if (this.#cache !== undefined) this.#cache[code] = text;
    return text;
  }

  range(code: number): ByteRange {
    const { bytes, offsets } = this.strings;
    return { bytes, start: offsets[code]!, end: offsets[code + 1]! };
  }

  writeJson(code: number, out: JsonWriter): void {
    const { bytes, offsets } = this.strings;
    out.stringBytes(bytes, offsets[code]!, offsets[code + 1]!);
  }
}

/** Hexadecimal digits or UUIDs, two digits a byte. */
class PackedStrings implements StringEntries {
  readonly size: number;
  readonly isDistinct: boolean;
  readonly #bytes: Uint8Array;
  readonly #isUuid: boolean;
  /** One entry as it is written. */
  readonly #text: Buffer;

  /** `digitCount`: of each entry; `undefined` for UUIDs. */
  constructor(
    bytes: Uint8Array,
    digitCount: number | undefined,
    size: number,
    isDistinct: boolean,
  ) {
    this.#bytes = bytes;
    this.#isUuid = digitCount === undefined;
    this.#text = Buffer.alloc(digitCount ?? UUID_LENGTH, '-');
    this.size = size;
    this.isDistinct = isDistinct;
  }

  value(code: number): string {
    this.#unpack(code);
    return this.#text.toString('latin1');
  }

  range(code: number): ByteRange {
    this.#unpack(code);
    return { bytes: this.#text, start: 0, end: this.#text.length };
  }

  writeJson(code: number, out: JsonWriter): void {
    this.#unpack(code);
    out.raw('"');
    out.rawBytes(this.#text, 0, this.#text.length);
    out.raw('"');
  }

  #unpack(code: number): void {
    const text = this.#text;
    if (this.#isUuid) unpackUuid(this.#bytes, code * UUID_BYTES, text, 0);
    else unpackHex(this.#bytes, code * Math.ceil(text.length / 2), text.length, text, 0);
  }
}

/** Writes the digits packed at `bytes[start]` to `text[at]`; gives where they end. */
export function unpackHex(
  bytes: Uint8Array,
  start: number,
  digitCount: number,
  text: Uint8Array,
  at: number,
): number {
  let to = at;
  for (let index = start; index < start + (digitCount >> 1); index++) {
    const byte = bytes[index]!;
    text[to++] = HEX_DIGITS[byte >> 4]!;
    text[to++] = HEX_DIGITS[byte & 15]!;
  }
  if ((digitCount & 1) === 1) text[to] = HEX_DIGITS[bytes[start + (digitCount >> 1)]! >> 4]!;
  return at + digitCount;
}

/** Writes the UUID packed at `bytes[start]` to `text[at]`; gives where it ends. */
export function unpackUuid(bytes: Uint8Array, start: number, text: Uint8Array, at: number): number {
  for (let index = 0; index < UUID_BYTES; index++) {
    const byte = bytes[start + index]!;
    const to = at + UUID_PLACES[index]!;
    text[to] = HEX_DIGITS[byte >> 4]!;
    text[to + 1] = HEX_DIGITS[byte & 15]!;
  }
  for (const place of DASH_PLACES) text[at + place] = DASH;
  return at + UUID_LENGTH;
}

/** Numbers in another dress. */
class FormStrings implements StringEntries {
  readonly size: number;
  readonly isDistinct: boolean;
  readonly #numbers: NumberValues;
  readonly #form: WordForm;

  constructor(numbers: NumberValues, form: WordForm, size: number, isDistinct: boolean) {
    this.#numbers = numbers;
    this.#form = form;
    this.size = size;
    this.isDistinct = isDistinct;
  }

  value(code: number): string {
    return this.#form.format(this.#numbers.value(code));
  }

  range(code: number): ByteRange {
    const bytes = Buffer.from(this.value(code), 'latin1');
    return { bytes, start: 0, end: bytes.length };
  }

  writeJson(code: number, out: JsonWriter): void {
    out.raw('"');
    out.raw(this.value(code));
    out.raw('"');
  }
}

/** Each string is the end of another one. */
class SuffixStrings implements StringEntries {
  readonly size: number;
  readonly isDistinct: boolean;
  readonly #whole: StringEntries;
  readonly #sizes: UnsignedArray;

  constructor(whole: StringEntries, sizes: UnsignedArray, isDistinct: boolean) {
    this.#whole = whole;
    this.#sizes = sizes;
    this.size = sizes.length;
    this.isDistinct = isDistinct;
  }

  value(code: number): string {
    const { bytes, start, end } = this.range(code);
    return decodeWtf8(bytes, start, end);
  }

  range(code: number): ByteRange {
    const { bytes, end } = this.#whole.range(code);
    return { bytes, start: end - this.#sizes[code]!, end };
  }

  writeJson(code: number, out: JsonWriter): void {
    const { bytes, start, end } = this.range(code);
    out.stringBytes(bytes, start, end);
  }
}
