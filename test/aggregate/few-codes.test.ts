import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CodeCounters, countFewCodes } from '../../engine/aggregate/chunk-runs.ts';

test('codes of a run are counted, ascending, however many rows and codes there are', () => {
  const width = fc.constantFrom(Uint8Array, Uint16Array, Uint32Array);
  const rowCount = fc.constantFrom(0, 1, 8, 9, 127, 128, 129, 131, 600);
  const counters = new CodeCounters(65_536);
  const codeCount = fc.constantFrom(1, 16, 33, 65, 256, 1_025, 65_536);
  fc.assert(
    fc.property(width, rowCount, codeCount, fc.nat(5), (Width, count, most, start) => {
      const codeMax = Math.min(most, Width === Uint8Array ? 256 : most);
      const given = Array.from({ length: start + count + 3 }, (_, row) => {
        return (row * row * 31 + (row % 3) * (codeMax - 1)) % codeMax;
      });
      const entries = { codes: new Uint32Array(count + 2), counts: new Uint32Array(count + 2) };
      const range = { start, end: start + count };
      const codes = Width.from(given);
      const counting = { codes, codeCount: codeMax, counters, entries };
      const end = countFewCodes(counting, range, 2);
      const expected = new Map<number, number>();
      for (const code of given.slice(start, start + count)) {
        expected.set(code, (expected.get(code) ?? 0) + 1);
      }
      const got = Array.from({ length: end - 2 }, (_, i) => [
        entries.codes[i + 2],
        entries.counts[i + 2],
      ]);
      assert.deepEqual(
        got,
        [...expected].sort(([left], [right]) => left - right),
      );
    }),
  );
});
