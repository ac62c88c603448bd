import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { SizedCache } from '../../engine/column/caches.ts';

test('what came first leaves first, unless it was asked for meanwhile', () => {
  const cache = new SizedCache<string, number>(10);
  cache.set('a', 1, 4);
  cache.set('b', 2, 6);
  equal(cache.find('a'), 1);
  cache.set('c', 3, 1);
  deepEqual(
    ['a', 'b', 'c'].map((key) => cache.find(key)),
    [1, undefined, 3],
  );
});

test('where all were asked for, what comes stays, and who was asked for first leaves', () => {
  const cache = new SizedCache<string, number>(3);
  for (const [index, key] of ['a', 'b', 'c'].entries()) cache.set(key, index, 1);
  for (const key of ['a', 'b', 'c']) cache.find(key);
  cache.set('d', 3, 1);
  deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => cache.find(key)),
    [undefined, 1, 2, 3],
  );
});

test('a value takes the place and the size of the one before it', () => {
  const cache = new SizedCache<string, number>(10);
  cache.set('a', 1, 9);
  cache.set('a', 2, 5);
  cache.set('b', 3, 5);
  equal(cache.find('a'), 2);
  equal(cache.find('b'), 3);
});

test('a value as large as all may be is kept alone, a larger one is not and leaves the others', () => {
  const cache = new SizedCache<string, number>(10);
  cache.set('a', 1, 1);
  cache.set('b', 2, 11);
  equal(cache.find('a'), 1);
  equal(cache.find('b'), undefined);
  cache.set('c', 3, 10);
  equal(cache.find('a'), undefined);
  equal(cache.find('c'), 3);
});
