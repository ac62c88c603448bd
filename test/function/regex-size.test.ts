import { equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { instructionsOf } from '../../engine/function/text/regex-size.ts';
import { compileRegex } from '../../engine/function/text/regular-expression.ts';
import { REGEX_PROGRAM_MAX, REGEX_TEST_STEPS_MAX } from '../../engine/limits.ts';

for (const [pattern, count] of [
  ['', 0],
  ['abc', 3],
  ['a{5}', 5],
  ['ba{2,5}c', 7],
  ['a{2,}', 3],
  ['[a-z]{10}', 10],
  ['[]a]{10}', 10],
  ['[[:alpha:]]{10}', 10],
  [String.raw`\d{4}-\d{2}`, 7],
  [String.raw`\p{Greek}{3}`, 3],
  [String.raw`\{3}`, 3],
  ['(ab){10}', 40],
  ['((a{1,10}){1,10}b)', 123],
  ['a{x}', 4],
  [')', 1],
] as const) {
  test(`${JSON.stringify(pattern)} comes to about ${count} instructions`, () => {
    equal(instructionsOf(pattern), count);
  });
}

test('a pattern whose repetitions come to too much is refused before it is compiled', () => {
  const pattern = (times: number) => 'a{1000}'.repeat(times);
  compileRegex(pattern(REGEX_PROGRAM_MAX / 1000));
  throws(() => compileRegex(pattern(REGEX_PROGRAM_MAX / 1000 + 1)), {
    code: 'invalid_regular_expression',
    message: /must have at most 10000 characters once its repetitions are written out; got 11000/,
  });
});

test('a long pattern is not looked for in a long text', () => {
  const { test: matches } = compileRegex('[ab]*a[ab]{996}[cd]');
  equal(matches('ab'.repeat(1000)), false);
  throws(() => matches('ab'.repeat(REGEX_TEST_STEPS_MAX / 1000)), { code: 'query_limit' });
});
