import { deflateRawSync } from 'node:zlib';
import { type Cut, cutRange } from './excerpt-strings.ts';
import { encodeNumbers, TRIPLE_MAX, Triples } from './number-values.ts';
import { DIGIT_VALUES, UUID_LENGTH } from './number-vectors.ts';
import { type BlockFooter, type SliceSink, type UnsignedArray, unsignedArray } from './slice.ts';
import { type ChooseShapes, chooseShapes } from './split-choice.ts';
import { encodeSplit } from './split-encoding.ts';
import { headEnd } from './split-shape.ts';
import {
  FORM_LENGTH_MAX,
  type PackingFooter,
  type StringsFooter,
  WORD_FORMS,
  type WordFormName,
} from './string-footer.ts';
import { encodeSignature } from './text-signature.ts';
import type { StringBlock } from './vector.ts';
import { decodeWtf8 } from './wtf8.ts';

/** Messages compressed as one block: larger packs better, smaller reads the newest few faster. */
const DEFLATED_BLOCK_ENTRIES = 64;

/** Bytes of an offset beside each plain entry. */
const OFFSET_SIZE = 4;
/** Shorter strings of digits do not repay a packing of their own. */
const HEX_DIGITS_MIN = 8;
/** Messages shorter than this on average, or fewer, are kept plain. */
const DEFLATED_SIZE_MIN = 32;
const DEFLATED_ENTRIES_MIN = 16;
/** Compression must save a quarter to be worth its reading. */
const DEFLATED_SHARE_MAX = 0.75;
/**
 * A predicate asks a dictionary for all of its strings, so one whose strings come again often stays as it is. Of
 * the others it is compressed when it is much of its column and most of it goes: names that are long and differ
 * in their last few characters.
 */
const DICTIONARY_BYTES_PER_VALUE_MIN = 2;
const DEFLATED_DICTIONARY_SHARE_MAX = 0.25;
/**
 * Higher levels take twice the time for a few per cent. Most blocks fit into one chunk; Node allocates at least one for
 * each block, of 16 KiB by default.
 */
const DEFLATE_OPTIONS = { level: 1, chunkSize: 4 * 1024 } as const;

/** A column of so many values per distinct one gets a dictionary: predicates run over that. */
const REPETITIONS_MIN = 16;
/** Shorter strings, on average, are not looked for at the end of others. */
const SUFFIX_SIZE_MIN = 16;

/** A leaf column that is plain or split, without codes: the string code of each of its values. */
export type WholeColumn = { readonly column: number; readonly values: Float64Array };

/** What may be done with the strings of a column. */
export type StringUse =
  /** Each as its bytes: digits and JSON are read in place. */
  | 'verbatim'
  /** Any packing that can be searched or made quickly. */
  | 'text'
  /** The same of a leaf column, in which a text may be looked for by its path. */
  | 'leaf'
  /** Long and nearly unique as a rule: may be compressed. */
  | 'message';

/**
 * Puts strings of an open segment, given by their codes, in the form that takes fewest bytes.
 * One encoder serves all columns of a segment: it keeps a table as long as the segment has strings.
 */
export class StringEncoder {
  readonly #sink: SliceSink;
  readonly #block: StringBlock;
  /** Entry of each string code, or -1; all -1 between calls. */
  readonly #entryOfCode: Int32Array;

  constructor(sink: SliceSink, block: StringBlock, stringCount: number) {
    this.#sink = sink;
    this.#block = block;
    this.#entryOfCode = new Int32Array(stringCount).fill(-1);
  }

  /** Bytes of the strings of `codes[0, count)`. */
  byteSize(codes: Float64Array, count: number): number {
    return this.#sizeOf(codes.subarray(0, count));
  }

  /**
   * The strings of `codes[0, count)`. `wholes`: columns with a value in the same rows, in whose
   * strings these may lie. `choose`: chooses the shapes of a leaf column.
   */
  encode(
    codes: Float64Array,
    count: number,
    use: StringUse,
    wholes: readonly WholeColumn[] = [],
    choose: ChooseShapes = chooseShapes,
  ): StringsFooter {
    const entries = new Int32Array(count);
    const distinct = this.#number(codes, count, entries);
    const digitCount = use === 'verbatim' ? 0 : this.#packableDigits(distinct);
    const direct = new Int32Array(codes.subarray(0, count));
    const bytesOf = (all: Int32Array): number =>
      digitCount === 0
        ? this.#sizeOf(all) + OFFSET_SIZE * all.length
        : packedSize(digitCount) * all.length;
    const codeArray = unsignedArray(distinct.length <= 1 ? 0 : count, distinct.length);
    const dictionaryBytes = bytesOf(distinct) + codeArray.byteLength;
    const directBytes = distinct.length === count ? bytesOf(distinct) : bytesOf(direct);
    const alone = { entryCount: count, isDistinct: distinct.length === count, codes: null };
    const isRepetitive = distinct.length * REPETITIONS_MIN <= count;
    const canBeOther = digitCount === 0 && !isRepetitive && use !== 'verbatim';
    if (canBeOther) {
      const isMessage = use === 'message' && dictionaryBytes > directBytes / 2;
      const packing =
        this.#form(direct) ??
        (isMessage ? this.#deflate(direct) : undefined) ??
        (dictionaryBytes >= directBytes ? this.#suffix(direct, wholes) : undefined);
      if (packing !== undefined) return { ...alone, packing };
    }
    const columnSize = Math.min(dictionaryBytes, directBytes);
    const split =
      use === 'leaf' && canBeOther
        ? encodeSplit(this.#sink, this.#block, direct, { sizeMax: columnSize, choose })
        : undefined;
    const signature =
      use === 'leaf' && canBeOther
        ? encodeSignature(this.#sink, this.#block, { codes: direct, columnSize })
        : undefined;
    if (split !== undefined) return { ...alone, packing: split, signature };
    if (dictionaryBytes >= directBytes)
      return { ...alone, packing: this.#pack(direct, digitCount), signature };
    for (let i = 0; i < codeArray.length; i++) codeArray[i] = entries[i]!;
    const deflated = canBeOther ? this.#deflateDictionary(distinct, count) : undefined;
    return {
      entryCount: distinct.length,
      isDistinct: true,
      codes: distinct.length === 1 ? 'constant' : this.#addCodes(codeArray, deflated !== undefined),
      packing: deflated ?? this.#pack(distinct, digitCount),
      signature,
    };
  }

  /** Of a dictionary that is not asked as a whole, codes may be such as cannot be scanned. */
  #addCodes(codes: UnsignedArray, mayBePicked: boolean): Exclude<StringsFooter['codes'], null> {
    const width = codes.BYTES_PER_ELEMENT as 1 | 2 | 4;
    if (mayBePicked && width === 4 && codes.length <= TRIPLE_MAX) {
      return { width: 3, slice: this.#sink.add(Triples.pack(codes)) };
    }
    return { width, slice: this.#sink.add(codes) };
  }

  /** `undefined` when it is not worth what it costs to read. */
  #deflateDictionary(distinct: Int32Array, valueCount: number): PackingFooter | undefined {
    const isLarge = this.#sizeOf(distinct) >= valueCount * DICTIONARY_BYTES_PER_VALUE_MIN;
    return isLarge ? this.#deflate(distinct, DEFLATED_DICTIONARY_SHARE_MAX) : undefined;
  }

  /** Whether predicates are best asked of a dictionary of the strings of `codes[0, count)`. */
  isRepetitive(codes: Float64Array, count: number): boolean {
    const distinct = this.#number(codes, count, new Int32Array(count));
    return distinct.length * REPETITIONS_MIN <= count;
  }

  /** Whether string `excerpt` is what a cut leaves of string `whole`. */
  isCut(cut: Cut, whole: number, excerpt: number): boolean {
    const { bytes, offsets } = this.#block;
    const end = offsets[whole + 1]!;
    const rest = { bytes, start: headEnd(bytes, offsets[whole]!, end), end };
    const range = cutRange(cut, rest);
    const start = offsets[excerpt]!;
    const size = offsets[excerpt + 1]! - start;
    if (range.end - range.start !== size) return false;
    for (let at = 0; at < size; at++) {
      if (bytes[start + at] !== bytes[range.start + at]) return false;
    }
    return true;
  }

  /** Distinct strings end to end; `entries[i]` becomes the entry of `codes[i]`. */
  encodeBlock(codes: Float64Array, count: number, entries: Int32Array): BlockFooter {
    const distinct = this.#number(codes, count, entries);
    const { bytes, offsets } = this.#join(distinct, 0, distinct.length);
    return {
      count: distinct.length,
      bytes: this.#sink.add(bytes),
      offsets: this.#sink.add(offsets),
    };
  }

  /** The texts of some strings, one after the other. */
  joinedTexts(codes: readonly number[]): string {
    const { bytes, offsets } = this.#block;
    return codes.map((code) => decodeWtf8(bytes, offsets[code]!, offsets[code + 1]!)).join('.');
  }

  /** Some strings end to end, in a block of their own that is not part of the segment yet. */
  blockOf(codes: Int32Array): StringBlock {
    return this.#join(codes, 0, codes.length);
  }

  /** The distinct codes in order of first appearance; `entries[i]` becomes the place of `codes[i]`. */
  #number(codes: Float64Array, count: number, entries: Int32Array): Int32Array {
    const entryOfCode = this.#entryOfCode;
    const distinct = new Int32Array(count);
    let distinctCount = 0;
    for (let i = 0; i < count; i++) {
      const code = codes[i]!;
      if (entryOfCode[code]! < 0) {
        distinct[distinctCount] = code;
        entryOfCode[code] = distinctCount++;
      }
      entries[i] = entryOfCode[code]!;
    }
    for (let entry = 0; entry < distinctCount; entry++) entryOfCode[distinct[entry]!] = -1;
    return distinct.slice(0, distinctCount);
  }

  #sizeOf(codes: Int32Array | Float64Array): number {
    const { offsets } = this.#block;
    let size = 0;
    for (let i = 0; i < codes.length; i++) size += offsets[codes[i]! + 1]! - offsets[codes[i]!]!;
    return size;
  }

  /** How many hexadecimal digits each string has, UUID if all are such; 0 when they do not pack. */
  #packableDigits(codes: Int32Array): number {
    if (codes.length === 0) return 0;
    const { bytes, offsets } = this.#block;
    const size = offsets[codes[0]! + 1]! - offsets[codes[0]!]!;
    if (size < HEX_DIGITS_MIN) return 0;
    const isUuid = size === UUID_LENGTH && bytes[offsets[codes[0]!]! + 8] === DASH;
    for (let i = 0; i < codes.length; i++) {
      const start = offsets[codes[i]!]!;
      if (offsets[codes[i]! + 1]! - start !== size) return 0;
      for (let at = 0; at < size; at++) {
        const isDash = isUuid && (at === 8 || at === 13 || at === 18 || at === 23);
        const byte = bytes[start + at]!;
        if (isDash ? byte !== DASH : DIGIT_VALUES[byte]! < 0) return 0;
      }
    }
    return isUuid ? UUID : size;
  }

  #pack(codes: Int32Array, digitCount: number): PackingFooter {
    if (digitCount === 0) {
      const { bytes, offsets } = this.#join(codes, 0, codes.length);
      return { kind: 'plain', bytes: this.#sink.add(bytes), offsets: this.#sink.add(offsets) };
    }
    const { bytes, offsets } = this.#block;
    const entrySize = packedSize(digitCount);
    const packed = new Uint8Array(codes.length * entrySize);
    for (let i = 0; i < codes.length; i++) {
      let digit = i * entrySize * 2;
      const end = offsets[codes[i]! + 1]!;
      for (let at = offsets[codes[i]!]!; at < end; at++) {
        if (bytes[at] === DASH) continue;
        packed[digit >> 1]! |= DIGIT_VALUES[bytes[at]!]! << ((digit & 1) === 0 ? 4 : 0);
        digit++;
      }
    }
    const slice = this.#sink.add(packed);
    if (digitCount === UUID) return { kind: 'uuid', bytes: slice };
    return { kind: 'hex', bytes: slice, digitCount };
  }

  /** As numbers; `undefined` when some string is not of the one form. */
  #form(codes: Int32Array): PackingFooter | undefined {
    if (codes.length === 0) return undefined;
    const names = Object.keys(WORD_FORMS) as WordFormName[];
    const first = this.#shortText(codes[0]!);
    if (first === undefined) return undefined;
    const name = names.find((candidate) => WORD_FORMS[candidate].parse(first) !== undefined);
    if (name === undefined) return undefined;
    const values = new Float64Array(codes.length);
    for (let i = 0; i < codes.length; i++) {
      const text = this.#shortText(codes[i]!);
      const value = text === undefined ? undefined : WORD_FORMS[name].parse(text);
      if (value === undefined) return undefined;
      values[i] = value;
    }
    return { kind: 'form', form: name, numbers: encodeNumbers(this.#sink, values, values.length) };
  }

  /** The string, unless it is longer than any form. */
  #shortText(code: number): string | undefined {
    const { bytes, offsets } = this.#block;
    const start = offsets[code]!;
    const end = offsets[code + 1]!;
    return end - start > FORM_LENGTH_MAX ? undefined : decodeWtf8(bytes, start, end);
  }

  /** As the ends of another column's strings; `undefined` when they lie in none. */
  #suffix(codes: Int32Array, wholes: readonly WholeColumn[]): PackingFooter | undefined {
    if (this.#sizeOf(codes) < codes.length * SUFFIX_SIZE_MIN) return undefined;
    const whole = wholes.find(({ values }) => this.#allEnd(values, codes));
    if (whole === undefined) return undefined;
    const sizes = this.#sizes(codes);
    const sizeWidth = sizes.BYTES_PER_ELEMENT as 1 | 2 | 4;
    return { kind: 'suffix', column: whole.column, sizes: this.#sink.add(sizes), sizeWidth };
  }

  #allEnd(wholes: Float64Array, ends: Int32Array): boolean {
    for (let i = 0; i < ends.length; i++) if (!this.#ends(wholes[i]!, ends[i]!)) return false;
    return true;
  }

  /** Whether string `whole` ends with string `end`. */
  #ends(whole: number, end: number): boolean {
    const { bytes, offsets } = this.#block;
    let at = offsets[whole + 1]!;
    let endAt = offsets[end + 1]!;
    if (at - offsets[whole]! < endAt - offsets[end]!) return false;
    while (endAt > offsets[end]!) if (bytes[--at] !== bytes[--endAt]) return false;
    return true;
  }

  #sizes(codes: Int32Array): UnsignedArray {
    const { offsets } = this.#block;
    let sizeMax = 0;
    for (const code of codes) sizeMax = Math.max(sizeMax, offsets[code + 1]! - offsets[code]!);
    const sizes = unsignedArray(codes.length, sizeMax + 1);
    for (let i = 0; i < codes.length; i++) sizes[i] = offsets[codes[i]! + 1]! - offsets[codes[i]!]!;
    return sizes;
  }

  /** `undefined` when that would not save enough. */
  #deflate(codes: Int32Array, shareMax = DEFLATED_SHARE_MAX): PackingFooter | undefined {
    const size = this.#sizeOf(codes);
    if (codes.length < DEFLATED_ENTRIES_MIN || size < codes.length * DEFLATED_SIZE_MIN) {
      return undefined;
    }
    const packed = new Uint8Array(Math.floor(size * shareMax));
    const blockOffsets = [0];
    let packedEnd = 0;
    for (let start = 0; start < codes.length; start += DEFLATED_BLOCK_ENTRIES) {
      const end = Math.min(start + DEFLATED_BLOCK_ENTRIES, codes.length);
      const block = deflateRawSync(this.#join(codes, start, end).bytes, DEFLATE_OPTIONS);
      if (packedEnd + block.length > packed.length) return undefined;
      // Copied: a block keeps the whole chunk alive that zlib wrote it to.
      packed.set(block, packedEnd);
      packedEnd += block.length;
      blockOffsets.push(packedEnd);
    }
    const sizes = this.#sizes(codes);
    return {
      kind: 'deflated',
      bytes: this.#sink.add(packed.slice(0, packedEnd)),
      blockOffsets: this.#sink.add(Uint32Array.from(blockOffsets)),
      sizes: this.#sink.add(sizes),
      sizeWidth: sizes.BYTES_PER_ELEMENT as 1 | 2 | 4,
      blockEntries: DEFLATED_BLOCK_ENTRIES,
    };
  }

  /** The strings `codes[start, end)` end to end. */
  #join(codes: Int32Array, start: number, end: number): StringBlock {
    const { bytes, offsets } = this.#block;
    const joinedOffsets = new Uint32Array(end - start + 1);
    for (let i = start; i < end; i++) {
      const size = offsets[codes[i]! + 1]! - offsets[codes[i]!]!;
      joinedOffsets[i - start + 1] = joinedOffsets[i - start]! + size;
    }
    const joined = new Uint8Array(joinedOffsets[end - start]!);
    let to = 0;
    for (let i = start; i < end; i++) {
      const to0 = offsets[codes[i]! + 1]!;
      for (let at = offsets[codes[i]!]!; at < to0; at++) joined[to++] = bytes[at]!;
    }
    return { bytes: joined, offsets: joinedOffsets };
  }
}

/** Stands for the digits of a UUID and its dashes. */
const UUID = -1;
const DASH = 0x2d;

/** Bytes of an entry packed by `#packableDigits`. */
function packedSize(digitCount: number): number {
  return digitCount === UUID ? 16 : Math.ceil(digitCount / 2);
}
