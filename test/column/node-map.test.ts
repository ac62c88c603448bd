import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NodeMap } from '../../engine/column/skeleton.ts';

/** `undefined` for a node that was not put in. */
function read(map: NodeMap, node: number): readonly [number, number] | undefined {
  const entry = map.find(node);
  return entry < 0 ? undefined : [map.target(entry), map.place(entry)];
}

test('a new map knows no node, not even the first', () => {
  assert.equal(read(new NodeMap(), 0), undefined);
});

test('gives a target and a place by the node, and by the entry that setting gave', () => {
  const map = new NodeMap();
  const entry = map.set(0, 7, 3);
  assert.deepEqual([map.target(entry), map.place(entry)], [7, 3]);
  map.set(1, -2, -1);
  assert.deepEqual(read(map, 0), [7, 3]);
  assert.deepEqual(read(map, 1), [-2, -1]);
  assert.equal(read(map, 2), undefined);
});

test('holds what a Map holds, however it grows and whatever is put in twice', () => {
  // Steps of powers of two are what makes hashes by multiplication collide.
  const node = fc
    .tuple(fc.nat(300), fc.constantFrom(1, 3, 16, 1024, 65_536, 4_194_304))
    .map(([factor, step]) => factor * step);
  const puts = fc.array(fc.tuple(node, fc.integer({ min: -2, max: 99 }), fc.nat(99)), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(puts, node, (list, other) => {
      const map = new NodeMap();
      const expected = new Map<number, readonly [number, number]>();
      for (const [key, target, place] of list) {
        map.set(key, target, place);
        expected.set(key, [target, place]);
      }
      for (const key of [other, ...expected.keys()]) {
        assert.deepEqual(read(map, key), expected.get(key));
      }
    }),
  );
});
