import { ALIGNMENT, type Slice } from './slice.ts';

/** A part of a slice, or some small slices, that will be a block of a file. */
export type PlannedBlock = {
  /** Place in memory. */
  readonly offset: number;
  readonly size: number;
  /** How many blocks the slice has, each with the values of so much of the rows; 0 where blocks do not follow the rows. */
  readonly stripeCount: number;
  readonly stripe: number;
};

/** A block that does not follow the rows. */
export function apart([offset, size]: Slice): PlannedBlock {
  return { offset, size, stripeCount: 0, stripe: 0 };
}

export function cutApart([offset, size]: Slice, blockSize: number): PlannedBlock[] {
  return Array.from({ length: Math.ceil(size / blockSize) }, (_, index) => {
    const start = index * blockSize;
    return apart([offset + start, Math.min(blockSize, size - start)]);
  });
}

/**
 * Blocks of about `blockSize` bytes: 1, 2, 4, 8 … of them. So the values of a row are in the same stripe of all slices with as
 * many blocks, if values lie in the order of rows.
 */
export function cutStripes([offset, size]: Slice, blockSize: number): PlannedBlock[] {
  const stripeCount = 2 ** Math.max(0, Math.round(Math.log2(size / blockSize)));
  const startOf = (stripe: number): number =>
    stripe === stripeCount ? size : alignedDown((size * stripe) / stripeCount);
  return Array.from({ length: stripeCount }, (_, stripe) => {
    const start = startOf(stripe);
    return { offset: offset + start, size: startOf(stripe + 1) - start, stripeCount, stripe };
  });
}

function alignedDown(offset: number): number {
  return Math.floor(offset / ALIGNMENT) * ALIGNMENT;
}

/**
 * Indexes of blocks in the order of the file: first those that do not follow the rows, in the order of memory; then slices of one
 * block, of two, of four and so on. Among these the first stripe of all slices lies before the second.
 */
export function orderInFile(blocks: readonly PlannedBlock[]): readonly number[] {
  const keys = ['stripeCount', 'stripe', 'offset'] as const;
  return [...blocks.keys()].sort((one, other) => {
    const key = keys.find((each) => blocks[one]![each] !== blocks[other]![each]);
    return key === undefined ? 0 : blocks[one]![key] - blocks[other]![key];
  });
}
