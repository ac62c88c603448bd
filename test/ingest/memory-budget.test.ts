import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  GAUGE_CLOCK,
  GAUGE_LIMIT,
  GAUGE_PASSING,
  GAUGE_RESIDENT,
  KIB,
} from '../../engine/column/segment-backing.ts';
import {
  BLOCKS_SHARE_MIN,
  EVICTION_SHARE,
  MERGE_BYTES_MAX,
  MERGE_STEP_BYTES_MIN,
  USE_CLOCK_TICKS,
} from '../../ingest/limits.ts';
import { type HeldMemory, MemoryBudget } from '../../ingest/memory-budget.ts';

const MB = 1024 * KIB;
const NOTHING: HeldMemory = { blocks: 0, unstored: 0, open: 0, queued: 0, index: 0 };

function budgetOf(memoryBytesMax: number, othersBytesMax = 0): MemoryBudget {
  return new MemoryBudget({ memoryBytesMax, othersBytesMax });
}

function measured(budget: MemoryBudget, held: Partial<HeldMemory>): void {
  budget.measured({ ...NOTHING, ...held }, budget.residentKib);
}

test('segments get the memory that the rest leaves, and at least their share', () => {
  const budget = budgetOf(800 * MB, 100 * MB);
  measured(budget, { open: 50 * MB, queued: 30 * MB, index: 20 * MB, blocks: 5 * MB });
  assert.equal(budget.segmentBytesMax, 600 * MB);
  assert.equal(budget.gauge[GAUGE_LIMIT], (600 * MB) / KIB);
  assert.equal(budget.gauge[GAUGE_RESIDENT], (5 * MB) / KIB);
  measured(budget, { open: 700 * MB });
  assert.equal(budget.segmentBytesMax, 800 * MB * BLOCKS_SHARE_MIN);
});

test('segments may use lent memory until less is lent', () => {
  const budget = budgetOf(800 * MB, 500 * MB);
  budget.lend(200 * MB);
  measured(budget, { blocks: 450 * MB });
  assert.deepEqual([budget.segmentBytesMax, budget.isOver], [500 * MB, false]);
  budget.lend(100 * MB);
  measured(budget, { blocks: 450 * MB });
  assert.deepEqual([budget.segmentBytesMax, budget.isOver], [400 * MB, true]);
  assert.equal(budget.shortage()?.needed, 50 * MB);
});

test('segments have what merges under way do not take, nor what these keep of segments that they have made', () => {
  const budget = budgetOf(800 * MB);
  measured(budget, { blocks: 600 * MB });
  budget.mergeBegins(100 * MB);
  budget.mergesKeep(50 * MB);
  assert.deepEqual([budget.segmentBytesMax, budget.isOver], [650 * MB, false]);
  // The memory of a step is free again before the next one keeps anything.
  const hasRoom = [150 * MB, 150 * MB + 1].map((size) => budget.hasRoomFor(size));
  assert.deepEqual(hasRoom, [true, false]);
  budget.mergesKeep(50 * MB);
  assert.deepEqual([budget.segmentBytesMax, budget.hasRoomFor(100 * MB + 1)], [600 * MB, false]);
  budget.mergesKeep(-100 * MB);
  budget.mergeEnds(100 * MB);
  assert.equal(budget.segmentBytesMax, 800 * MB);
});

test('a step of a merge takes a smaller part of the backlog than a segment that it makes may', () => {
  for (const memoryBytesMax of [128 * MB, 1024 * MB, 16_384 * MB]) {
    const { byteSize, stepSize } = budgetOf(memoryBytesMax).mergeBounds;
    assert.equal(byteSize, Math.min(MERGE_BYTES_MAX, memoryBytesMax / 8));
    assert.equal(stepSize, Math.max(MERGE_STEP_BYTES_MIN, memoryBytesMax / 32));
  }
});

test('nothing is evicted up to the limit, and above it the excess and a little more', () => {
  const budget = budgetOf(160 * MB);
  const spare = 160 * MB * EVICTION_SHARE;
  measured(budget, { blocks: 160 * MB });
  assert.deepEqual([budget.isOver, budget.shortage()], [false, undefined]);
  measured(budget, { blocks: 100 * MB, unstored: 60 * MB + 1 });
  assert.deepEqual([budget.isOver, budget.shortage()], [true, { needed: 1, wanted: spare + 1 }]);
});

test('after queries found no room, the next look evicts some blocks, once', () => {
  const budget = budgetOf(160 * MB);
  const spare = 160 * MB * EVICTION_SHARE;
  Atomics.add(budget.gauge, GAUGE_PASSING, 7);
  budget.tick();
  measured(budget, { blocks: 160 * MB });
  assert.deepEqual(budget.shortage(), { needed: 0, wanted: spare });
  assert.equal(budget.shortage(), undefined);
  // There is room already.
  Atomics.add(budget.gauge, GAUGE_PASSING, 7);
  budget.tick();
  measured(budget, { blocks: 160 * MB - spare });
  assert.equal(budget.shortage(), undefined);
  assert.equal(budget.stats(0).passingBytes, 14 * KIB);
});

test('the clock of uses advances every USE_CLOCK_TICKS ticks', () => {
  const budget = budgetOf(160 * MB);
  const steps = Array.from({ length: 2 * USE_CLOCK_TICKS }, () => budget.tick());
  assert.deepEqual(
    steps.flatMap((isStep, index) => (isStep ? [index + 1] : [])),
    [USE_CLOCK_TICKS, 2 * USE_CLOCK_TICKS],
  );
  assert.equal(budget.clock, 3);
  assert.equal(budget.gauge[GAUGE_CLOCK], 3);
});

test('blocks read during a measurement count, and cause another measurement', () => {
  const budget = budgetOf(160 * MB);
  const before = budget.residentKib;
  Atomics.add(budget.gauge, GAUGE_RESIDENT, 3);
  budget.measured({ ...NOTHING, blocks: 10 * KIB }, before);
  assert.equal(budget.gauge[GAUGE_RESIDENT], 13);
  assert.equal(budget.hasGrown, true);
  measured(budget, { blocks: 13 * KIB });
  assert.deepEqual([budget.gauge[GAUGE_RESIDENT], budget.hasGrown], [13, false]);
});

test('an exceeded limit is reported while nothing can be evicted', () => {
  const budget = budgetOf(160 * MB);
  measured(budget, { unstored: 200 * MB });
  budget.evicted({ blocks: 2, bytes: 5 });
  assert.equal(budget.stats(0).isExceeded, false);
  budget.evicted({ blocks: 0, bytes: 0 });
  assert.equal(budget.stats(0).isExceeded, true);
  measured(budget, { unstored: 160 * MB });
  const { isExceeded, evictedBlocks, evictedBytes } = budget.stats(0);
  assert.deepEqual([isExceeded, evictedBlocks, evictedBytes], [false, 2, 5]);
});

test('a merge takes an eighth of the memory, and no more than merges ever do', () => {
  assert.equal(budgetOf(64 * MB).mergeBounds.byteSize, 8 * MB);
  assert.equal(budgetOf(2 ** 40).mergeBounds.byteSize, MERGE_BYTES_MAX);
  assert.equal(MemoryBudget.unlimited().mergeBounds.byteSize, MERGE_BYTES_MAX);
});

test('a merge may take a quarter of what sealed segments have where the backlog leaves less, and they have less meanwhile', () => {
  const budget = budgetOf(160 * MB);
  assert.equal(budget.mergeRoom(0), 40 * MB);
  assert.equal(budget.mergeRoom(100 * MB), 100 * MB);
  budget.mergeBegins(40 * MB);
  measured(budget, { blocks: 160 * MB });
  assert.equal(budget.segmentBytesMax, 120 * MB);
  assert.equal(budget.shortage()?.needed, 40 * MB);
  // A smaller one between two steps of the long one, which has nothing in memory then.
  assert.equal(budget.mergeRoom(0), 40 * MB);
  budget.mergeBegins(20 * MB);
  measured(budget, {});
  assert.equal(budget.segmentBytesMax, 120 * MB);
  budget.mergeEnds(40 * MB);
  measured(budget, {});
  assert.equal(budget.segmentBytesMax, 140 * MB);
  budget.mergeEnds(20 * MB);
  measured(budget, {});
  assert.equal(budget.segmentBytesMax, 160 * MB);
});

test('without a limit nothing is evicted', () => {
  const budget = MemoryBudget.unlimited();
  measured(budget, { blocks: 2 ** 40, open: 2 ** 40 });
  assert.deepEqual([budget.isOver, budget.shortage()], [false, undefined]);
  assert.ok(budget.gauge[GAUGE_LIMIT]! > 0);
});
