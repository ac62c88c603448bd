import {
  ABSENT,
  BLOCK_NUMBERS,
  type BlockUses,
  FREQUENT_USES,
  HEADER_SIZE,
  type MemoryGauge,
  newBlockUses,
  newSegmentBuffer,
  READ_IN_PARTS_NUMBERS,
  RESIDENT,
  type SegmentBacking,
} from '../engine/columns.ts';
import { Slices, yieldToEventLoop } from './event-loop.ts';
import { COPY_SLICE_BYTES } from './limits.ts';
import { blockAt, blockSizeAt } from './segment-envelope.ts';
import type { SegmentFile } from './segment-file.ts';

/** The resident blocks of a stored segment. */
export type SegmentBlocks = {
  readonly buffer: SharedArrayBuffer;
  readonly backing: SegmentBacking;
};

/** The number of blocks of a segment file, plus one for its frame. */
function countStates({ envelope }: SegmentFile): number {
  return envelope.blocks.length / BLOCK_NUMBERS + 1;
}

/** State of a segment with no resident blocks. `uses`: the recorded uses of its blocks. */
export function absentBlocks(
  file: SegmentFile,
  gauge: MemoryGauge,
  uses: BlockUses = newBlockUses(countStates(file)),
): SegmentBlocks {
  return {
    buffer: newSegmentBuffer(file.envelope.imageSize),
    backing: newBacking(file, { gauge, uses }, ABSENT),
  };
}

/**
 * State of a segment with all blocks resident. `usedAt`: their last use, by the clock of the gauge. They count as frequent:
 * new rows are asked for most, and rows of a merge were in memory before.
 */
export function residentBlocks(
  file: SegmentFile,
  gauge: MemoryGauge,
  { buffer, usedAt }: { readonly buffer: SharedArrayBuffer; readonly usedAt: number },
): SegmentBlocks {
  const uses = newBlockUses(countStates(file));
  uses.usedAt.fill(usedAt);
  uses.useCounts.fill(FREQUENT_USES);
  const backing = newBacking(file, { gauge, uses }, RESIDENT);
  return { buffer, backing };
}

/** The number of blocks. The frame does not count; its index is the one after the last block. */
export function countBlocks({ blocks }: SegmentBacking): number {
  return blocks.length / BLOCK_NUMBERS;
}

/** Bytes of the resident blocks and the frame. */
export function measureResident({ buffer, backing }: SegmentBlocks): number {
  const { blocks, states } = backing;
  const count = countBlocks(backing);
  let size = states[count] === RESIDENT ? frameSize(buffer, backing) : 0;
  for (let block = 0; block < count; block++) {
    if (states[block] === RESIDENT) size += blockSizeAt(blocks, block);
  }
  return size;
}

/** The last use of any resident block, by the clock of the gauge. */
export function computeLastUse({ states, uses }: SegmentBacking): number {
  return uses.usedAt.reduce(
    (last, at, index) => (states[index] === RESIDENT ? Math.max(last, at) : last),
    0,
  );
}

/**
 * Copies the resident blocks without those that leave. Yields to the event loop between slices. Blocks that threads
 * read into the old buffer meanwhile may be missing from the new one.
 */
export async function copyWithout(
  { buffer, backing }: SegmentBlocks,
  leaving: ReadonlySet<number>,
): Promise<SegmentBlocks> {
  const { blocks, states } = backing;
  const copy: SegmentBlocks = {
    buffer: newSegmentBuffer(buffer.byteLength),
    backing: {
      ...backing,
      states: sharedIntegers(states.length),
      readInParts: sharedIntegers(READ_IN_PARTS_NUMBERS),
    },
  };
  const count = countBlocks(backing);
  const slices = new Slices(COPY_SLICE_BYTES);
  let copiedSize = 0;
  for (let index = 0; index <= count; index++) {
    if (leaving.has(index) || Atomics.load(states, index) !== RESIDENT) continue;
    const ranges: readonly Range[] =
      index === count ? frameRanges(buffer, backing) : [blockAt(blocks, index)];
    for (const { offset, size } of ranges) {
      for (let done = 0; done < size; done += slices.stepSize) {
        const part = Math.min(slices.stepSize, size - done);
        copyBytes(buffer, copy.buffer, { offset: offset + done, size: part });
        copiedSize += part;
        if (slices.isOver(copiedSize)) await yieldToEventLoop();
      }
    }
    copy.backing.states[index] = RESIDENT;
  }
  return copy;
}

type Range = { readonly offset: number; readonly size: number };

function copyBytes(from: SharedArrayBuffer, to: SharedArrayBuffer, range: Range): void {
  const { offset, size } = range;
  new Uint8Array(to, offset, size).set(new Uint8Array(from, offset, size));
}

/** The byte ranges of a segment's header and footer. */
function frameRanges(buffer: SharedArrayBuffer, backing: SegmentBacking): readonly Range[] {
  const offset = slicesEnd(backing);
  return [
    { offset: 0, size: HEADER_SIZE },
    { offset, size: buffer.byteLength - offset },
  ];
}

function frameSize(buffer: SharedArrayBuffer, backing: SegmentBacking): number {
  return HEADER_SIZE + buffer.byteLength - slicesEnd(backing);
}

function slicesEnd(backing: SegmentBacking): number {
  const count = countBlocks(backing);
  if (count === 0) return HEADER_SIZE;
  const { offset, size } = blockAt(backing.blocks, count - 1);
  return offset + size;
}

function newBacking(
  file: SegmentFile,
  { gauge, uses }: Pick<SegmentBacking, 'gauge' | 'uses'>,
  state: number,
): SegmentBacking {
  const { rowCount, timestampUsMin, timestampUsMax, imageSize, blocks, frame } = file.envelope;
  return {
    rowCount,
    timestampUsMin,
    timestampUsMax,
    imageSize,
    path: file.path,
    blocks,
    frame,
    states: sharedIntegers(countStates(file)).fill(state),
    uses,
    readInParts: sharedIntegers(READ_IN_PARTS_NUMBERS),
    gauge,
  };
}

function sharedIntegers(count: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(count * 4));
}
