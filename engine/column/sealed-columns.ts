import type { NumbersFooter } from './number-values.ts';
import type { PositionsFooter } from './positions.ts';
import type { LeafFooter, SealedFooter, StringColumnFooter } from './sealed-layout.ts';
import type { BlockFooter, Slice } from './slice.ts';
import type { SplitFooter } from './split-footer.ts';
import type { StringsFooter } from './string-footer.ts';

/**
 * One column of a sealed segment as damage sees it: all the slices it cannot be read without, those
 * of a column it lies in among them. A slice may belong to several columns.
 *
 * `structure` is what tells the rows apart: groups, skeletons, times, arrivals. Without it no row can
 * be told; without any other column the rows are there, and only its values are not.
 */
export type SealedColumn = {
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
    ...numbersOf(skeletons.slotOrdinals),
    ...numbersOf(rowSkeletons),
    ...numbersOf(timestampsUs),
    ...numbersOf(arrivals),
  ];
}

function stringColumn({ positions, strings }: StringColumnFooter): Slice[] {
  return [...positionsOf(positions), ...stringsOf(strings)];
}

function leafColumn(leaf: LeafFooter, leaves: readonly LeafFooter[]): Slice[] {
  const { positions, numbers, strings } = leaf;
  const slices = [...positionsOf(positions)];
  if (numbers !== null) slices.push(...numbersOf(numbers));
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
      return [...slices, ...numbersOf(packing.numbers)];
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

function numbersOf({ slice, table }: NumbersFooter): Slice[] {
  return [slice, table].filter((each) => each != null);
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
