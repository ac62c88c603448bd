import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { runInt32, runMemory } from '../../engine/column/arrays.ts';

const LENGTH = 32_768;
const BYTES = LENGTH * Int32Array.BYTES_PER_ELEMENT;

beforeEach(() => {
  runMemory.forget();
  runMemory.begin();
});

function nextRun(keptBytesMax = BYTES): void {
  runMemory.end(keptBytesMax);
  runMemory.begin();
}

test('large arrays have the memory of those of the run before, and are zeros', () => {
  const before = runInt32(LENGTH).fill(7);
  notEqual(runInt32(LENGTH).buffer, before.buffer, 'no memory is used twice in a run');
  nextRun(2 * BYTES);
  const [one, other] = [runInt32(LENGTH - 1), runInt32(LENGTH)];
  notEqual(one.buffer, other.buffer);
  equal(
    [one, other].some(({ buffer }) => buffer === before.buffer),
    true,
  );
  equal(one.length, LENGTH - 1);
  for (const array of [one, other]) deepEqual(new Set(array), new Set([0]));
});

test('what was moved away, is too much or was forgotten is not used again', () => {
  const moved = runInt32(LENGTH);
  structuredClone(moved, { transfer: [moved.buffer] });
  nextRun();
  equal(runInt32(LENGTH).buffer.byteLength, BYTES);
  const [first, last] = [runInt32(LENGTH), runInt32(LENGTH)];
  nextRun();
  equal(runInt32(LENGTH).buffer, last.buffer);
  notEqual(runInt32(LENGTH).buffer, first.buffer);
  const forgotten = runInt32(LENGTH);
  runMemory.forget();
  nextRun();
  notEqual(runInt32(LENGTH).buffer, forgotten.buffer);
});
