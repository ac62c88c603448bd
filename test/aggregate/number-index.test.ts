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
