import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteGate } from '../../../src/http/byte-gate.ts';

/** Enters for each size in turn; tells which have been let in. */
function entering(gate: ByteGate, sizes: readonly number[]): { readonly inside: number[] } {
  const inside: number[] = [];
  sizes.forEach((size, index) => void gate.enter(size).then(() => inside.push(index)));
  return { inside };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('work is let in up to the bound, and the rest as room is made, in order', async () => {
  const gate = new ByteGate(10);
  const { inside } = entering(gate, [6, 4, 1, 9, 1]);
  await settle();
  assert.deepEqual(inside, [0, 1]);
  gate.leave(4);
  await settle();
  // The last would fit, but it waits for the one before it.
  assert.deepEqual(inside, [0, 1, 2]);
  gate.leave(6);
  await settle();
  assert.deepEqual(inside, [0, 1, 2, 3]);
  gate.leave(1);
  await settle();
  assert.deepEqual(inside, [0, 1, 2, 3, 4]);
});

test('work larger than the bound goes in alone', async () => {
  const gate = new ByteGate(10);
  const { inside } = entering(gate, [1, 11, 1]);
  await settle();
  assert.deepEqual(inside, [0]);
  gate.leave(1);
  await settle();
  assert.deepEqual(inside, [0, 1]);
  gate.leave(11);
  await settle();
  assert.deepEqual(inside, [0, 1, 2]);
});
