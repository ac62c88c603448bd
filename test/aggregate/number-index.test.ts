import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NumberIndex } from '../../engine/aggregate/number-index.ts';

const key = fc.oneof(
  fc.integer({ min: -20, max: 20 }),
  fc.double({ noNaN: true }),
  fc.constantFrom(0, -0, Infinity, -Infinity, 2 ** 53),
);

test('each key is found under the id it was given, few of them and many', () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 90 }), (keys) => {
      const index = new NumberIndex();
      // Of a Map, too, 0 and -0 are one key.
      const known = new Map<number, number>();
      for (const [at, number] of keys.entries()) {
        assert.equal(index.find(number), known.get(number) ?? -1);
        if (known.has(number)) continue;
        index.insert(number, 3 * at);
        known.set(number, 3 * at);
      }
      for (const [number, id] of known) assert.equal(index.find(number), id);
      assert.equal(index.find(0.1234567), known.get(0.1234567) ?? -1);
    }),
  );
});

test('a key that is added keeps the id it was given first', () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 90 }), fc.boolean(), (drawn, isAscending) => {
      const keys = isAscending ? drawn.toSorted((left, right) => left - right) : drawn;
      const index = new NumberIndex();
      const known = new Map<number, number>();
      for (const [at, number] of keys.entries()) {
        const id = known.get(number) ?? 3 * at;
        known.set(number, id);
        assert.equal(index.add(number, 3 * at), id);
      }
      for (const [number, id] of known) assert.equal(index.find(number), id);
    }),
  );
});

test('keys that ascend are found, and so are all once one comes that does not', () => {
  const count = fc.constantFrom(7, 8, 9, 100, 4095, 4096, 4097);
  fc.assert(
    fc.property(count, fc.constantFrom(-1, 0.5, 12.5), (keyCount, late) => {
      const index = new NumberIndex();
      for (let key = 0; key < keyCount; key++) {
        assert.equal(index.find(key), -1);
        index.insert(key, 2 * key);
        assert.equal(index.find(key >> 1), 2 * (key >> 1));
      }
      assert.equal(index.find(late), -1);
      index.insert(late, 1);
      assert.equal(index.find(late), 1);
      for (let key = 0; key < keyCount; key++) assert.equal(index.find(key), 2 * key);
      assert.equal(index.find(keyCount), -1);
    }),
    { numRuns: 30 },
  );
});
