import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  cutApart,
  cutStripes,
  orderInFile,
  type PlannedBlock,
} from '../../engine/column/packed-image.ts';
import { runsOf } from '../support/budget.ts';

type Planned = {
  readonly offset: number;
  readonly size: number;
  readonly blocks: readonly PlannedBlock[];
};

/** Slices as they lie in memory, some of them with values in the order of rows. */
const SLICES: fc.Arbitrary<Planned[]> = fc
  .array(
    fc.record({
      size: fc.integer({ min: 4_096, max: 500_000 }),
      blockSize: fc.constantFrom(2_048, 4_096, 8_192),
      isOfRows: fc.boolean(),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((slices) => {
    let end = 16;
    return slices.map(({ size, blockSize, isOfRows }) => {
      const offset = end;
      end += Math.ceil(size / 8) * 8;
      const cut = isOfRows ? cutStripes : cutApart;
      return { offset, size, blocks: cut([offset, size], blockSize) };
    });
  });

test('blocks cover their slice, each byte once, and are of about the size that is wanted', () => {
  const sizes = fc.tuple(
    fc.integer({ min: 1, max: 2_000_000 }),
    fc.integer({ min: 1_024, max: 9_000 }),
  );
  fc.assert(
    fc.property(sizes, ([size, blockSize]) => {
      for (const cut of [cutApart, cutStripes]) {
        let end = 80;
        for (const block of cut([80, size], blockSize)) {
          equal(block.offset, end);
          ok(block.size > 0 && block.size <= 1.5 * blockSize);
          end += block.size;
        }
        equal(end, 80 + size);
      }
    }),
    { numRuns: runsOf(2_000) },
  );
});

test('the file has every block once, and blocks of the same rows together, with no others between them', () => {
  const rows = fc
    .tuple(
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.double({ min: 1e-6, max: 0.2, noNaN: true }),
    )
    .map(([start, share]) => ({ start, end: Math.min(1, start + share) }));
  fc.assert(
    fc.property(SLICES, rows, (slices, { start, end }) => {
      const blocks = slices.flatMap((slice) => slice.blocks);
      const order = orderInFile(blocks);
      deepEqual(
        order.toSorted((one, other) => one - other),
        [...blocks.keys()],
      );
      const wanted = new Set(
        slices.flatMap(({ offset, size, blocks: own }) =>
          own.filter((block) => {
            if (block.stripeCount === 0) return false;
            const from = Math.floor(size * start);
            const to = Math.ceil(size * end);
            return block.offset + block.size - offset > from && block.offset - offset < to;
          }),
        ),
      );
      const counts = new Set(blocks.map(({ stripeCount }) => stripeCount));
      counts.delete(0);
      for (const stripeCount of counts) {
        const places = order.flatMap((index, rank) => {
          const block = blocks[index]!;
          return wanted.has(block) && block.stripeCount === stripeCount ? [rank] : [];
        });
        const between = order.slice(places[0], places.at(-1)! + 1).map((index) => blocks[index]!);
        const stripes = new Set(between.map((block) => block.stripe));
        ok(between.every((block) => block.stripeCount === stripeCount));
        // One more where the rows begin or end within a stripe, or beside where it ends in some slice.
        ok(stripes.size <= Math.ceil((end - start) * stripeCount) + 2, `${[...stripes]}`);
      }
    }),
    { numRuns: runsOf(2_000) },
  );
});
