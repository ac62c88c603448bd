import { assert } from '../assert.ts';
import type { NumbersFooter } from './number-values.ts';
import type { PositionsFooter } from './positions.ts';
import type { LeafFooter } from './sealed-layout.ts';
import type { Slice } from './slice.ts';
import type { PackingFooter, StringsFooter } from './string-footer.ts';
import { WORD_FORMS, type WordForm } from './word-forms.ts';

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
export const ENTRY_SIZE = 8;
const PACKING = 0;
export const POSITIONS = 1;
export const POSITIONS_AT = 2;
export const RANKS_AT = 3;
export const WIDTH = 4;
export const VALUES_AT = 5;
export const OFFSETS_AT = 6;
export const BYTES_AT = 7;

export const UNOPENED = 0;
/** The packing of what does not fit an entry. */
export const NO_FLAT_FORM = 1;
export const NUMBERS = 2;
export const FLOATS_32 = 3;
const FLOATS_64 = 4;
export const TABLE = 5;
export const PLAIN = 6;
export const SUFFIX = 7;
export const HEX = 8;
export const UUID = 9;
/** The packing of the first of FORMS; the others follow. */
export const FORM = 10;

export const EVERY_ROW = 0;
export const BITMAP = 1;
export const SPARSE = 2;
const OFFSETS = 3;

/** A width. */
const ITSELF = 8;

/** Longer strings of digits do not fit an entry: the hash of 512 bits has 128. */
export const DIGITS_MAX = 128;

const FORM_NAMES = Object.keys(WORD_FORMS);
export const FORMS: readonly WordForm[] = Object.values(WORD_FORMS);

/** Fills in the entry of one column. `scales`: base and step of the numbers of each column. */
export function writeEntry(
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
  const { encoding, slice, width } = numbers;
  scale[0] = numbers.base;
  scale[1] = numbers.step;
  if (slice !== null && (encoding === 'float32' || encoding === 'float64')) {
    entry[BYTES_AT] = indexOf(slice, width);
    return encoding === 'float32' ? FLOATS_32 : FLOATS_64;
  }
  setValues(entry, slice, width);
  if (numbers.table === undefined) return NUMBERS;
  entry[BYTES_AT] = indexOf(numbers.table, Float64Array.BYTES_PER_ELEMENT);
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
