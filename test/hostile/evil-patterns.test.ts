import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evilPatterns, evilTexts } from '../../bench/workload/evil-patterns.ts';
import { compileRegex } from '../../engine/function/text/regular-expression.ts';
import { WorkBudget } from '../../engine/function/work-meter.ts';
import {
  REGEX_INSTRUCTION_STEPS,
  REGEX_LENGTH_MAX,
  REGEX_PROGRAM_MAX,
  REGEX_TEST_STEPS_MAX,
} from '../../engine/limits.ts';
import { QueryError } from '../../engine/query-error.ts';

/** Steps that are counted of one pattern and one text, at most. */
const STEPS_MAX = REGEX_PROGRAM_MAX * REGEX_INSTRUCTION_STEPS + REGEX_TEST_STEPS_MAX;

/**
 * Milliseconds of processor time of one pattern and one text: twenty times what is meant, as a busy machine counts
 * waiting for memory, too. An engine that tries all ways needs years.
 */
const PROCESSOR_MS_MAX = 1_000;

/** What a text comes to; `refused` by a limit of its own. */
function outcomeOf(pattern: string, text: string): boolean | 'refused' {
  const budget = new WorkBudget(STEPS_MAX);
  const outcome = budget.run(() => {
    try {
      return compileRegex(pattern).test(text);
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      assert.match(error.code, /^(?:invalid_regular_expression|query_limit)$/);
      assert.match(error.message, /at most \d+|is not valid/);
      return 'refused';
    }
  });
  assert.ok(outcome !== undefined, `more than ${STEPS_MAX} steps`);
  return outcome;
}

test('three hundred evil patterns over long texts are answered soon or refused', () => {
  const patterns = evilPatterns();
  const texts = evilTexts();
  assert.ok(patterns.length >= 300);
  let answeredCount = 0;
  for (const pattern of patterns) {
    for (const text of texts) {
      const start = process.cpuUsage();
      const outcome = outcomeOf(pattern, text);
      const { user, system } = process.cpuUsage(start);
      const ms = (user + system) / 1000;
      assert.ok(ms < PROCESSOR_MS_MAX, `${pattern}: ${ms} ms`);
      if (outcome !== 'refused') answeredCount++;
    }
  }
  // They are patterns, most of them.
  assert.ok(answeredCount > 0.8 * patterns.length * texts.length, String(answeredCount));
});

test('a pattern is refused if it is too long, or its repetitions are', () => {
  compileRegex('a'.repeat(REGEX_LENGTH_MAX));
  assert.throws(() => compileRegex('a'.repeat(REGEX_LENGTH_MAX + 1)), {
    code: 'invalid_regular_expression',
    message: /at most 1024 bytes; got 1025/,
  });
  assert.throws(() => compileRegex('(((a{30}){30}){30})'), {
    code: 'invalid_regular_expression',
    message: /at most 10000 characters once its repetitions are written out; got \d+/,
  });
});

test('patterns that run as automata are answered for texts of any length', () => {
  const long = `!${'ab'.repeat(2_000_000)}`;
  for (const pattern of ['(a|b)*a(a|b){5}!', '(.*a){5}c', '\\bfoo\\b', '(?i)x{1,20}y']) {
    assert.equal(outcomeOf(pattern, long), false, pattern);
  }
});
