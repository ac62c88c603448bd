import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  ABSENT,
  BLOCK_NUMBERS,
  GAUGE_EVICTED,
  KIB,
  newMemoryGauge,
  noteLeaving,
  noteUse,
  RESIDENT,
} from '../../engine/column/segment-backing.ts';
import { type BlockHolder, chooseLeaving, measureLeaving } from '../../ingest/eviction.ts';
import { USE_CLOCK_TICKS } from '../../ingest/limits.ts';
import { MemoryBudget } from '../../ingest/memory-budget.ts';
import type { SegmentBlocks } from '../../ingest/segment-blocks.ts';

const NOW = 9;

type Block = {
  readonly size: number;
  readonly usedAt: number;
  readonly isAbsent?: boolean;
  readonly isFrequent?: boolean;
};

function holder(name: string, blocks: readonly Block[]): BlockHolder & { readonly name: string } {
  const table = new Uint32Array(blocks.length * BLOCK_NUMBERS);
  let end = 16;
  for (const [index, { size }] of blocks.entries()) {
    table.set([end, size, end, size, 0], index * BLOCK_NUMBERS);
    end += size;
  }
  const backing = {
    ...{ rowCount: 1, timestampUsMin: 0, timestampUsMax: 0, path: name, frame: new Uint8Array(0) },
    imageSize: end,
    blocks: table,
    states: Int32Array.from([
      ...blocks.map(({ isAbsent }) => (isAbsent === true ? ABSENT : RESIDENT)),
      RESIDENT,
    ]),
    uses: {
      usedAt: Int32Array.from([...blocks.map(({ usedAt }) => usedAt), NOW]),
      useCounts: Uint8Array.from([...blocks.map(({ isFrequent }) => (isFrequent ? 2 : 1)), 1]),
      leftAt: new Int32Array(blocks.length + 1),
    },
    readInParts: new Int32Array(2),
    gauge: newMemoryGauge(0),
  };
  return { name, blocks: { buffer: new SharedArrayBuffer(end), backing } };
}

/** Memory with room for some blocks of one segment, of which some leave whenever another comes. */
class SmallMemory {
  readonly #blocks: SegmentBlocks;
  readonly #roomBytes: number;
  readonly #budget: MemoryBudget;

  constructor(blocks: SegmentBlocks, roomBytes: number) {
    this.#budget = new MemoryBudget({ memoryBytesMax: roomBytes, othersBytesMax: 0 });
    this.#blocks = { ...blocks, backing: { ...blocks.backing, gauge: this.#budget.gauge } };
    this.#blocks.backing.uses.useCounts.fill(0);
    this.#roomBytes = roomBytes;
  }

  startMinute(): void {
    for (let tick = 0; tick < USE_CLOCK_TICKS; tick++) this.#budget.tick();
  }

  /** Whether the block was missing. */
  read(block: number): boolean {
    const blocks = this.#blocks;
    const { states } = blocks.backing;
    const isMissing = states[block] === ABSENT;
    noteUse(blocks.backing, { first: block, end: block + 1 });
    states[block] = RESIDENT;
    const over = measureLeaving(blocks, 'all').bytes - this.#roomBytes;
    const shortage = { wanted: over, needed: over };
    const leaving = chooseLeaving([{ blocks }], shortage, this.#budget.clock).values().next().value;
    if (leaving === undefined || leaving === 'all') return isMissing;
    this.#budget.evicted(measureLeaving(blocks, leaving));
    for (const leaver of leaving) {
      noteLeaving(blocks.backing, leaver);
      states[leaver] = ABSENT;
    }
    return isMissing;
  }
}

/** What leaves, by name. */
function leaving(
  holders: readonly (BlockHolder & { readonly name: string })[],
  wanted: number,
  needed = 0,
): Record<string, 'all' | number[]> {
  const chosen = chooseLeaving(holders, { wanted, needed }, NOW);
  return Object.fromEntries(
    Array.from(chosen, ([{ name }, blocks]) => [name, blocks === 'all' ? 'all' : [...blocks]]),
  );
}

test('the least recently used blocks of all segments are evicted first, until enough bytes are free', () => {
  const old = holder('old', [
    { size: 100, usedAt: 1 },
    { size: 100, usedAt: 3 },
  ]);
  const young = holder('young', [
    { size: 100, usedAt: 2 },
    { size: 100, usedAt: 4 },
  ]);
  const both = [young, old];
  assert.deepEqual(leaving(both, 0), {});
  assert.deepEqual(leaving(both, 1), { old: [0] });
  assert.deepEqual(leaving(both, 100), { old: [0] });
  assert.deepEqual(leaving(both, 101), { young: [0], old: [0] });
  assert.deepEqual(leaving(both, 201), { young: [0], old: 'all' });
  assert.deepEqual(leaving(both, 10_000), { young: 'all', old: 'all' });
});

test('of blocks last used at the same time, whole segments are evicted, the first ones first', () => {
  const blocks = [
    { size: 10, usedAt: 5 },
    { size: 90, usedAt: 5 },
  ];
  const three = ['a', 'b', 'c'].map((name) => holder(name, blocks));
  assert.deepEqual(leaving(three, 1), { a: 'all' });
  assert.deepEqual(leaving(three, 100), { a: 'all' });
  assert.deepEqual(leaving(three, 101), { a: 'all', b: 'all' });
});

test('blocks used in the current minute are evicted only if nothing else is left', () => {
  const holders = [
    holder('now', [{ size: 100, usedAt: NOW }]),
    holder('before', [{ size: 100, usedAt: NOW - 1 }]),
  ];
  assert.deepEqual(leaving(holders, 150, 0), { before: 'all' });
  assert.deepEqual(leaving(holders, 150, 100), { before: 'all' });
  assert.deepEqual(leaving(holders, 150, 101), { now: 'all', before: 'all' });
});

test('blocks used in one minute are evicted before those used in several, until few are left', () => {
  const holders = [
    holder('again', [{ size: 100, usedAt: 1, isFrequent: true }]),
    holder('once', [
      { size: 50, usedAt: NOW },
      { size: 50, usedAt: NOW - 1 },
    ]),
  ];
  assert.deepEqual(leaving(holders, 50, 50), { once: [1] });
  assert.deepEqual(leaving(holders, 80, 80), { once: 'all' });
  assert.deepEqual(leaving(holders, 81, 81), { again: 'all', once: 'all' });
  // Nobody scans now: who has not come again for long leaves.
  const few = [holders[0]!, holder('few', [{ size: 10, usedAt: NOW - 1 }])];
  assert.deepEqual(leaving(few, 10), { again: 'all' });
});

test('a scan of ten times the memory does not evict blocks that are used each minute', () => {
  const ROOM = 50;
  const visited = Array.from({ length: 20 }, (_, index) => 5 * index);
  const blocks = Array.from({ length: 10 * ROOM }, () => ({
    size: KIB,
    usedAt: 0,
    isAbsent: true,
  }));
  const memory = new SmallMemory(holder('store', blocks).blocks, ROOM * KIB);
  let missedCount = 0;
  for (let minute = 1; minute <= 20; minute++) {
    memory.startMinute();
    for (const block of visited) if (memory.read(block) && minute > 2) missedCount += 1;
    for (let step = 0; step < 75; step++) {
      const block = (75 * minute + step) % blocks.length;
      if (block % 5 > 0) memory.read(block);
    }
  }
  assert.equal(missedCount, 0);
});

test('a block that is not resident is not evicted', () => {
  const { backing } = holder('store', [{ size: KIB, usedAt: 1, isAbsent: true }]).blocks;
  backing.gauge[GAUGE_EVICTED] = 7;
  noteLeaving(backing, 0);
  assert.equal(backing.uses.leftAt[0], 0);
  backing.states[0] = RESIDENT;
  noteLeaving(backing, 0);
  assert.equal(backing.uses.leftAt[0], 7);
});

test('segments that are not resident are neither evicted nor counted', () => {
  const one = holder('one', [
    { size: 100, usedAt: 1, isAbsent: true },
    { size: 100, usedAt: 2 },
    { size: 100, usedAt: 3 },
  ]);
  assert.deepEqual(leaving([one], 50), { one: [1] });
  assert.deepEqual(leaving([one], 101), { one: 'all' });
  assert.deepEqual(measureLeaving(one.blocks, 'all'), { blocks: 2, bytes: 200 });
  assert.deepEqual(measureLeaving(one.blocks, new Set([1])), { blocks: 1, bytes: 100 });
  assert.deepEqual(leaving([holder('none', [])], 1), {});
});

test('an eviction frees enough, at most a segment too much, and never a block used later than one that stays', () => {
  const block = fc.record({ size: fc.integer({ min: 1, max: 99 }), usedAt: fc.nat(NOW - 1) });
  const segments = fc.array(fc.array(block, { maxLength: 5 }), { maxLength: 6 });
  fc.assert(
    fc.property(segments, fc.nat(900), (contents, wanted) => {
      const holders = contents.map((blocks, index) => holder(String(index), blocks));
      const chosen = chooseLeaving(holders, { wanted, needed: 0 }, NOW);
      let left = 0;
      let youngest = -1;
      let oldestLeft = Number.POSITIVE_INFINITY;
      for (const [index, one] of holders.entries()) {
        const blocks = chosen.get(one);
        if (blocks !== undefined) left += measureLeaving(one.blocks, blocks).bytes;
        for (const [at, { usedAt }] of contents[index]!.entries()) {
          if (blocks === 'all' || blocks?.has(at) === true) youngest = Math.max(youngest, usedAt);
          else oldestLeft = Math.min(oldestLeft, usedAt);
        }
      }
      const total = contents.flat().reduce((sum, { size }) => sum + size, 0);
      assert.ok(left >= Math.min(wanted, total), `${left} of ${wanted} left`);
      const sizeMax = Math.max(
        0,
        ...contents.map((blocks) => blocks.reduce((sum, { size }) => sum + size, 0)),
      );
      assert.ok(left < wanted + sizeMax || left === 0, `${left} for ${wanted}`);
      assert.ok(youngest <= oldestLeft, `${youngest} left before ${oldestLeft}`);
    }),
  );
});
