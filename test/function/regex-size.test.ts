import { equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import {
  CLASS_STEPS,
  COMPILE_STEPS,
  compileRegex,
  compileStepsOf,
  FOLDED_RANGE_STEPS,
  instructionsOf,
} from '../../engine/function/text/regular-expression.ts';
import { WorkBudget } from '../../engine/function/work-meter.ts';
import {
  FOLDING_STEPS_MAX,
  REGEX_INSTRUCTION_STEPS,
  REGEX_PROGRAM_MAX,
  REGEX_TEST_STEPS_MAX,
} from '../../engine/limits.ts';

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

for (const [pattern, classCount, rangeCount] of [
  ['a', 0, 0],
  [String.raw`\pL`, 1, 0],
  [String.raw`[\PL\p{Greek}]`, 2, 0],
  ['[Ā-Ȁ]', 0, 0],
  ['(?i)[a-z]', 0, 0],
  ['(?i)[a-zĀ-Ȁ]', 0, 1],
  [String.raw`a(?s-i:[\x{100}-\x{10ffff}Ā-Ȁ])`, 0, 2],
] as const) {
  test(`${JSON.stringify(pattern)} is compiled with ${classCount} classes and ${rangeCount} wide ranges`, () => {
    const steps =
      COMPILE_STEPS +
      REGEX_INSTRUCTION_STEPS * instructionsOf(pattern) +
      CLASS_STEPS * classCount +
      FOLDED_RANGE_STEPS * rangeCount;
    equal(compileStepsOf(pattern), steps);
  });
}

test('patterns that take long to compile are not compiled on a budget of planning', () => {
  const budget = new WorkBudget(FOLDING_STEPS_MAX);
  const compile = (index: number) => budget.run(() => compileRegex(`(?i)[Ā-\u{10ffff}]${index}`));
  equal([0, 1, 2, 3].filter((index) => compile(index) !== undefined).length, 2);
});

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
