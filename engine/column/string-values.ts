import { must } from '../assert.ts';
import { carvedInt32 } from './carved-arrays.ts';
import { DeflatedStrings } from './deflated-strings.ts';
import { ExcerptStrings } from './excerpt-strings.ts';
import type { JsonWriter } from './json-writer.ts';
import { NumberValues } from './number-values.ts';
import { UUID_BYTES, UUID_LENGTH, unpackHex, unpackUuid } from './packed-digits.ts';
import type { SliceSource, UnsignedArray } from './slice.ts';
import type { ByteRange } from './slot-store.ts';
import { SplitStrings } from './split-strings.ts';
import type { EntryFacts, StringEntries } from './string-entries.ts';
import type { StringsFooter } from './string-footer.ts';
import { type RangedStrings, StringRange } from './string-range.ts';
import { Triples } from './triples.ts';
import { constantVector, type StringBlock, type Vector } from './vector.ts';
import { WORD_FORMS, type WordForm } from './word-forms.ts';
import { decodeWtf8, textAt } from './wtf8.ts';

/** A dictionary up to this size keeps the JavaScript strings it has made. */
const CACHED_ENTRIES_MAX = 4096;

/** The strings of one column. Positions are [0, number of values). */
export class StringValues implements RangedStrings {
  readonly entries: StringEntries;
  /** Where they lie in an array that can be scanned. */
  readonly codes: UnsignedArray | undefined;
  readonly #triples: Triples | undefined;
  /** Whether all are equal, and known to be without looking. */
  readonly isConstant: boolean;

  /** `leafEntries` gives the entries of another leaf column, for a column that lies in that one. */
  constructor(source: SliceSource, footer: StringsFooter, leafEntries: LeafEntries = noLeaf) {
    const { codes } = footer;
    this.entries = openEntries(source, footer, leafEntries);
    this.isConstant = codes === 'constant';
    if (codes === null || codes === 'constant') return;
    if (codes.width === 3) this.#triples = new Triples(source.bytes(codes.slice));
    else this.codes = source.unsigned(codes.slice, codes.width);
  }

  get hasEntryEach(): boolean {
    return this.codes === undefined && this.#triples === undefined && !this.isConstant;
  }

  code(position: number): number {
    if (this.isConstant) return 0;
    if (this.codes !== undefined) return this.codes[position]!;
    return this.#triples === undefined ? position : this.#triples.at(position);
  }

  /** The strings of consecutive positions as they lie. */
  range(start: number, count: number): Vector {
    if (this.isConstant) return constantVector(this.entries.value(0), count);
    return new StringRange(() => this, start, count);
  }

  codesOf(start: number, count: number): Int32Array {
    const codes = carvedInt32(count);
    if (this.codes !== undefined) codes.set(this.codes.subarray(start, start + count));
    else if (!this.isConstant) for (let i = 0; i < count; i++) codes[i] = this.code(start + i);
    return codes;
  }

  /** Codes at `positions[0, count)`; -1 where a position is negative. Always a new array. */
  gather(positions: Int32Array, count: number): Int32Array {
    const codes = this.codes;
    if (this.hasEntryEach) return positions.slice(0, count);
    const taken = carvedInt32(count);
    // One loop per width, so that each sees one kind of array.
    if (codes instanceof Uint8Array) {
      for (let i = 0; i < count; i++) taken[i] = positions[i]! < 0 ? -1 : codes[positions[i]!]!;
    } else if (codes instanceof Uint16Array) {
      for (let i = 0; i < count; i++) taken[i] = positions[i]! < 0 ? -1 : codes[positions[i]!]!;
    } else {
      for (let i = 0; i < count; i++) {
        taken[i] = positions[i]! < 0 ? -1 : this.code(positions[i]!);
      }
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
  const { packing } = footer;
  const facts: EntryFacts = {
    size: footer.entryCount,
    isDistinct: footer.isDistinct,
    isPerValue: footer.codes === null,
  };
  switch (packing.kind) {
    case 'plain': {
      const offsets = source.unsigned32(packing.offsets);
      return new PlainStrings({ bytes: source.bytes(packing.bytes), offsets }, facts);
    }
    case 'hex':
    case 'uuid': {
      const digitCount = packing.kind === 'hex' ? packing.digitCount : undefined;
      return new PackedStrings(source.bytes(packing.bytes), digitCount, facts);
    }
    case 'deflated':
      return new DeflatedStrings(source, packing, facts);
    case 'form': {
      const numbers = new NumberValues(source, packing.numbers);
      return new FormStrings(numbers, WORD_FORMS[packing.form], facts);
    }
    case 'split':
      return new SplitStrings(source, packing, facts.size, facts.isDistinct);
    case 'excerpt':
      return new ExcerptStrings(must(leafEntries(packing.column).split), packing.cut);
    case 'suffix': {
      const sizes = source.unsigned(packing.sizes, packing.sizeWidth);
      return new SuffixStrings(leafEntries(packing.column), sizes, facts);
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

  constructor(strings: StringBlock, { size, isDistinct, isPerValue }: EntryFacts) {
    this.strings = strings;
    this.size = size;
    this.isDistinct = isDistinct;
    this.isPerValue = isPerValue;
    this.#cache = size <= CACHED_ENTRIES_MAX ? [] : undefined;
  }

  value(code: number): string {
    const known = this.#cache?.[code];
    if (known !== undefined) return known;
    const text = textAt(this.strings, code);
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
  readonly isPerValue: boolean;
  readonly uuids: Uint8Array | undefined;
  readonly #bytes: Uint8Array;
  readonly #isUuid: boolean;
  /** One entry as it is written. */
  readonly #text: Buffer;

  /** `digitCount`: of each entry; `undefined` for UUIDs. */
  constructor(
    bytes: Uint8Array,
    digitCount: number | undefined,
    { size, isDistinct, isPerValue }: EntryFacts,
  ) {
    this.#bytes = bytes;
    this.#isUuid = digitCount === undefined;
    this.uuids = this.#isUuid ? bytes : undefined;
    this.#text = Buffer.alloc(digitCount ?? UUID_LENGTH, '-');
    this.size = size;
    this.isDistinct = isDistinct;
    this.isPerValue = isPerValue;
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

/** Numbers in another dress. */
class FormStrings implements StringEntries {
  readonly size: number;
  readonly isDistinct: boolean;
  readonly isPerValue: boolean;
  readonly #numbers: NumberValues;
  readonly #form: WordForm;

  constructor(numbers: NumberValues, form: WordForm, { size, isDistinct, isPerValue }: EntryFacts) {
    this.#numbers = numbers;
    this.#form = form;
    this.size = size;
    this.isDistinct = isDistinct;
    this.isPerValue = isPerValue;
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
  readonly isPerValue: boolean;
  readonly #whole: StringEntries;
  readonly #sizes: UnsignedArray;

  constructor(
    whole: StringEntries,
    sizes: UnsignedArray,
    { size, isDistinct, isPerValue }: EntryFacts,
  ) {
    this.#whole = whole;
    this.#sizes = sizes;
    this.size = size;
    this.isDistinct = isDistinct;
    this.isPerValue = isPerValue;
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
