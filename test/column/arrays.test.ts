import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  carvedFloat64,
  carvedInt32,
  carvedUint8,
  carvedUint16,
  carvedUint32,
} from '../../engine/column/arrays.ts';

const MAKERS = [carvedFloat64, carvedInt32, carvedUint32, carvedUint16, carvedUint8] as const;

test('arrays are zeros, as long as was asked for, and no two have a byte in common', () => {
  const orders = fc.array(
    fc.record({
      make: fc.constantFrom(...MAKERS),
      length: fc.oneof(fc.nat(40), fc.nat(600), fc.nat(5_000)),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(orders, (all) => {
      const arrays = all.map(({ make, length }) => make(length));
      for (const [index, array] of arrays.entries()) {
        equal(array.length, all[index]!.length);
        equal(
          array.every((entry) => entry === 0),
          true,
        );
        // What is written to one shows in no other that is looked at later.
        array.fill((index % 250) + 1);
      }
      for (const [index, array] of arrays.entries()) {
        equal(
          array.every((entry) => entry === (index % 250) + 1),
          true,
        );
      }
    }),
  );
});

test('small and large arrays have memory of their own, those between share it', () => {
  const sizes = [64, 65, 72, 4_096, 4_097].map((bytes) => carvedUint8(bytes).buffer.byteLength);
  deepEqual(sizes, [64, 32_768, 32_768, 32_768, 4_097]);
});
