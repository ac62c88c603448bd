import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NORMALIZED_MARKS_MAX } from '../../engine/function/text/letter-functions.ts';
import { WorkBudget } from '../../engine/function/work-meter.ts';
import { call } from './call.ts';

/** Marks of two classes in turns: each of the second moves over all of the first. */
function marks(count: number): string {
  return '\u0315\u0300'.repeat(count / 2) + (count % 2 === 0 ? '' : '\u0315');
}

test('a text with more marks on one character than any script has is not normalized', () => {
  const most = `a${marks(NORMALIZED_MARKS_MAX)}b${marks(NORMALIZED_MARKS_MAX)}`;
  assert.equal((call('normalize', most, 'NFC') as string).length, most.length - 1);
  const more = `a${marks(NORMALIZED_MARKS_MAX + 1)}`;
  const tooMany = { code: 'query_limit', message: /at most 128 marks on one character/ };
  assert.throws(() => call('normalize', more, 'NFD'), tooMany);
  assert.throws(() => call('normalize_and_casefold', more, 'NFKC'), tooMany);
  assert.equal(call('contains_substr', most, 'B'), true);
  assert.throws(() => call('contains_substr', more, 'b'), tooMany);
});

const MATCHES: readonly (readonly [name: string, ...rest: readonly string[]])[] = [
  ['regexp_extract_all'],
  ['regexp_replace', 'b'],
];

for (const [name, ...rest] of MATCHES) {
  test(`${name} counts work for each match, which may look at all that is left`, () => {
    const text = 'a'.repeat(2_000);
    const budget = () => new WorkBudget(1_000_000);
    const run = (pattern: string, of: string) =>
      budget().run(() => call(name, of, pattern, ...rest));
    // Before it takes the second alternative it has looked for a `z` up to the end, from each place.
    assert.equal(run('a.*z|a', text), undefined);
    assert.notEqual(run('a.*z|a', text.slice(0, 200)), undefined);
  });
}
