import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sumCodes } from '../../engine/aggregate/sum.ts';
import { CodedNumbers, IntegerCoding, PackedNumbers } from '../../engine/column/number-vectors.ts';
import { FLOAT64, INT64 } from '../../engine/column/type.ts';
import { numberVector } from '../../engine/column/vector.ts';
import { maker } from './rows-of-groups.ts';

const GROUPS = 4;

function packed(codes: PackedNumbers['codes'], start: number, coding: IntegerCoding) {
  const count = codes.length - start;
  return new PackedNumbers(codes, { start, count, isAscending: false }, coding);
}

test('sums of integers by their codes are those of the integers', () => {
  const anyRow = fc.tuple(fc.nat(200), fc.nat(GROUPS - 1));
  const anyCoding = fc
    .tuple(fc.integer({ min: -1e6, max: 1e6 }), fc.constantFrom(1, 1000, 1_000_000))
    .map(([base, step]) => IntegerCoding.inSteps(base, step, 200));
  const anyWidth = fc.constantFrom(Uint8Array, Uint16Array, Uint32Array);
  const anyRows = fc.array(anyRow, { minLength: 40, maxLength: 400 });
  fc.assert(
    fc.property(anyRows, fc.nat(3), anyCoding, anyWidth, (rows, start, coding, Width) => {
      const codes = Width.from(rows.map(([code]) => code));
      const numbers = packed(codes, start, coding);
      const groups = Int32Array.from(rows.slice(start), ([, group]) => group);
      const { sums, counts } = sumCodes(numbers, groups, numbers.count, GROUPS)!;
      const plain = numberVector(numbers.values, numbers.count);
      for (let group = 0; group < GROUPS; group++) {
        const ours = Array.from(plain.values).filter((_, row) => groups[row] === group);
        assert.equal(counts[group], ours.length);
        assert.equal(
          sums[group],
          ours.reduce((sum, value) => sum + value, 0),
        );
      }
      for (const make of [maker('sum', INT64), maker('avg', INT64), maker('avg', FLOAT64)]) {
        const [lying, listed] = [make(), make()];
        lying.update(groups, numbers.count, GROUPS, [numbers]);
        listed.update(groups, numbers.count, GROUPS, [plain]);
        for (let group = 0; group < GROUPS; group++) {
          assert.equal(lying.finalize(group), listed.finalize(group));
        }
      }
    }),
  );
});

test('sums of integers that codes choose are those of the integers', () => {
  const anyRow = fc.tuple(fc.nat(6), fc.nat(GROUPS - 1));
  const anyRows = fc.array(anyRow, { minLength: 40, maxLength: 300 });
  const anyNumbers = fc.array(fc.oneof(fc.integer({ min: -5, max: 5 }), fc.constant(1e9)), {
    ...{ minLength: 7, maxLength: 7 },
  });
  const anyWidth = fc.constantFrom(Uint8Array, Uint16Array);
  fc.assert(
    fc.property(anyRows, anyNumbers, anyWidth, fc.boolean(), (rows, chosen, Width, isTable) => {
      const codes = Width.from(rows.map(([code]) => code));
      const table = Float64Array.from(chosen);
      const vector = isTable
        ? packed(codes, 0, IntegerCoding.byTable(table))
        : new CodedNumbers(packed(codes, 0, IntegerCoding.inSteps(200, 1, 6)), table);
      const groups = Int32Array.from(rows, ([, group]) => group);
      const { sums, counts } = sumCodes(vector, groups, rows.length, GROUPS)!;
      for (let group = 0; group < GROUPS; group++) {
        const ours = rows.flatMap(([code, each]) => (each === group ? [chosen[code]!] : []));
        assert.equal(counts[group], ours.length);
        assert.equal(
          sums[group],
          ours.reduce((sum, value) => sum + value, 0),
        );
      }
    }),
  );
});

test('numbers that are no integers, or too far apart, are left alone', () => {
  const groups = new Int32Array(64);
  const numbers = packed(new Uint8Array(64), 0, IntegerCoding.inSteps(0, 1, 1));
  for (const chosen of [
    [0, 0.5],
    [0, Number.NaN],
    [0, Number.POSITIVE_INFINITY],
    [0, 2 ** 31 + 1],
  ]) {
    const vector = new CodedNumbers(numbers, Float64Array.from(chosen));
    assert.equal(sumCodes(vector, groups, 64, 1), undefined);
  }
});

test('codes whose sums may not be exact are left alone', () => {
  const groups = new Int32Array(64);
  const codes = new Uint32Array(64);
  const ofCodes = (coding: IntegerCoding) => sumCodes(packed(codes, 0, coding), groups, 64, 1);
  assert.notEqual(ofCodes(IntegerCoding.inSteps(2 ** 46, 1, 1)), undefined);
  assert.equal(ofCodes(IntegerCoding.inSteps(2 ** 48, 1, 1)), undefined);
  assert.equal(
    sumCodes(packed(codes, 0, IntegerCoding.inSteps(0, 1, 1)), groups, 64, 9),
    undefined,
  );
});

test('codes of 32 bits are summed some rows at a time', () => {
  const coding = IntegerCoding.inSteps(-7, 1, 2 ** 32 - 1);
  for (const count of [1023, 1024, 1025, 5000]) {
    const codes = Uint32Array.from({ length: count }, (_, row) => 2 ** 32 - 1 - (row % 3));
    const groups = Int32Array.from(codes, (_, row) => (row % 5 === 0 ? 1 : 0));
    const expected = { sums: new Float64Array(2), counts: new Float64Array(2) };
    codes.forEach((code, row) => {
      expected.sums[groups[row]!]! += code - 7;
      expected.counts[groups[row]!]!++;
    });
    assert.deepEqual(sumCodes(packed(codes, 0, coding), groups, count, 2), expected);
  }
});
