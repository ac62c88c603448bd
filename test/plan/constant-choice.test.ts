import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { VectorChunk } from '../../engine/column/chunk.ts';
import { CodedTruths, IntegerCoding, PackedNumbers } from '../../engine/column/number-vectors.ts';
import {
  booleanVector,
  constantVector,
  TRUE,
  UNKNOWN,
  type Vector,
  valueAt,
} from '../../engine/column/vector.ts';
import { numberChoiceOf } from '../../engine/plan/evaluate.ts';

const CHOICE = { then: 1.5, otherwise: -2 };

function chosen(truths: Vector): unknown[] {
  const vector = numberChoiceOf(() => truths, CHOICE)(new VectorChunk([], truths.count));
  return Array.from({ length: truths.count }, (_, row) => valueAt(vector, row));
}

test('a choice of two numbers is that of each row, in whatever form its condition comes', () => {
  const truth = fc.integer({ min: 0, max: 2 });
  const truthOfCode = fc.array(truth, { minLength: 3, maxLength: 3 });
  const rows = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(truthOfCode, rows, fc.array(fc.nat()), (truths, codes, also) => {
      const range = { start: 0, count: codes.length, isAscending: false };
      const numbers = new PackedNumbers(
        Uint8Array.from(codes),
        range,
        IntegerCoding.inSteps(7, 1, 2),
      );
      const known = also
        .map((row) => row % codes.length)
        .filter((row) => truths[codes[row]!] !== UNKNOWN);
      const exceptions = [...new Set(known)].sort((a, b) => a - b);
      for (const some of [[], exceptions]) {
        const coded = new CodedTruths(numbers, Uint8Array.from(truths), Int32Array.from(some));
        const wanted = codes.map((code, row) =>
          (truths[code] === TRUE) !== some.includes(row) ? CHOICE.then : CHOICE.otherwise,
        );
        assert.deepEqual(chosen(coded), wanted);
        assert.deepEqual(chosen(booleanVector(coded.values, codes.length)), wanted);
      }
    }),
  );
});

test('a condition that is one for all rows chooses once', () => {
  assert.deepEqual(chosen(constantVector(true, 2)), [1.5, 1.5]);
  assert.deepEqual(chosen(constantVector(false, 2)), [-2, -2]);
  assert.deepEqual(chosen(constantVector(null, 2)), [-2, -2]);
});
