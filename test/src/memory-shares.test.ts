import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ANSWER_BYTES_MAX } from '../../engine/limits.ts';
import { BODY_BYTES_MAX } from '../../ingest/limits.ts';
import {
  BESIDE_BYTES,
  defaultCacheBytes,
  defaultMemoBytes,
  divideMemory,
  lentBytes,
  MEMORY_BYTES_MIN,
  type MemoryDivision,
  sumLendable,
  sumShares,
} from '../../src/memory-shares.ts';

const MEBIBYTE = 1024 * 1024;

/** Divides with the default caches. */
function divided(memoryBytesMax: number, workerCount: number): MemoryDivision {
  return divideMemory({
    ...{ memoryBytesMax, workerCount },
    cacheBytesMax: defaultCacheBytes(memoryBytesMax),
    memoBytesMax: defaultMemoBytes(memoryBytesMax),
  });
}

/** From the smallest limit to 4 TiB, on a logarithmic scale. */
const limits = fc
  .double({ min: Math.log2(MEMORY_BYTES_MIN), max: 42, noNaN: true })
  .map((power) => Math.floor(2 ** power));

test('all shares together are at most MEMORY_LIMIT plus the allowance beside it', () => {
  fc.assert(
    fc.property(limits, fc.integer({ min: 1, max: 256 }), (memoryBytesMax, workerCount) => {
      const { shares } = divided(memoryBytesMax, workerCount);
      assert.ok(Object.values(shares).every((bytes) => bytes >= 0));
      assert.ok(sumShares(shares) <= memoryBytesMax + BESIDE_BYTES);
    }),
  );
  for (const workerCount of [1, 2, 256]) {
    assert.ok(
      sumShares(divided(MEMORY_BYTES_MIN, workerCount).shares) <= MEMORY_BYTES_MIN + BESIDE_BYTES,
    );
  }
});

test('the store gets what all others leave, and at least its own shares', () => {
  fc.assert(
    fc.property(limits, fc.integer({ min: 1, max: 256 }), (memoryBytesMax, workerCount) => {
      const { shares, storeBytesMax } = divided(memoryBytesMax, workerCount);
      const { backlog, segments, ...others } = shares;
      assert.ok(storeBytesMax >= backlog + segments);
      assert.ok(sumShares(others) + storeBytesMax <= memoryBytesMax + BESIDE_BYTES + 1);
    }),
  );
});

test('more memory never shrinks a share of queries, bodies, answers or segments', () => {
  fc.assert(
    fc.property(limits, limits, (one, other) => {
      const [less, more] = [divided(Math.min(one, other), 2), divided(Math.max(one, other), 2)];
      for (const name of ['queries', 'bodies', 'answers', 'segments', 'backlog'] as const) {
        assert.ok(less.shares[name] <= more.shares[name] + 1_024, name);
      }
    }),
  );
});

test('loans and owners together stay within the shares, and half of the rest stays free', () => {
  const part = fc.double({ min: 0, max: 2, noNaN: true });
  fc.assert(
    fc.property(limits, part, part, part, (memoryBytesMax, used, resident, lent) => {
      const division = divided(memoryBytesMax, 2);
      const { shares } = division;
      const lendableBytes = sumLendable(shares);
      const usedBytes = used * lendableBytes;
      const bytes = lentBytes(division, {
        ...{ memoryBytesMax, usedBytes, residentBytes: resident * memoryBytesMax },
        lentBytes: lent * lendableBytes,
      });
      assert.ok(
        lendableBytes <= sumShares(shares) - shares.process - shares.threads - shares.backlog,
      );
      assert.ok(bytes >= 0 && 2 * bytes <= Math.max(0, lendableBytes - usedBytes));
    }),
  );
});

test('once the process takes MEMORY_LIMIT, loans shrink by a quarter of the excess each second', () => {
  const memoryBytesMax = 1024 * MEBIBYTE;
  const division = divided(memoryBytesMax, 2);
  const lentFrom = (residentMib: number): number => {
    const residentBytes = residentMib * MEBIBYTE;
    const now = { memoryBytesMax, residentBytes, usedBytes: 0, lentBytes: 100 * MEBIBYTE };
    return lentBytes(division, now) / MEBIBYTE;
  };
  assert.deepEqual([944, 1024, 1064, 1124, 1224].map(lentFrom), [110, 100, 90, 75, 50]);
});

test('with little memory, the longest body is accepted, also beside bodies of other tenants', () => {
  const { shares } = divided(MEMORY_BYTES_MIN, 2);
  assert.ok(shares.bodies > 2 * BODY_BYTES_MAX);
});

test('fewer threads run queries if there is no room for all', () => {
  assert.equal(divided(256 * MEBIBYTE, 2).workerCount, 1);
  assert.equal(divided(512 * MEBIBYTE, 2).workerCount, 2);
  assert.equal(divided(512 * MEBIBYTE, 64).workerCount, 2);
  assert.ok(divided(8192 * MEBIBYTE, 64).workerCount >= 8);
});

test('one thread is always reserved for a parked query', () => {
  fc.assert(
    fc.property(limits, fc.integer({ min: 1, max: 256 }), (memoryBytesMax, workerCount) => {
      const { poolLimits, workerCount: count } = divided(memoryBytesMax, workerCount);
      assert.ok(poolLimits.parkedMax >= 1 && poolLimits.parkedMax <= 2 * count);
    }),
  );
});

test('from 2 GiB on, a thread can seal beside a parked merge', () => {
  assert.equal(divided(2048 * MEBIBYTE, 2).poolLimits.backgroundMax, 2);
  assert.equal(divided(256 * MEBIBYTE, 2).poolLimits.backgroundMax, 1);
});

test('from 4 GiB on, answers reach their maximum length', () => {
  assert.equal(divided(4096 * MEBIBYTE, 2).poolLimits.answerBytesMax, ANSWER_BYTES_MAX);
  assert.equal(divided(256 * MEBIBYTE, 2).poolLimits.answerBytesMax, 4 * MEBIBYTE);
});

test('caches set larger than the available room leave nothing to spare', () => {
  const { shares, storeBytesMax, spareBytes } = divideMemory({
    ...{ memoryBytesMax: 1024 * MEBIBYTE, workerCount: 2 },
    ...{ cacheBytesMax: 2048 * MEBIBYTE, memoBytesMax: 0 },
  });
  assert.ok(spareBytes < 0);
  assert.equal(storeBytesMax, shares.backlog + shares.segments);
});

test('from 2 GiB on, there is room for the decoding thread', () => {
  const { shares, spareBytes } = divided(2048 * MEBIBYTE, 2);
  assert.ok(shares.decodingThread > 8 * BODY_BYTES_MAX);
  assert.ok(spareBytes > 0);
});

test('the longest body can be decoded, however little memory there is', () => {
  fc.assert(
    fc.property(limits, (memoryBytesMax) => {
      const { heapBytesMax, loanBytesMax } = divided(memoryBytesMax, 2).decodingBounds;
      assert.ok(heapBytesMax > 8 * BODY_BYTES_MAX && loanBytesMax > 8 * BODY_BYTES_MAX);
    }),
  );
});
