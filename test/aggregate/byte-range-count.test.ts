import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteRangeCount, rangeOfOnes } from '../../engine/aggregate/count.ts';

test('bytes of a range are counted as one by one, wherever rows begin and end', () => {
  const codes = fc.uint8Array({ max: 127, minLength: 0, maxLength: 2_500 });
  const place = fc.nat(9);
  fc.assert(
    fc.property(
      codes,
      fc.tuple(place, place, place, place, place),
      fc.tuple(fc.nat(128), fc.nat(128)),
      (given, [offset, before, after, skipped, left], ends) => {
        const bytes = Uint8Array.from([...new Array(offset + before).fill(7), ...given, 7, 7, 7]);
        const all = new Uint8Array(bytes.buffer, offset);
        const rows = { start: before, end: before + given.length + (after % 3) };
        const [least, end] = ends.toSorted((left, right) => left - right) as [number, number];
        const counted = new ByteRangeCount(all, rows, { least, end });
        const from = Math.min(rows.start + skipped, rows.end);
        const to = Math.max(from, rows.end - left);
        const expected = all.subarray(from, to).filter((code) => code >= least && code < end);
        assert.equal(counted.count(from, to), expected.length);
      },
    ),
  );
});

test('codes in a row are a range, others and too many are not', () => {
  assert.deepEqual(rangeOfOnes(Uint8Array.of(0, 1, 1, 0)), { least: 1, end: 3 });
  assert.deepEqual(rangeOfOnes(Uint8Array.of(0, 0)), { least: 0, end: 0 });
  assert.deepEqual(rangeOfOnes(new Uint8Array(128).fill(1)), { least: 0, end: 128 });
  assert.equal(rangeOfOnes(Uint8Array.of(1, 0, 1)), undefined);
  assert.equal(rangeOfOnes(new Uint8Array(129).fill(1)), undefined);
});
