import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countUuidUnion, type UuidSet } from '../../engine/aggregate/uuid-index.ts';
import { must } from '../../engine/assert.ts';
import { UUID_BYTES } from '../../engine/column/number-vectors.ts';

function packed(numbers: readonly number[]): Uint8Array {
  const uuids = new Uint8Array(UUID_BYTES * numbers.length);
  for (const [place, number] of numbers.entries()) {
    uuids[UUID_BYTES * place] = number & 255;
    uuids[UUID_BYTES * place + UUID_BYTES - 1] = number >> 8;
  }
  return uuids;
}

function setOf(numbers: readonly number[], codes: readonly number[], isDistinct: boolean): UuidSet {
  return { uuids: packed(numbers), codes: Int32Array.from(codes), isDistinct };
}

test('what is in several sets is counted once', () => {
  assert.equal(countUuidUnion([]), 0);
  assert.equal(countUuidUnion([setOf([1, 2], [], true)]), 0);
  assert.equal(countUuidUnion([setOf([1, 2, 3], [0, 2], true)]), 2);
  assert.equal(countUuidUnion([setOf([1, 1, 3], [0, 1, 2], false)]), 2);
  assert.equal(countUuidUnion([setOf([1, 2, 3], [0, 2], true), setOf([3, 4], [0, 1], true)]), 3);
});

test('sets of any size, distinct or not, are counted as a Set counts them', () => {
  const anyNumbers = fc.array(fc.nat(400), { maxLength: 300 });
  const anySet = fc.tuple(anyNumbers, fc.boolean()).map(([drawn, isDistinct]) => {
    const numbers = isDistinct ? [...new Set(drawn)] : drawn;
    const codes = numbers.flatMap((number, code) => (number % 3 === 0 ? [] : [code]));
    return { numbers, codes, isDistinct };
  });
  fc.assert(
    fc.property(fc.array(anySet, { maxLength: 4 }), (sets) => {
      const expected = new Set(sets.flatMap(({ numbers, codes }) => codes.map((c) => numbers[c])));
      const given = sets.map(({ numbers, codes, isDistinct }) => setOf(numbers, codes, isDistinct));
      assert.equal(countUuidUnion(given), expected.size);
    }),
  );
});

test('UUIDs that do not lie on words are not counted', () => {
  const { uuids, codes } = setOf([1, 2], [0, 1], true);
  const memory = Uint8Array.of(0, ...uuids);
  const off = { uuids: memory.subarray(1), codes, isDistinct: true };
  assert.equal(countUuidUnion([off]), undefined);
  assert.equal(must(countUuidUnion([{ uuids, codes, isDistinct: true }])), 2);
});
