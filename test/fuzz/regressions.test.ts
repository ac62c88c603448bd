import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import type { TestEvent } from '../column/batch-of.ts';
import { type Answer, areSame } from '../random-sql/answer.ts';
import { engineAnswer, segmentsOfEvents } from '../random-sql/engine-answer.ts';
import { filesBelow } from '../support/source-files.ts';

/**
 * One fault that random queries found, kept for ever: a file of `regressions`, named by what was
 * wrong. `expected` is what Google's engine answers; `error` where it refuses or fails.
 */
type Regression = {
  readonly why: string;
  readonly sql: string;
  /** Whether the text orders its rows by all of their columns. */
  readonly isOrdered: boolean;
  readonly events: readonly TestEvent[];
  readonly expected: Answer;
};

const FILES = filesBelow('test/fuzz/regressions', '.json');

test('there are regressions to look at', () => {
  assert.ok(FILES.length > 0);
});

for (const { path, text } of FILES) {
  const { why, sql, isOrdered, events, expected } = JSON.parse(text) as Regression;
  test(`${basename(path, '.json')}: ${why}`, () => {
    for (const sealedCount of [0, events.length >> 1, events.length]) {
      const segments = segmentsOfEvents(events, sealedCount);
      for (const form of ['optimized', 'plain'] as const) {
        const got = engineAnswer(sql, segments, form);
        if (!areSame(got, expected, isOrdered)) assert.deepEqual(got, expected, form);
      }
    }
  });
}
