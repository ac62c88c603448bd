import assert from 'node:assert/strict';
import { test } from 'node:test';
import { POOLED_BUFFER_BYTES_MAX } from '../../ingest/limits.ts';
import { MemoryPool } from '../../ingest/memory-pool.ts';

test('the buffers of an ended loan are lent again', () => {
  const pool = new MemoryPool();
  const first = pool.lend();
  const numbers = first.numbers(1_000);
  numbers[999] = 7;
  first.end();
  assert.equal(pool.freeBytes, 8_192);
  // Of the same order of size, whatever the type.
  const integers = pool.lend().integers(1_025);
  assert.equal(integers.buffer, numbers.buffer);
  assert.equal(integers.length, 2_048);
  assert.equal(pool.freeBytes, 0);
});

test('two loans under way share nothing', () => {
  const pool = new MemoryPool();
  const [left, right] = [pool.lend(), pool.lend()];
  assert.notEqual(left.bytes(100).buffer, right.bytes(100).buffer);
  left.end();
  assert.equal(pool.freeBytes, 1_024);
});

test('a buffer has at least the size asked for, and a power of two', () => {
  const loan = new MemoryPool().lend();
  for (const count of [0, 1, 127, 128, 129, 1_000_003]) {
    const { length, byteLength } = loan.numbers(count);
    assert.ok(length >= count);
    assert.equal(Math.log2(byteLength) % 1, 0);
  }
});

test('the pool keeps at most its limit, and no buffer that is too large', () => {
  const pool = new MemoryPool(3 * POOLED_BUFFER_BYTES_MAX);
  const loan = pool.lend();
  for (let count = 0; count < 4; count++) loan.bytes(POOLED_BUFFER_BYTES_MAX);
  loan.bytes(POOLED_BUFFER_BYTES_MAX + 1);
  loan.end();
  assert.equal(pool.freeBytes, 3 * POOLED_BUFFER_BYTES_MAX);
});

test('a loan that has ended lends nothing, and does not end again', () => {
  const loan = new MemoryPool().lend();
  loan.end();
  assert.throws(() => loan.bytes(1), /has not ended/);
  assert.throws(() => loan.end(), /ends once/);
});
