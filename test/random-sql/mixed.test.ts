import { equal, fail } from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';
import { jsonText } from '../support/json-text.ts';
import { engineJson, fragmentedJson, segmentsOfEvents } from './engine-answer.ts';
import { type MixedCase, randomMixedCase } from './mixed-query.ts';

/** `WEIR_MIXED_QUERIES=5000` is the long form. */
const QUERIES = budgetOf('WEIR_MIXED_QUERIES', { fast: 100, all: 2_000 });

test('queries over fields of mixed kinds have the rows that plain loops find, however these lie', (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  let saidCount = 0;
  for (let number = 0; number < QUERIES; number++) {
    const one = randomMixedCase(new Random(seed + number));
    if (one.wanted === undefined) continue;
    saidCount++;
    const wrong = wrongAnswer(one);
    if (wrong === undefined) continue;
    fail(
      `seed ${seed + number}, ${wrong}, wanted ${one.wanted}\n${one.sql}\nover ${jsonText(one.events)}`,
    );
  }
  context.diagnostic(`${saidCount} queries`);
  equal(saidCount > QUERIES / 2, true);
});

function wrongAnswer({ sql, events, wanted }: MixedCase): string | undefined {
  for (const sealedCount of [0, events.length >> 1, events.length]) {
    const segments = segmentsOfEvents(events, sealedCount);
    const answers: Readonly<Record<string, string | undefined>> = {
      optimized: engineJson(sql, segments, 'optimized'),
      plain: engineJson(sql, segments, 'plain'),
      'by segments': fragmentedJson(sql, segments, 'segments'),
      'by rows': fragmentedJson(sql, segments, 'rows'),
    };
    for (const [which, got] of Object.entries(answers)) {
      if (got !== undefined && got !== wanted) return `${sealedCount} sealed, ${which}: got ${got}`;
    }
  }
  return undefined;
}
