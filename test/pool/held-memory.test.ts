import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldMemory } from '../../engine/pool/heap-guard.ts';

const KIB = 1024;

test('adds up what threads noted last, in whole KiB', () => {
  const memory = HeldMemory.create(100 * KIB, 3);
  const [first, second] = [memory.join(7), memory.join(8)];
  memory.note(first!, 10 * KIB);
  memory.note(second!, 1);
  memory.noteKept(first!, 5 * KIB);
  memory.noteKept(second!, 7 * KIB);
  assert.deepEqual([memory.heldBytes, memory.keptBytes], [11 * KIB, 12 * KIB]);
  memory.note(first!, 2 * KIB);
  assert.equal(memory.heldBytes, 3 * KIB);
});

test('one thread is the largest, the first of equal ones', () => {
  const memory = HeldMemory.create(100 * KIB, 2);
  const [first, second] = [memory.join(7)!, memory.join(8)!];
  assert.deepEqual([memory.isLargest(first), memory.isLargest(second)], [true, false]);
  memory.note(second, KIB);
  assert.deepEqual([memory.isLargest(first), memory.isLargest(second)], [false, true]);
  memory.note(first, KIB);
  assert.deepEqual([memory.isLargest(first), memory.isLargest(second)], [true, false]);
});

test('what a thread held is free once it has ended, and so is its slot', () => {
  const memory = HeldMemory.create(100 * KIB, 2);
  const [ended, other] = [memory.join(7)!, memory.join(8)!];
  memory.note(ended, 5 * KIB);
  memory.note(other, 3 * KIB);
  memory.noteKept(ended, 5 * KIB);
  assert.equal(memory.join(9), undefined);
  memory.forgetAllBut([8]);
  assert.deepEqual([memory.heldBytes, memory.keptBytes], [3 * KIB, 0]);
  assert.equal(memory.join(9), ended);
});

test('threads share it by what is sent to them', () => {
  const memory = HeldMemory.create(100 * KIB, 2);
  const elsewhere = new HeldMemory(structuredClone(memory.use));
  elsewhere.note(elsewhere.join(7)!, 4 * KIB);
  assert.equal(memory.heldBytes, 4 * KIB);
});
