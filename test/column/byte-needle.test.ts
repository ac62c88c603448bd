import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteNeedle } from '../../engine/column/text-signature.ts';

const bytes = (sizeMax: number) =>
  fc.array(fc.constantFrom(0x61, 0x62, 0xfe), { maxLength: sizeMax }).map((of) => Buffer.from(of));

test('a needle is found where it first begins, and not across the end', () => {
  fc.assert(
    fc.property(bytes(6), bytes(40), fc.nat(10), fc.nat(10), (needle, text, start, cut) => {
      const end = Math.max(start, text.length - cut);
      fc.pre(start <= text.length && end <= text.length);
      const found = text.subarray(start, end).indexOf(needle);
      const wanted = found < 0 ? -1 : start + found;
      assert.equal(new ByteNeedle(needle).find(text, start, end), wanted);
      const isThere = wanted === start;
      assert.equal(new ByteNeedle(needle).isAt(text, start, end), isThere);
    }),
    { numRuns: 500 },
  );
});
