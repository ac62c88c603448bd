import { assert, must } from '../assert.ts';
import { carvedInt32, NO_UINT8, threadArrays } from './arrays.ts';
import { ExcerptStrings } from './excerpt-strings.ts';
import { JsonBuffer, type JsonWriter } from './json-buffer.ts';
import { decodeDeflate } from './kept-decoder.ts';
import { NumberValues, Triples } from './number-values.ts';
import { UUID_BYTES, UUID_LENGTH, unpackHex, unpackUuid } from './number-vectors.ts';
import { RowTexts } from './row-texts.ts';
import type { ByteRange } from './skeleton.ts';
import type { SliceSource, UnsignedArray } from './slice.ts';
import { isHole } from './split-shape.ts';
import { SplitStrings } from './split-strings.ts';
import {
  type EntryFacts,
  type PackingFooter,
  StringColumn,
  type StringEntries,
  type StringsFooter,
  WORD_FORMS,
  type WordForm,
} from './string-footer.ts';
import {
  constantVector,
  type Dictionary,
  type SplitBlock,
  type StringBlock,
  type Vector,
} from './vector.ts';
import { textAt } from './wtf8.ts';

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

type LeafEntries = (column: number) => StringEntries;

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
export class PlainStrings extends StringColumn {
  readonly strings: StringBlock;
  readonly #cache: (string | undefined)[] | undefined;

  constructor(strings: StringBlock, facts: EntryFacts) {
    super(facts);
    this.strings = strings;
    this.#cache = facts.size <= CACHED_ENTRIES_MAX ? [] : undefined;
  }

  override value(code: number): string {
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

  override writeJson(code: number, out: JsonWriter): void {
    const { bytes, offsets } = this.strings;
    out.stringBytes(bytes, offsets[code]!, offsets[code + 1]!);
  }
}

/** Hexadecimal digits or UUIDs, two digits a byte. */
class PackedStrings extends StringColumn {
  readonly uuids: Uint8Array | undefined;
  readonly #bytes: Uint8Array;
  readonly #isUuid: boolean;
  /** One entry as it is written. */
  readonly #text: Buffer;

  /** `digitCount`: of each entry; `undefined` for UUIDs. */
  constructor(bytes: Uint8Array, digitCount: number | undefined, facts: EntryFacts) {
    super(facts);
    this.#bytes = bytes;
    this.#isUuid = digitCount === undefined;
    this.uuids = this.#isUuid ? bytes : undefined;
    this.#text = Buffer.alloc(digitCount ?? UUID_LENGTH, '-');
  }

  override value(code: number): string {
    this.#unpack(code);
    return this.#text.toString('latin1');
  }

  range(code: number): ByteRange {
    this.#unpack(code);
    return { bytes: this.#text, start: 0, end: this.#text.length };
  }

  override writeJson(code: number, out: JsonWriter): void {
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
class FormStrings extends StringColumn {
  readonly #numbers: NumberValues;
  readonly #form: WordForm;

  constructor(numbers: NumberValues, form: WordForm, facts: EntryFacts) {
    super(facts);
    this.#numbers = numbers;
    this.#form = form;
  }

  override value(code: number): string {
    return this.#form.format(this.#numbers.value(code));
  }

  range(code: number): ByteRange {
    const bytes = Buffer.from(this.value(code), 'latin1');
    return { bytes, start: 0, end: bytes.length };
  }

  override writeJson(code: number, out: JsonWriter): void {
    out.raw('"');
    out.raw(this.value(code));
    out.raw('"');
  }
}

/** Each string is the end of another one. */
class SuffixStrings extends StringColumn {
  readonly #whole: StringEntries;
  readonly #sizes: UnsignedArray;

  constructor(whole: StringEntries, sizes: UnsignedArray, facts: EntryFacts) {
    super(facts);
    this.#whole = whole;
    this.#sizes = sizes;
  }

  range(code: number): ByteRange {
    const { bytes, end } = this.#whole.range(code);
    return { bytes, start: end - this.#sizes[code]!, end };
  }
}

/** Decompressed blocks kept: the newest rows of a run lie in two or three. */
const KEPT_BLOCKS_MAX = 8;

/** A block of strings, decompressed into memory that the next one in its place takes. */
type KeptBlock = StringBlock & { readonly index: number; readonly room: Uint8Array<ArrayBuffer> };

/** An entry is all there is to keep of a code. */
const ENTRY = 0;

/** Strings compressed in blocks. */
class DeflatedStrings extends StringColumn {
  readonly #bytes: Uint8Array;
  readonly #blockOffsets: Uint32Array;
  readonly #sizes: UnsignedArray;
  readonly #blockEntries: number;
  /** The block with index i is at i % KEPT_BLOCKS_MAX. */
  readonly #kept: (KeptBlock | undefined)[] = [];
  /** By code: the block of one that is asked for again may have gone. */
  readonly #texts = new RowTexts();

  constructor(
    source: SliceSource,
    packing: Extract<PackingFooter, { readonly kind: 'deflated' }>,
    facts: EntryFacts,
  ) {
    super(facts);
    this.#bytes = source.bytes(packing.bytes);
    this.#blockOffsets = source.unsigned32(packing.blockOffsets);
    this.#sizes = source.unsigned(packing.sizes, packing.sizeWidth);
    this.#blockEntries = packing.blockEntries;
  }

  range(code: number): ByteRange {
    const { bytes, offsets } = this.#block(Math.floor(code / this.#blockEntries));
    const entry = code % this.#blockEntries;
    return { bytes, start: offsets[entry]!, end: offsets[entry + 1]! };
  }

  override writeJson(code: number, out: JsonWriter, isKept = false): void {
    if (isKept && this.#texts.write(code, ENTRY, out)) return;
    const { bytes, start, end } = this.range(code);
    if (!isKept) {
      out.stringBytes(bytes, start, end);
      return;
    }
    const line = threadArrays.borrow(JsonBuffer, 0);
    line.stringBytes(bytes, start, end);
    const text = line.written();
    this.#texts.keep(code, ENTRY, text);
    out.rawBytes(text, 0, text.length);
    line.clear();
    threadArrays.giveBack(line);
  }

  #block(index: number): StringBlock {
    const place = index % KEPT_BLOCKS_MAX;
    const known = this.#kept[place];
    if (known?.index === index) return known;
    // Where the bytes are damaged, nothing is kept.
    this.#kept[place] = undefined;
    const block = this.#unpack(index, known?.room ?? NO_UINT8);
    this.#kept[place] = block;
    return block;
  }

  #unpack(index: number, kept: Uint8Array<ArrayBuffer>): KeptBlock {
    const offset = this.#blockOffsets[index]!;
    const first = index * this.#blockEntries;
    const count = Math.min(this.#blockEntries, this.size - first);
    const offsets = new Uint32Array(count + 1);
    for (let i = 0; i < count; i++) offsets[i + 1] = offsets[i]! + this.#sizes[first + i]!;
    const size = offsets[count]!;
    const packed = this.#bytes.subarray(offset, this.#blockOffsets[index + 1]!);
    const room = kept.length < size ? new Uint8Array(size) : kept;
    return { index, bytes: decodeDeflate(packed, size, room), offsets, room };
  }
}

/** A column of strings, as far as ranges of it are concerned. */
export interface RangedStrings {
  readonly entries: Dictionary;
  /** Whether the code at each position is the position. */
  readonly hasEntryEach: boolean;
  /** The code at each position, where these lie in an array. */
  readonly codes: UnsignedArray | undefined;
  /** The codes of consecutive positions, in an array of their own. */
  codesOf(start: number, count: number): Int32Array;
}

/**
 * Strings where they lie in a segment, at consecutive positions of a column. None is NULL. Nothing is
 * read, and the column not even opened, before somebody asks for codes or dictionary.
 */
export class StringRange {
  readonly kind = 'dictionary';
  readonly form = 'string range';
  readonly count: number;
  /** The position of the first. */
  readonly start: number;
  readonly #column: () => RangedStrings;
  #codes: Int32Array | undefined;

  constructor(column: () => RangedStrings, start: number, count: number) {
    this.#column = column;
    this.start = start;
    this.count = count;
  }

  get dictionary(): Dictionary {
    return this.#column().entries;
  }

  /** The code of the first, where those of the next follow it one by one. */
  get firstCode(): number | undefined {
    return this.#column().hasEntryEach ? this.start : undefined;
  }

  /** The codes of the whole column, from position 0, where they lie in an array. */
  get codesInPlace(): UnsignedArray | undefined {
    return this.#column().codes;
  }

  get codes(): Int32Array {
    this.#codes ??= this.#column().codesOf(this.start, this.count);
    return this.#codes;
  }
}

/**
 * How some strings begin, and how many of them do so: scheme and host of a URL with the byte behind, such as
 * `https://example.com/`. Each string has exactly one of these prefixes, the empty one if it has neither scheme nor host.
 */
export type StringPrefixes = ReadonlyMap<string, number>;

/** In the place of a byte: the string ends behind its head. */
const END = 0;

/**
 * The prefixes of strings that are taken apart; `undefined` where heads do not tell them, where some string is no more
 * than its head, or where there are more than `countMax`. Looks at each string: some milliseconds for a million.
 */
export function prefixesOf(split: SplitBlock, countMax: number): StringPrefixes | undefined {
  if (split.hasHeads !== true || split.heads.offsets.length - 1 > countMax) return undefined;
  const firsts = firstBytesOf(split);
  const { heads, headStarts, headCodes, shapeCodes } = split;
  const counts = new Map<string, number>();
  for (const [run, head] of headCodes.entries()) {
    const text = textAt(heads, head);
    const ofBytes = new Map<number, number>();
    const end = headStarts[run + 1] ?? shapeCodes.length;
    for (let code = headStarts[run]!; code < end; code++) {
      const known = firsts[shapeCodes[code]!]!;
      const byte = text === '' ? END : known === UNKNOWN ? firstByteOf(split, code) : known;
      ofBytes.set(byte, (ofBytes.get(byte) ?? 0) + 1);
    }
    for (const [byte, count] of ofBytes) {
      if (byte === END && text !== '') return undefined;
      assert(byte < 0x80, 'a head ends before a letter of ASCII');
      const prefix = byte === END ? '' : text + String.fromCharCode(byte);
      counts.set(prefix, (counts.get(prefix) ?? 0) + count);
    }
    if (counts.size > countMax) return undefined;
  }
  return counts;
}

/** Only the parts of a string tell. */
const UNKNOWN = -1;

/** By shape the first byte of the rests that have it. */
function firstBytesOf({ shapes: { bytes, offsets } }: SplitBlock): Int16Array {
  const firsts = new Int16Array(offsets.length - 1);
  for (let shape = 0; shape < firsts.length; shape++) {
    const start = offsets[shape]!;
    if (start === offsets[shape + 1]!) firsts[shape] = END;
    else firsts[shape] = isHole(bytes[start]!) ? UNKNOWN : must(bytes[start]);
  }
  return firsts;
}

function firstByteOf(split: SplitBlock, code: number): number {
  const { bytes, start, end } = split.rest(code);
  return start === end ? END : bytes[start]!;
}
