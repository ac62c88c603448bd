import { assert } from '../assert.ts';
import { newSegmentBuffer } from './arrays.ts';
import type { LeafClass } from './leaf-plan.ts';
import { type NumbersFooter, slicesOfNumbers } from './number-values.ts';
import type { PositionsFooter } from './positions.ts';
import { type BlockFooter, type Slice, SliceSink } from './slice.ts';
import type { SplitFooter } from './split-shape.ts';
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
/** Not raised for a new encoding or optional part, as segments of other versions are refused. See Upgrade in docs/operations.md. */
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

/**
 * One column of a sealed segment as damage sees it: all the slices it cannot be read without, those
 * of a column it lies in among them. A slice may belong to several columns.
 *
 * `structure` is what tells the rows apart: groups, skeletons, times, arrivals. Without it no row can
 * be told; without any other column the rows are there, and only its values are not.
 */
type SealedColumn = {
  readonly column: SealedColumnName;
  readonly slices: readonly Slice[];
};

/** Leaf columns go by their index among the leaves of the footer. */
export type SealedColumnName =
  | 'structure'
  | 'id'
  | 'event_message'
  | 'project'
  | 'residual'
  | number;

/** Every column of a segment, and with them every slice that is not empty. */
export function sealedColumnsOf(footer: SealedFooter): SealedColumn[] {
  return [
    { column: 'structure', slices: structureOf(footer) },
    { column: 'id', slices: stringColumn(footer.ids) },
    { column: 'event_message', slices: stringColumn(footer.messages) },
    { column: 'project', slices: stringColumn(footer.projects) },
    ...footer.leaves.map((leaf, column) => ({ column, slices: leafColumn(leaf, footer.leaves) })),
    {
      column: 'residual',
      slices: [
        ...positionsOf(footer.residual.positions),
        footer.residual.slots,
        ...blockOf(footer.residual.strings),
      ],
    },
  ];
}

/** The slices of a segment that are not empty, each once, in the order they lie in. */
export function sealedSlicesOf(footer: SealedFooter): Slice[] {
  const sliceAt = new Map<number, Slice>();
  for (const { slices } of sealedColumnsOf(footer)) {
    for (const slice of slices) if (slice[1] > 0) sliceAt.set(slice[0], slice);
  }
  return [...sliceAt.values()].sort((left, right) => left[0] - right[0]);
}

/** The slices of values, each once, in the order they lie in: not those of the structure, nor indexes of texts. */
export function listValueSlices(footer: SealedFooter): Slice[] {
  const others = structureOffsetsOf(footer);
  const indexes = new Set(
    [footer.ids, footer.messages, footer.projects, ...footer.leaves].flatMap(({ strings }) =>
      strings === null ? [] : indexesOf(strings).map(([offset]) => offset),
    ),
  );
  return sealedSlicesOf(footer).filter(([offset]) => !others.has(offset) && !indexes.has(offset));
}

/** What tells which strings hold a text. */
function indexesOf({ signature, packing }: StringsFooter): Slice[] {
  const slices: Slice[] = signature === undefined ? [] : [signature.bits];
  if (packing.kind !== 'split') return slices;
  return [...slices, packing.wordStarts, packing.wordEntries, packing.textEntries];
}

/** Where slices of the structure begin. */
export function structureOffsetsOf(footer: SealedFooter): ReadonlySet<number> {
  return new Set(structureOf(footer).map(([offset]) => offset));
}

function structureOf(footer: SealedFooter): Slice[] {
  const { groups, keys, skeletons, rowSkeletons, timestampsUs, arrivals } = footer;
  return [
    ...blockOf(groups.names),
    groups.starts,
    ...blockOf(keys),
    skeletons.tokens,
    skeletons.starts,
    skeletons.slotStarts,
    skeletons.slotColumns,
    ...slicesOfNumbers(skeletons.slotOrdinals),
    ...slicesOfNumbers(rowSkeletons),
    ...slicesOfNumbers(timestampsUs),
    ...slicesOfNumbers(arrivals),
  ];
}

function stringColumn({ positions, strings }: StringColumnFooter): Slice[] {
  return [...positionsOf(positions), ...stringsOf(strings)];
}

function leafColumn(leaf: LeafFooter, leaves: readonly LeafFooter[]): Slice[] {
  const { positions, numbers, strings } = leaf;
  const slices = [...positionsOf(positions)];
  if (numbers !== null) slices.push(...slicesOfNumbers(numbers));
  if (strings === null) return slices;
  slices.push(...stringsOf(strings));
  // A column lies in one that lies in no other: this goes one level deep.
  if (strings.packing.kind === 'suffix' || strings.packing.kind === 'excerpt') {
    slices.push(...leafColumn(leaves[strings.packing.column]!, leaves));
  }
  return slices;
}

function stringsOf({ codes, packing, signature }: StringsFooter): Slice[] {
  const slices: Slice[] = signature === undefined ? [] : [signature.bits];
  if (codes !== null && codes !== 'constant') slices.push(codes.slice);
  switch (packing.kind) {
    case 'plain':
      return [...slices, packing.bytes, packing.offsets];
    case 'hex':
    case 'uuid':
      return [...slices, packing.bytes];
    case 'deflated':
      return [...slices, packing.bytes, packing.blockOffsets, packing.sizes];
    case 'form':
      return [...slices, ...slicesOfNumbers(packing.numbers)];
    case 'suffix':
      return [...slices, packing.sizes];
    case 'excerpt':
      return slices;
    case 'split':
      return [...slices, ...splitOf(packing)];
  }
}

function splitOf(packing: SplitFooter): Slice[] {
  return [
    ...blockOf(packing.heads),
    packing.headStarts,
    packing.headCodes,
    ...blockOf(packing.shapes),
    packing.shapeCodes,
    packing.parts,
    packing.partSizes,
    packing.partStarts,
    ...blockOf(packing.words),
    packing.wordStarts,
    packing.wordEntries,
    ...(packing.wordPlaces === undefined ? [] : [packing.wordPlaces]),
    packing.textEntries,
  ];
}

function positionsOf(positions: PositionsFooter): Slice[] {
  switch (positions.kind) {
    case 'every-row':
      return [];
    case 'bitmap':
      return [positions.words, positions.ranks];
    case 'sparse':
      return [positions.rows];
    case 'offsets':
      return [positions.offsets];
  }
}

function blockOf({ bytes, offsets }: BlockFooter): Slice[] {
  return [bytes, offsets];
}
