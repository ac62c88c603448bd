import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginCacheGeneration, ObjectCache } from '../../engine/column/caches.ts';
import type { Dictionary } from '../../engine/column/vector.ts';

test('what was made of an object is kept until another generation begins', () => {
  const [first, second] = ['a', 'b'].map(
    (value): Dictionary => ({ size: 1, isDistinct: true, value: () => value }),
  );
  let madeCount = 0;
  const cache = new ObjectCache((dictionary: Dictionary) => {
    madeCount++;
    return { value: dictionary.value(0) };
  });
  const valuesOf = () => [first!, second!, first!].map((dictionary) => cache.get(dictionary).value);
  assert.deepEqual(valuesOf(), ['a', 'b', 'a']);
  assert.equal(madeCount, 2);
  valuesOf();
  assert.equal(madeCount, 2);
  beginCacheGeneration();
  assert.deepEqual(valuesOf(), ['a', 'b', 'a']);
  assert.equal(madeCount, 4);
});
