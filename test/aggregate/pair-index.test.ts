import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PairIndex } from '../../engine/aggregate/pair-index.ts';

const part = fc.oneof(fc.nat(3), fc.constantFrom(255, 256, 257, 70_000));
const chunk = fc.array(fc.tuple(part, part), { maxLength: 20 });

test('pairs are numbered in the order they are first met, small ones and others', () => {
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 6 }), (chunks) => {
      const index = new PairIndex();
      const known = new Map<string, number>();
      for (const pairs of chunks) {
        const lefts = Int32Array.from(pairs, ([left]) => left);
        const rights = Int32Array.from(pairs, ([, right]) => right);
        const wanted = pairs.map((pair) => {
          const id = known.get(String(pair)) ?? known.size;
          known.set(String(pair), id);
          return id;
        });
        index.assign(lefts, rights, pairs.length, rights);
        assert.deepEqual([...rights], wanted);
      }
      const all = Array.from({ length: index.size }, (_, id) => [index.left(id), index.right(id)]);
      assert.deepEqual(all.map(String), [...known.keys()]);
    }),
  );
});
