import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedNumbers, IntegerCoding, PackedNumbers } from '../../engine/column/number-vectors.ts';
import { INT64 } from '../../engine/column/type.ts';
import { constantVector, type Vector, valueAt } from '../../engine/column/vector.ts';
import { boundOverload } from '../../engine/plan/call-facts.ts';
import { liftOverVectors } from '../../engine/plan/evaluator/lift.ts';

/** Integers 0 to 4, of which only those given are there. */
function packed(codes: readonly number[]): PackedNumbers {
  const range = { start: 0, count: codes.length, isAscending: false };
  return new PackedNumbers(Uint8Array.from(codes), range, IntegerCoding.inSteps(0, 1, 4));
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

test('integers where they lie stay there when a constant integer is added or taken away', () => {
  const numbers = packed([4, 3, 2, 1, 0]);
  const sums = evaluate('+', numbers, constantVector(3, 5), 5);
  assert.ok(sums instanceof PackedNumbers);
  assert.deepEqual(valuesOf(sums), [7, 6, 5, 4, 3]);
  const turned = evaluate('+', constantVector(3, 5), numbers, 5);
  assert.ok(turned instanceof PackedNumbers);
  assert.deepEqual(valuesOf(turned), [7, 6, 5, 4, 3]);
  const differences = evaluate('-', numbers, constantVector(3, 5), 5);
  assert.ok(differences instanceof PackedNumbers);
  assert.deepEqual(valuesOf(differences), [1, 0, -1, -2, -3]);
  assert.deepEqual(valuesOf(evaluate('-', constantVector(3, 5), numbers, 5)), [-1, 0, 1, 2, 3]);
});

test('the forms of arithmetic that give NULL in place of an error say the same of integers where they lie', () => {
  const numbers = packed([4, 3, 2, 1, 0]);
  const constant = constantVector(3, 5);
  assert.deepEqual(valuesOf(evaluate('safe_add', numbers, constant, 5)), [7, 6, 5, 4, 3]);
  assert.deepEqual(valuesOf(evaluate('safe_subtract', numbers, constant, 5)), [1, 0, -1, -2, -3]);
  assert.deepEqual(valuesOf(evaluate('safe_multiply', numbers, constant, 5)), [12, 9, 6, 3, 0]);
});

test('an integer that would leave the safe ones is computed row by row', () => {
  const largest = Number.MAX_SAFE_INTEGER;
  const sums = evaluate('+', packed([4, 0]), constantVector(largest, 2), 2);
  assert.deepEqual(valuesOf(sums), [BigInt(largest) + 4n, largest]);
});
