import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { SizedCache } from '../../engine/plan/sized-cache.ts';

test('what came first leaves first, unless it was asked for meanwhile', () => {
  const memory = new SizedCache<string, number>(10);
  memory.set('a', 1, 4);
  memory.set('b', 2, 6);
  equal(memory.find('a'), 1);
  memory.set('c', 3, 1);
  deepEqual(
    ['a', 'b', 'c'].map((key) => memory.find(key)),
    [1, undefined, 3],
  );
});

test('where all were asked for, what comes stays, and who was asked for first leaves', () => {
  const memory = new SizedCache<string, number>(3);
  for (const [index, key] of ['a', 'b', 'c'].entries()) memory.set(key, index, 1);
  for (const key of ['a', 'b', 'c']) memory.find(key);
  memory.set('d', 3, 1);
  deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => memory.find(key)),
    [undefined, 1, 2, 3],
  );
});

test('a value takes the place and the size of the one before it', () => {
  const memory = new SizedCache<string, number>(10);
  memory.set('a', 1, 9);
  memory.set('a', 2, 5);
  memory.set('b', 3, 5);
  equal(memory.find('a'), 2);
  equal(memory.find('b'), 3);
});

test('a value as large as all may be is kept alone, a larger one is not and leaves the others', () => {
  const memory = new SizedCache<string, number>(10);
  memory.set('a', 1, 1);
  memory.set('b', 2, 11);
  equal(memory.find('a'), 1);
  equal(memory.find('b'), undefined);
  memory.set('c', 3, 10);
  equal(memory.find('a'), undefined);
  equal(memory.find('c'), 3);
});
