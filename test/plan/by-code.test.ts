import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedNumbers } from '../../engine/column/coded-numbers.ts';
import { IntegerCoding, PackedNumbers } from '../../engine/column/packed-numbers.ts';
import { INT64 } from '../../engine/column/type.ts';
import { constantVector, type Vector, valueAt } from '../../engine/column/vector.ts';
import { liftOverVectors } from '../../engine/plan/evaluator/lift.ts';
import { boundOverload } from '../../engine/plan/evaluator/overload.ts';

/** Integers 0 to 4, of which only those given are there. */
function packed(codes: readonly number[]): PackedNumbers {
  const range = { start: 0, count: codes.length, isAscending: false };
  return new PackedNumbers(Uint8Array.from(codes), range, new IntegerCoding(0, 1, 4));
}

function evaluate(name: string, left: Vector, right: Vector, count: number): Vector {
  const overload = boundOverload(name, [INT64, INT64]);
  return liftOverVectors({ ...overload, type: INT64 }, 2)([left, right], count);
}

function valuesOf(vector: Vector): unknown[] {
  return Array.from({ length: vector.count }, (_, row) => valueAt(vector, row));
}

test('a function of integers where they lie is evaluated for each code, and the next one on that', () => {
  const numbers = packed([4, 3, 2, 1, 0, 4, 3, 2, 1, 0]);
  const halves = evaluate('div', numbers, constantVector(2, 10), 10);
  assert.ok(halves instanceof CodedNumbers);
  assert.deepEqual(valuesOf(halves), [2, 1, 1, 0, 0, 2, 1, 1, 0, 0]);
  const tens = evaluate('*', halves, constantVector(10, 10), 10);
  assert.ok(tens instanceof CodedNumbers);
  assert.deepEqual(valuesOf(tens), [20, 10, 10, 0, 0, 20, 10, 10, 0, 0]);
});

test('a code that no row has raises no error', () => {
  const numbers = packed([4, 3, 2, 1, 1, 4, 3, 2, 1, 1]);
  const quotients = evaluate('div', constantVector(12, 10), numbers, 10);
  assert.deepEqual(valuesOf(quotients), [3, 4, 6, 12, 12, 3, 4, 6, 12, 12]);
  const withZero = packed([4, 3, 2, 1, 1, 4, 3, 2, 1, 0]);
  assert.throws(() => evaluate('div', constantVector(12, 10), withZero, 10), /zero|0/);
});
