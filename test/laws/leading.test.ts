import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../src/demo/traffic/random.ts';
import type { TestEvent } from '../column/batch-of.ts';
import { engineJson, fragmentedJson, segmentsOfEvents } from '../random-sql/engine-answer.ts';

const EVENT_COUNT = 6000;

/** Thousands of groups are finished. */
const CHECKPOINTS_MAX = 10_000;

/**
 * Files that are mostly read once, each in some time; now and then one takes none, or more than a double holds. Some of the
 * quickest have a word that is no number, none among the first.
 */
function storageEvents(random: Random, withMisfits: boolean): readonly TestEvent[] {
  return Array.from({ length: EVENT_COUNT }, (_, row) => {
    const file = random.below(EVENT_COUNT);
    const misfit = withMisfits ? [null, 'slow', 2n ** 60n, 0.5][random.below(40)] : undefined;
    const took = misfit === undefined ? random.below(2000) : misfit;
    const path = `/object/${file % 3}/${file % 50}/${file}.png`;
    const words = row > EVENT_COUNT / 2 && typeof took === 'number' && took < 20 ? 'few' : '2';
    const metadata = { path, took, words, user: row % 4000 };
    return { timestampUs: 1_768_478_400_000_000 + 1000 * row, metadata };
  });
}

const FROM = 'FROM logs, UNNEST(metadata) AS m';
const TEXTS = [
  `SELECT m.path, COUNT(*) AS n, AVG(m.took) AS mean, MAX(m.took) AS slowest ${FROM} GROUP BY m.path ORDER BY slowest DESC, m.path LIMIT 20`,
  `SELECT m.path, MIN(m.took) AS least, COUNT(*) AS n ${FROM} GROUP BY m.path ORDER BY least LIMIT 10 OFFSET 5`,
  `SELECT m.user, m.path, MAX(timestamp) AS last, COUNT(*) AS n ${FROM} GROUP BY m.user, m.path ORDER BY last DESC LIMIT 30`,
  `SELECT m.user, MAX(m.took) AS slowest, SUM(m.took) AS sum ${FROM} GROUP BY m.user ORDER BY slowest DESC LIMIT 5`,
  `SELECT m.user, MAX(m.took) AS slowest ${FROM} GROUP BY m.user ORDER BY slowest DESC NULLS FIRST LIMIT 5`,
  `SELECT m.user, MAX(m.took) AS slowest ${FROM} WHERE m.took < 1990 GROUP BY m.user HAVING COUNT(*) > 1 ORDER BY slowest DESC LIMIT 5`,
  `SELECT m.user, MAX(m.took) AS slowest, AVG(CAST(m.words AS FLOAT64)) AS w ${FROM} GROUP BY m.user ORDER BY slowest DESC LIMIT 5`,
];

/** What fails for groups far behind is computed below the grouping, of rows that are asked for. */
const BELOW = [`${FROM} LIMIT 5500`, `${FROM} UNION ALL SELECT '/none', 0, 1.5`].map(
  (from) =>
    `SELECT k, MAX(x) AS slowest, COUNT(y) AS n FROM (SELECT m.path AS k, m.took AS x, CAST(m.words AS FLOAT64) AS y ${from})
     GROUP BY k ORDER BY slowest DESC LIMIT 5`,
);

test('a grouping of few leaders fails for what it would not look at', () => {
  const events = storageEvents(new Random(7), false);
  const forms = [0, 4000, EVENT_COUNT].map((sealedCount) => segmentsOfEvents(events, sealedCount));
  for (const sql of BELOW) {
    for (const segments of forms) {
      assert.equal(engineJson(sql, segments, 'optimized', CHECKPOINTS_MAX), 'error', sql);
    }
  }
});

test('the first groups by a MAX or MIN are the same whether all groups are aggregated or not', () => {
  let refused = 0;
  for (const withMisfits of [false, true]) {
    const events = storageEvents(new Random(7), withMisfits);
    const forms = [0, 4000, EVENT_COUNT].map((sealedCount) =>
      segmentsOfEvents(events, sealedCount),
    );
    for (const sql of TEXTS) {
      const inFragments = fragmentedJson(sql, forms[1]!, 'segments', CHECKPOINTS_MAX);
      assert.ok(inFragments !== undefined && inFragments !== '[]', sql);
      refused += Number(inFragments === 'error');
      for (const segments of forms) {
        const whole = engineJson(sql, segments, 'optimized', CHECKPOINTS_MAX);
        assert.equal(whole, inFragments, sql);
      }
    }
  }
  assert.equal(refused, 2, 'a cast that fails for groups far behind fails');
});
