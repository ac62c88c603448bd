import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  inFileOrder,
  planStretches,
  STRETCHES_SIZE_MAX,
  type Stretch,
  StretchRing,
} from '../../engine/column/file-blocks.ts';
import { BLOCK_NUMBERS, type BlockTable } from '../../engine/column/segment-backing.ts';
import { runsOf } from '../support/budget.ts';

const GAP_SIZE_MAX = 4 * 1024;
const STRETCH_SIZE_MAX = 256 * 1024;

type Stored = { readonly offset: number; readonly size: number };

function tableOf(blocks: readonly Stored[]): BlockTable {
  const table = new Uint32Array(blocks.length * BLOCK_NUMBERS);
  for (const [index, { offset, size }] of blocks.entries()) {
    table.set([0, 0, offset, size, 0], index * BLOCK_NUMBERS);
  }
  return table;
}

/** Blocks end to end in the file, in an order of its own. */
const STORED_BLOCKS: fc.Arbitrary<Stored[]> = fc
  .array(fc.integer({ min: 1, max: 16 * 1024 }), { minLength: 1, maxLength: 60 })
  .chain((sizes) => {
    let end = 100;
    const blocks = sizes.map((size) => {
      end += size;
      return { offset: end - size, size };
    });
    return fc.shuffledSubarray(blocks, { minLength: blocks.length });
  });

test('blocks that lie near each other are in one stretch, with little else, and others in none', () => {
  const wanted = STORED_BLOCKS.chain((blocks) =>
    fc.tuple(fc.constant(blocks), fc.subarray([...blocks.keys()])),
  );
  fc.assert(
    fc.property(wanted, ([blocks, indexes]) => {
      const table = tableOf(blocks);
      const order = inFileOrder(table, indexes);
      const offsets = order.map((index) => blocks[index]!.offset);
      deepEqual([...order].sort(), [...indexes].sort());
      deepEqual(
        offsets,
        offsets.toSorted((one, other) => one - other),
      );
      const stretchOf = planStretches(table, order);
      for (const [place, index] of order.entries()) {
        const { offset, size } = blocks[index]!;
        const stretch = stretchOf.get(index);
        const before = order[place - 1];
        const gap = before === undefined ? Infinity : offset - endOf(blocks[before]!);
        if (stretch === undefined || stretchOf.get(before!) !== stretch) {
          const start = stretchOf.get(before!)?.offset ?? blocks[before!]?.offset ?? -Infinity;
          ok(gap > GAP_SIZE_MAX || offset + size - start > STRETCH_SIZE_MAX);
        } else ok(gap <= GAP_SIZE_MAX);
        if (stretch === undefined) continue;
        ok(stretch.offset <= offset && offset + size <= stretch.offset + stretch.size);
        ok(stretch.size <= STRETCH_SIZE_MAX);
      }
      for (const stretch of new Set(stretchOf.values())) {
        const inside = order.filter((index) => stretchOf.get(index) === stretch);
        ok(inside.length > 1);
        equal(stretch.offset, blocks[inside[0]!]!.offset);
        equal(stretch.offset + stretch.size, endOf(blocks[inside.at(-1)!]!));
      }
    }),
    { numRuns: runsOf(2_000) },
  );
});

function endOf({ offset, size }: Stored): number {
  return offset + size;
}

test('the latest stretches are kept as long as there is room for them, and no others', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: STRETCH_SIZE_MAX }), { maxLength: 40 });
  fc.assert(
    fc.property(sizes, (all) => {
      const ring = new StretchRing();
      const read: Stretch[] = [];
      for (const [index, size] of all.entries()) {
        const stretch: Stretch = { offset: index, size };
        equal(ring.find(stretch), undefined);
        ring.read(stretch, (bytes) => bytes.fill(index + 1).length);
        read.push(stretch);
        let keptSize = 0;
        for (const [place, before] of [...read.entries()].reverse()) {
          keptSize += before.size;
          const bytes = ring.find(before);
          // Room that is left at the end of the ring is less than one stretch.
          if (keptSize <= STRETCHES_SIZE_MAX - STRETCH_SIZE_MAX) ok(bytes !== undefined);
          if (keptSize > STRETCHES_SIZE_MAX) equal(bytes, undefined);
          if (bytes === undefined) continue;
          equal(bytes.length, before.size);
          ok(bytes.every((byte) => byte === place + 1));
        }
      }
    }),
    { numRuns: runsOf(100) },
  );
});

test('of a stretch that the file ends in, what was read is kept', () => {
  const ring = new StretchRing();
  const stretch: Stretch = { offset: 0, size: 1_000 };
  equal(ring.read(stretch, () => 10).length, 10);
  equal(ring.find(stretch)?.length, 10);
});
