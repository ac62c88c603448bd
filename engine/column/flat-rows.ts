import { assert, must } from '../assert.ts';
import { threadArrays } from './arrays.ts';
import type { JsonBuffer } from './json-buffer.ts';
import { type JsonTemplate, writeJsonText, writeSlot } from './json-template.ts';
import { RESIDUAL_COLUMN } from './leaf-plan.ts';
import { haveFlatForm, type NumbersFooter, type NumberValues } from './number-values.ts';
import { UUID_BYTES, UUID_LENGTH, unpackHex, unpackUuid } from './number-vectors.ts';
import { bitCount, firstAtLeast, type PositionsFooter } from './positions.ts';
import type { LeafFooter } from './sealed-layout.ts';
import type { LeafColumns } from './sealed-slot-store.ts';
import type { SlotStore } from './skeleton.ts';
import type { Slice, SliceSource, WholeSegment } from './slice.ts';
import {
  type PackingFooter,
  type StringsFooter,
  WORD_FORMS,
  type WordForm,
} from './string-footer.ts';
import { JSON_TEXT, TEXT } from './token.ts';
import { type ViewedBytes, viewed } from './wtf8.ts';

const QUOTE = 0x22;

/** Longer strings of digits do not fit an entry: the hash of 512 bits has 128. */
const DIGITS_MAX = 128;

/**
 * The rows of a sealed segment, each written through one table and whole arrays of
 * the segment. Stands in for `writeTemplate`, which reads slot after slot through the objects of each
 * column, and does what the table does not hold.
 *
 * What a row reads lies in some two hundred places far from each other, and each is waited for as main
 * memory; but the processor has many loads under way at once when none needs what another brings. So
 * a row is fetched in two rounds over all its slots, first codes and numbers, then strings; only then
 * is it written.
 */
export class FlatRows {
  readonly #columns: LeafColumns;
  readonly #leaves: readonly LeafFooter[];
  readonly #source: SliceSource;
  #segment: WholeSegment;
  readonly #table: { readonly entries: Uint32Array; readonly scales: Float64Array };
  readonly #slotColumns: Uint16Array;
  /** `undefined`: all are 0. */
  readonly #slotOrdinals: NumberValues | undefined;
  /** Keeps the loads of `#fetch` from being left out as useless. */
  #touched = 0;

  constructor(
    columns: LeafColumns,
    source: SliceSource,
    leaves: readonly LeafFooter[],
    skeletons: { readonly slotColumns: Uint16Array; readonly slotOrdinals: NumberValues },
  ) {
    this.#columns = columns;
    this.#source = source;
    this.#segment = source.whole();
    this.#leaves = leaves;
    this.#table = {
      entries: new Uint32Array(ENTRY_SIZE * leaves.length),
      scales: new Float64Array(2 * leaves.length),
    };
    this.#slotColumns = skeletons.slotColumns;
    this.#slotOrdinals = skeletons.slotOrdinals.isZero ? undefined : skeletons.slotOrdinals;
  }

  /** Writes a row by its template, the first of whose slots is at `place`. */
  write(
    template: JsonTemplate,
    row: number,
    place: number,
    store: SlotStore,
    out: JsonBuffer,
  ): void {
    const { text, textEnds, kinds } = template;
    const count = kinds.length;
    const slots = threadArrays.borrow(RowSlots, count);
    this.#locate(template, row, place, slots);
    this.#fetch(count, slots);
    let textStart = 0;
    for (let slot = 0; slot < count; slot++) {
      const textEnd = textEnds[slot]!;
      out.rawViewed(text, textStart, textEnd);
      textStart = textEnd;
      const packing = slots.packings[slot]!;
      const kind = kinds[slot]!;
      if (packing === PLAIN || packing === SUFFIX) this.#writeString(slots, slot, kind, out);
      else if (packing > NO_FLAT_FORM) this.#writePacked(slots, slot, packing, out);
      else writeSlot(store, kind, row, place + template.slots[slot]!, out);
    }
    out.rawViewed(text, textStart, textEnds[count]!);
    threadArrays.giveBack(slots);
  }

  /** The first round: position and integer of each slot. */
  #locate(template: JsonTemplate, row: number, firstPlace: number, slots: RowSlots): void {
    const slotColumns = this.#slotColumns;
    const { entries } = this.#table;
    const { columns, packings, positions, values } = slots;
    for (let slot = 0; slot < template.slots.length; slot++) {
      const place = firstPlace + template.slots[slot]!;
      const column = slotColumns[place]!;
      columns[slot] = column;
      packings[slot] = NO_FLAT_FORM;
      if (column === RESIDUAL_COLUMN) continue;
      const entry = ENTRY_SIZE * column;
      if (entries[entry] === UNOPENED) this.#open(column);
      packings[slot] = entries[entry]!;
      let position = this.#position(entry, row);
      if (this.#slotOrdinals !== undefined) position += this.#slotOrdinals.value(place);
      positions[slot] = position;
      values[slot] = this.#value(entry, position);
    }
  }

  /** The second round: where each string is, and its first byte. */
  #fetch(count: number, slots: RowSlots): void {
    const { entries } = this.#table;
    const { bytes, words } = this.#segment;
    const { columns, packings, positions, values, starts, ends } = slots;
    let touched = 0;
    for (let slot = 0; slot < count; slot++) {
      const packing = packings[slot]!;
      if (packing < PLAIN || packing >= FORM) continue;
      const entry = ENTRY_SIZE * columns[slot]!;
      const offsetsAt = entries[entry + OFFSETS_AT]!;
      let start = entries[entry + BYTES_AT]!;
      const value = values[slot]!;
      if (packing === PLAIN) {
        ends[slot] = start + words[offsetsAt + value + 1]!;
        start += words[offsetsAt + value]!;
      } else if (packing === SUFFIX) {
        const end = start + words[offsetsAt + positions[slot]! + 1]!;
        ends[slot] = end;
        start = end - value;
      } else {
        start += value * (packing === UUID ? UUID_BYTES : (offsetsAt + 1) >> 1);
      }
      starts[slot] = start;
      touched ^= bytes[start]!;
    }
    this.#touched ^= touched;
  }

  #writeString({ starts, ends }: RowSlots, slot: number, kind: number, out: JsonBuffer): void {
    const start = starts[slot]!;
    const end = ends[slot]!;
    if (kind === TEXT) out.stringViewed(this.#segment, start, end);
    else if (kind === JSON_TEXT) writeJsonText(out, this.#segment.bytes, start, end, true);
    else out.rawViewed(this.#segment, start, end);
  }

  /** What is neither a string as it is nor without a flat form. */
  #writePacked(slots: RowSlots, slot: number, packing: number, out: JsonBuffer): void {
    const column = slots.columns[slot]!;
    const { bytes } = this.#segment;
    if (packing === HEX) {
      const digitCount = this.#table.entries[ENTRY_SIZE * column + OFFSETS_AT]!;
      const { unpacked } = slots;
      const end = unpackHex(bytes, slots.starts[slot]!, digitCount, unpacked.bytes, 1);
      writeUnpacked(unpacked, end, out);
    } else if (packing === UUID) {
      const { unpacked } = slots;
      writeUnpacked(unpacked, unpackUuid(bytes, slots.starts[slot]!, unpacked.bytes, 1), out);
    } else if (packing >= FORM) {
      const form = must(FORMS[packing - FORM]);
      out.raw('"');
      form.write(this.#number(slots, slot, column, NUMBERS), out);
      out.raw('"');
    } else {
      out.number(this.#number(slots, slot, column, packing));
    }
  }

  #number(slots: RowSlots, slot: number, column: number, packing: number): number {
    const { entries, scales } = this.#table;
    const value = slots.values[slot]!;
    if (packing === NUMBERS) return scales[2 * column]! + scales[2 * column + 1]! * value;
    const at = entries[ENTRY_SIZE * column + BYTES_AT]!;
    if (packing === TABLE) return this.#segment.floats64[at + value]!;
    const index = at + slots.positions[slot]!;
    return packing === FLOATS_32 ? this.#segment.floats32[index]! : this.#segment.floats64[index]!;
  }

  /** Position of the row's first value. */
  #position(entry: number, row: number): number {
    const { entries } = this.#table;
    const kind = entries[entry + POSITIONS];
    if (kind === EVERY_ROW) return row;
    const { words } = this.#segment;
    const at = entries[entry + POSITIONS_AT]!;
    if (kind === BITMAP) {
      const below = words[at + (row >>> 5)]! & ((1 << (row & 31)) - 1);
      return words[entries[entry + RANKS_AT]! + (row >>> 5)]! + bitCount(below);
    }
    if (kind === SPARSE) return firstAtLeast(words, at, entries[entry + RANKS_AT]!, row);
    return words[at + row]!;
  }

  /** The integer that belongs to a position. */
  #value(entry: number, position: number): number {
    const { entries } = this.#table;
    const index = entries[entry + VALUES_AT]! + position;
    switch (entries[entry + WIDTH]) {
      case 0:
        return 0;
      case 1:
        return this.#segment.bytes[index]!;
      case 2:
        return this.#segment.shorts[index]!;
      case 4:
        return this.#segment.words[index]!;
      default:
        return position;
    }
  }

  #open(column: number): void {
    this.#columns.column(column);
    // An extract grows by each column that is opened.
    if (this.#segment.bytes.length < this.#source.size) this.#segment = this.#source.whole();
    // What is apart cannot be read by its place in the whole.
    if (this.#columns.hasApart) this.#table.entries[ENTRY_SIZE * column] = NO_FLAT_FORM;
    else writeEntry(this.#table, column, this.#leaves);
  }
}

/** `end`: of what was unpacked behind the first quote. */
function writeUnpacked(unpacked: ViewedBytes, end: number, out: JsonBuffer): void {
  unpacked.bytes[end] = QUOTE;
  out.rawViewed(unpacked, 0, end + 1);
}

/** What is known of each slot of the row that is being written. */
class RowSlots {
  readonly length: number;
  readonly columns: Uint16Array;
  readonly packings: Uint8Array;
  readonly positions: Int32Array;
  readonly values: Uint32Array;
  /** Of strings: the bytes in the segment. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** One unpacked string between quotes. */
  readonly unpacked = viewed(new Uint8Array(Math.max(DIGITS_MAX, UUID_LENGTH) + 2 + 4));

  constructor(length: number) {
    this.length = length;
    this.columns = new Uint16Array(length);
    this.packings = new Uint8Array(length);
    this.positions = new Int32Array(length);
    this.values = new Uint32Array(length);
    this.starts = new Uint32Array(length);
    this.ends = new Uint32Array(length);
    this.unpacked.bytes[0] = QUOTE;
  }
}

/**
 * Where the arrays of a leaf column lie, in eight unsigned integers: half a cache line, where the
 * objects of a `LeafColumn` take a dozen lines.
 *
 * ```
 *  entry of column c, at 8 c; all 0 until the column is opened
 * ┌─────────┬───────────┬──────────────┬──────────┬───────┬───────────┬────────────┬──────────┐
 * │ packing │ positions │ positions at │ ranks at │ width │ values at │ offsets at │ bytes at │
 * └─────────┴───────────┴──────────────┴──────────┴───────┴───────────┴────────────┴──────────┘
 * ```
 *
 * - `positions at`: index of the words of a bitmap (its ranks are at `ranks at`), of the rows of
 *   sparse values (so many are at `ranks at`), of offsets.
 * - `width`: bytes of the integer each position has, the first at index `values at`: a code, a number
 *   less its base, the size of a suffix. 0: all are 0. ITSELF: the position is its own code.
 * - `offsets at`: index of the offsets of strings; number of digits of hexadecimal ones.
 * - `bytes at`: index of the bytes of strings, of floats, or of a table of numbers.
 *
 * An index counts elements of its width from the start of the segment.
 */
const ENTRY_SIZE = 8;
const PACKING = 0;
const POSITIONS = 1;
const POSITIONS_AT = 2;
const RANKS_AT = 3;
const WIDTH = 4;
const VALUES_AT = 5;
const OFFSETS_AT = 6;
const BYTES_AT = 7;

const UNOPENED = 0;
/** The packing of what does not fit an entry. */
const NO_FLAT_FORM = 1;
const NUMBERS = 2;
const FLOATS_32 = 3;
const FLOATS_64 = 4;
const TABLE = 5;
const PLAIN = 6;
const SUFFIX = 7;
const HEX = 8;
const UUID = 9;
/** The packing of the first of FORMS; the others follow. */
const FORM = 10;

const EVERY_ROW = 0;
const BITMAP = 1;
const SPARSE = 2;
const OFFSETS = 3;

/** A width. */
const ITSELF = 8;

const FORM_NAMES = Object.keys(WORD_FORMS);
const FORMS: readonly WordForm[] = Object.values(WORD_FORMS);

/** Fills in the entry of one column. `scales`: base and step of the numbers of each column. */
function writeEntry(
  table: { readonly entries: Uint32Array; readonly scales: Float64Array },
  column: number,
  leaves: readonly LeafFooter[],
): void {
  const { positions, numbers, strings } = leaves[column]!;
  const start = ENTRY_SIZE * column;
  const entry = table.entries.subarray(start, start + ENTRY_SIZE);
  const scale = table.scales.subarray(2 * column, 2 * column + 2);
  setPositions(entry, positions);
  if (numbers !== null) entry[PACKING] = setNumbers(entry, scale, numbers);
  else if (strings?.packing.kind === 'form') entry[PACKING] = setForm(entry, scale, strings);
  else if (strings !== null) entry[PACKING] = setStrings(entry, strings, leaves);
  else throw new Error(`assertion failed: leaf column ${column} has numbers or strings`);
}

function setPositions(entry: Uint32Array, positions: PositionsFooter): void {
  switch (positions.kind) {
    case 'every-row':
      entry[POSITIONS] = EVERY_ROW;
      return;
    case 'bitmap':
      entry[POSITIONS] = BITMAP;
      entry[POSITIONS_AT] = indexOf(positions.words, 4);
      entry[RANKS_AT] = indexOf(positions.ranks, 4);
      return;
    case 'sparse':
      entry[POSITIONS] = SPARSE;
      entry[POSITIONS_AT] = indexOf(positions.rows, 4);
      entry[RANKS_AT] = positions.rows[1] / 4;
      return;
    case 'offsets':
      entry[POSITIONS] = OFFSETS;
      entry[POSITIONS_AT] = indexOf(positions.offsets, 4);
  }
}

/** This and those below give the packing. */
function setNumbers(entry: Uint32Array, scale: Float64Array, numbers: NumbersFooter): number {
  if (!haveFlatForm(numbers)) return NO_FLAT_FORM;
  const { encoding, slice, width, table } = numbers;
  scale[0] = numbers.base;
  scale[1] = numbers.step;
  if (slice !== null && (encoding === 'float32' || encoding === 'float64')) {
    entry[BYTES_AT] = indexOf(slice, width);
    return encoding === 'float32' ? FLOATS_32 : FLOATS_64;
  }
  setValues(entry, slice, width);
  if (table === undefined) return NUMBERS;
  entry[BYTES_AT] = indexOf(table, Float64Array.BYTES_PER_ELEMENT);
  return TABLE;
}

function setForm(
  entry: Uint32Array,
  scale: Float64Array,
  { packing, codes }: StringsFooter,
): number {
  assert(packing.kind === 'form', 'numbers in another dress');
  const isFlat = codes === null && setNumbers(entry, scale, packing.numbers) === NUMBERS;
  return isFlat ? FORM + FORM_NAMES.indexOf(packing.form) : NO_FLAT_FORM;
}

function setStrings(
  entry: Uint32Array,
  { codes, packing }: StringsFooter,
  leaves: readonly LeafFooter[],
): number {
  if (typeof codes === 'object' && codes?.width === 3) return NO_FLAT_FORM;
  if (codes === null) entry[WIDTH] = ITSELF;
  else if (codes !== 'constant') setValues(entry, codes.slice, codes.width);
  switch (packing.kind) {
    case 'plain':
      setBlock(entry, packing);
      return PLAIN;
    case 'hex':
      entry[OFFSETS_AT] = packing.digitCount;
      entry[BYTES_AT] = packing.bytes[0];
      return packing.digitCount <= DIGITS_MAX ? HEX : NO_FLAT_FORM;
    case 'uuid':
      entry[BYTES_AT] = packing.bytes[0];
      return UUID;
    case 'suffix': {
      const whole = leaves[packing.column]?.strings?.packing;
      assert(codes === null, 'each value of a column lies in one of another');
      if (whole?.kind !== 'plain') return NO_FLAT_FORM;
      setBlock(entry, whole);
      setValues(entry, packing.sizes, packing.sizeWidth);
      return SUFFIX;
    }
    default:
      return NO_FLAT_FORM;
  }
}

function setBlock(
  entry: Uint32Array,
  { bytes, offsets }: Extract<PackingFooter, { readonly kind: 'plain' }>,
): void {
  entry[OFFSETS_AT] = indexOf(offsets, 4);
  entry[BYTES_AT] = bytes[0];
}

function setValues(entry: Uint32Array, slice: Slice | null, width: number): void {
  entry[WIDTH] = slice === null ? 0 : width;
  entry[VALUES_AT] = slice === null ? 0 : indexOf(slice, width);
}

function indexOf([offset]: Slice, width: number): number {
  return offset / width;
}
