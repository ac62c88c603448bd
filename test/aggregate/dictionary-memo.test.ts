import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DictionaryMemo } from '../../engine/aggregate/number-reader.ts';
import { forgetFindings } from '../../engine/column/findings.ts';
import type { Dictionary } from '../../engine/column/vector.ts';

test('what was made of a dictionary is kept until findings are forgotten', () => {
  const [first, second] = ['a', 'b'].map(
    (value): Dictionary => ({ size: 1, isDistinct: true, value: () => value }),
  );
  let madeCount = 0;
  const memo = new DictionaryMemo((dictionary) => {
    madeCount++;
    return dictionary.value(0);
  });
  const valuesOf = () => [first!, second!, first!].map((dictionary) => memo.get(dictionary));
  assert.deepEqual(valuesOf(), ['a', 'b', 'a']);
  assert.equal(madeCount, 2);
  valuesOf();
  assert.equal(madeCount, 2);
  forgetFindings();
  assert.deepEqual(valuesOf(), ['a', 'b', 'a']);
  assert.equal(madeCount, 4);
});
