import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { TestEvent } from '../column/batch-of.ts';
import { type Answer, areSame } from '../random-sql/answer.ts';
import { engineAnswer, segmentsOfEvents } from '../random-sql/engine-answer.ts';

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

const FOLDER = new URL('regressions/', import.meta.url);
const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

test('there are regressions to look at', () => {
  assert.ok(NAMES.length > 0);
});

for (const name of NAMES) {
  const text = readFileSync(new URL(name, FOLDER), 'utf8');
  const { why, sql, isOrdered, events, expected } = JSON.parse(text) as Regression;
  test(`${name.replace('.json', '')}: ${why}`, () => {
    for (const sealedCount of [0, events.length >> 1, events.length]) {
      const segments = segmentsOfEvents(events, sealedCount);
      for (const form of ['optimized', 'plain'] as const) {
        const got = engineAnswer(sql, segments, form);
        if (!areSame(got, expected, isOrdered)) assert.deepEqual(got, expected, form);
      }
    }
  });
}
