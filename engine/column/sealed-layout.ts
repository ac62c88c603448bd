import { assert } from '../assert.ts';
import type { LeafClass } from './leaf-plan.ts';
import type { NumbersFooter } from './number-values.ts';
import type { PositionsFooter } from './positions.ts';
import { newSegmentBuffer } from './segment-buffer.ts';
import { type BlockFooter, type Slice, SliceSink } from './slice.ts';
import type { StringsFooter } from './string-footer.ts';

/**
 * A sealed segment is one buffer that means the same in memory and on disk. Numbers are
 * little-endian.
 *
 * ```
 *  0          4          8               12             16
 * ┌──────────┬──────────┬───────────────┬──────────────┬──────────────────────┬─────────────────┐
 * │ magic    │ version  │ footer offset │ footer size  │ slices: raw arrays,  │ footer: JSON,   │
 * │ u32      │ u32      │ u32           │ u32          │ each 8-byte aligned  │ SealedFooter    │
 * └──────────┴──────────┴───────────────┴──────────────┴──────────────────────┴─────────────────┘
 * ```
 *
 * The rows are sorted by (project key, timestamp, arrival) and so fall into *groups*: first the rows
 * without a project key, then one group for each key in the order of its bytes, last the rows of
 * mixed projects. Either end may be missing.
 *
 * Values of the root records lie in *leaf columns*, one for each path of keys and class of kind;
 * rare leaves share the *residual*. A row finds its values by its skeleton: slot `i` of skeleton `s`
 * has the place `slotStarts[s] + i`, and the value at a place is number `slotOrdinals[place]` among
 * the row's values in column `slotColumns[place]`.
 */
export type SealedFooter = {
  readonly rowCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  readonly arrivalMin: number;
  readonly arrivalMax: number;
  readonly groups: GroupsFooter;
  /** Keys of the tokens. */
  readonly keys: BlockFooter;
  readonly skeletons: {
    readonly tokens: Slice;
    /** First token of each skeleton, and the end: u32. */
    readonly starts: Slice;
    /** First place of each skeleton, and the end: u32. */
    readonly slotStarts: Slice;
    /** Column of each place, RESIDUAL_COLUMN for the residual: u16. */
    readonly slotColumns: Slice;
    readonly slotOrdinals: NumbersFooter;
  };
  /** Skeleton of each row. */
  readonly rowSkeletons: NumbersFooter;
  readonly timestampsUs: NumbersFooter;
  readonly arrivals: NumbersFooter;
  readonly ids: StringColumnFooter;
  readonly messages: StringColumnFooter;
  readonly projects: StringColumnFooter;
  readonly leaves: readonly LeafFooter[];
  readonly residual: ResidualFooter;
};

export type GroupsFooter = {
  readonly hasNone: boolean;
  readonly hasMixed: boolean;
  /** The project keys, in the order of their bytes. */
  readonly names: BlockFooter;
  /** First row of each group, and the end: u32. */
  readonly starts: Slice;
};

export type StringColumnFooter = {
  readonly positions: PositionsFooter;
  readonly strings: StringsFooter;
};

export type LeafFooter = {
  /** Keys from the root down, as indexes into `keys`. */
  readonly path: readonly number[];
  readonly leafClass: LeafClass;
  readonly positions: PositionsFooter;
  readonly numbers: NumbersFooter | null;
  readonly strings: StringsFooter | null;
  /**
   * Of a column with a signature: all columns in which lies what SQL may read as a text at its path. Absent where there
   * may be such outside of columns with signatures (a number, say), and in segments made before there was any.
   */
  readonly textSources?: readonly number[] | undefined;
  /**
   * Where each row has its first value in this column at the path, through records and lists of one record: at which depths
   * of the path these lists are. Absent where some rows have not, and in segments made before there was any.
   */
  readonly listDepths?: readonly number[] | undefined;
};

export type ResidualFooter = {
  readonly positions: PositionsFooter;
  /** Numbers, or indexes into `strings`: f64. */
  readonly slots: Slice;
  readonly strings: BlockFooter;
};

/** "WEIR" */
const MAGIC = 0x52494557;
const VERSION = 1;
/** Bytes before the first slice. */
export const HEADER_SIZE = 16;
/** Where the header has the size of the footer. */
export const FOOTER_SIZE_OFFSET = 12;

/** Where the arrays of a segment in the making are collected: they begin behind the header. */
export function newSliceSink(): SliceSink {
  return new SliceSink(HEADER_SIZE);
}

/** The whole segment: header, collected arrays, footer. */
export function writeSegment(slices: SliceSink, footer: SealedFooter): SharedArrayBuffer {
  const end = slices.place();
  const text = Buffer.from(JSON.stringify(footer), 'utf8');
  const size = end + text.length;
  assert(size < 2 ** 32, 'a sealed segment fits 32-bit offsets');
  const buffer = newSegmentBuffer(size);
  new Uint32Array(buffer, 0, 4).set([MAGIC, VERSION, end, text.length]);
  slices.copyTo(buffer);
  new Uint8Array(buffer, end).set(text);
  return buffer;
}

/** Throws when the buffer is not a sealed segment of this version. */
export function readFooter(buffer: SharedArrayBuffer): SealedFooter {
  const [magic, version, offset, size] = buffer.byteLength < HEADER_SIZE ? [] : headerOf(buffer);
  if (magic !== MAGIC || version !== VERSION || offset! + size! !== buffer.byteLength) {
    throw new Error(
      `a sealed segment begins with ${MAGIC}, ${VERSION} and ends with its footer; got ${magic}, ${version}, a footer of ${size} bytes at ${offset} of ${buffer.byteLength}`,
    );
  }
  return JSON.parse(Buffer.from(buffer, offset, size).toString('utf8')) as SealedFooter;
}

function headerOf(buffer: SharedArrayBuffer): number[] {
  return [...new Uint32Array(buffer, 0, 4)];
}
