import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  AscendingNumbers,
  IntegerCoding,
  PackedNumbers,
} from '../../engine/column/number-vectors.ts';
import { numberVector } from '../../engine/column/vector.ts';
import { truncateInRuns } from '../../engine/function/time/time-truncation.ts';

const truncated = (values: Iterable<number>, length: number): number[] =>
  Array.from(values, (value) => Math.floor(value / length) * length);

const cases = fc.record({
  codes: fc.array(fc.nat(60), { minLength: 16, maxLength: 80 }),
  base: fc.constantFrom(0, -35, 1_768_478_280_000_000),
  step: fc.constantFrom(1, 10),
  length: fc.constantFrom(7, 25, 60, 1000),
});

test('times that ascend are truncated in runs, in place as one by one', () => {
  let runCount = 0;
  fc.assert(
    fc.property(cases, ({ codes, base, step, length }) => {
      codes.sort((left, right) => left - right);
      const range = { start: 1, count: codes.length, isAscending: true };
      const packed = new PackedNumbers(
        Uint32Array.from([99, ...codes, 0]),
        range,
        IntegerCoding.inSteps(base, step, 60),
      );
      const expected = truncated(packed.values, length);
      const plain = numberVector(packed.values, packed.count);
      for (const times of [packed, new AscendingNumbers(packed.values), plain]) {
        const runs = truncateInRuns(times, length);
        const distinctCount = new Set(expected).size;
        assert.equal(runs !== undefined, distinctCount <= codes.length >> 2);
        if (runs === undefined) continue;
        runCount += 1;
        assert.deepEqual([...runs.values], expected);
        assert.equal(runs.runEnds.length, distinctCount);
      }
    }),
  );
  assert.ok(runCount > 20);
});

test('times in any order are truncated in as many runs as they come in', () => {
  const values = [5, 9, 1, 12, 19, 11, 10, 14, 3, 3, 3, 3, 3, 3, 3, 3];
  const runs = truncateInRuns(numberVector(Float64Array.from(values), 16), 10);
  assert.deepEqual([...(runs?.runEnds ?? [])], [3, 8, 16]);
  assert.deepEqual([...(runs?.values ?? [])], truncated(values, 10));
});

test('NULLs, few rows, and results below the safe integers are left to others', () => {
  const times = new Float64Array(16).fill(5);
  assert.notEqual(truncateInRuns(numberVector(times, 16), 10), undefined);
  assert.equal(truncateInRuns(numberVector(times, 16, new Uint8Array(16)), 10), undefined);
  assert.equal(truncateInRuns(numberVector(times, 15), 10), undefined);
  const least = new Float64Array(16).fill(Number.MIN_SAFE_INTEGER);
  assert.equal(truncateInRuns(numberVector(least, 16), 1000), undefined);
});
