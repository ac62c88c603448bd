import { must } from '../assert.ts';
import { UUID_BYTES, UUID_LENGTH, unpackUuid } from '../column/packed-digits.ts';
import type { SqlValue } from '../column/value.ts';
import type { StringBlock } from '../column/vector.ts';
import { textAt } from '../column/wtf8.ts';
import { fromPortable, type PortableValue } from './portable-value.ts';
import { type PatternedTexts, textOfKey } from './text-patterns.ts';

/**
 * The distinct values of one column, fit for `postMessage`. `refs[i]` says where value `i` is: its place
 * among those of its form, and the form (`refTo`).
 */
export type DistinctValues = PlacedValues & { readonly refs: Int32Array };

/** Distinct values by their forms, each absent where there is none: most partial states are small. */
export type PlacedValues = {
  readonly numbers?: Float64Array | undefined;
  /** Strings, but for those among `patterned` and `uuids`. */
  readonly texts?: StringBlock | undefined;
  /** Strings with numbers in them. */
  readonly patterned?: PatternedTexts | undefined;
  /** Strings that are UUIDs in their canonical form: 16 bytes each. */
  readonly uuids?: Uint8Array | undefined;
  readonly others?: readonly OtherKey[] | undefined;
};

export type OtherKey = Exclude<PortableValue, number | string>;

export const NUMBER_FORM = 0;
export const TEXT_FORM = 1;
export const UUID_FORM = 2;
export const OTHER_FORM = 3;
export const PATTERN_FORM = 4;

const FORM_BITS = 3;
const FORM_COUNT = 2 ** FORM_BITS;

/** Values of one form: a place and its form are one integer of 32 bits, with a sign. */
export const PLACES_MAX = 2 ** (31 - FORM_BITS);

export function refTo(form: number, place: number): number {
  return place * FORM_COUNT + form;
}

export function formOf(ref: number): number {
  return ref & (FORM_COUNT - 1);
}

export function placeOf(ref: number): number {
  return ref >> FORM_BITS;
}

/** The value that `ref` is of. */
export function distinctValue(values: PlacedValues, ref: number): SqlValue {
  const place = placeOf(ref);
  switch (formOf(ref)) {
    case NUMBER_FORM:
      return must(values.numbers)[place]!;
    case TEXT_FORM:
      return textAt(must(values.texts), place);
    case PATTERN_FORM: {
      const { patterns, keys } = must(values.patterned);
      return textOfKey(patterns, keys[place]!);
    }
    case UUID_FORM:
      unpackUuid(must(values.uuids), place * UUID_BYTES, uuidText, 0);
      return uuidText.toString('latin1');
    default:
      return fromPortable(must(values.others)[place]!);
  }
}

/** One UUID as it is written. */
const uuidText = Buffer.alloc(UUID_LENGTH);
