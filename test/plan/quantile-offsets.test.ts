import { equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { explainQuery } from '../../engine/plan/explanation.ts';
import { prepareQuery } from '../../engine/plan/prepared-query.ts';
import type { TestEvent } from '../column/batch-of.ts';
import { engineJson, segmentsOfEvents } from '../random-sql/engine-answer.ts';

const SOURCES = [{ name: 'logs', projectPath: ['project'] }];

const EVENTS = Array.from(
  { length: 40 },
  (_, index): TestEvent => ({
    timestampUs: 1_768_478_400_000_000 + index * 1_000_000,
    metadata: [{ ms: (index * 7) % 40, kind: index % 2 === 0 ? 'even' : 'odd' }],
  }),
);

const QUANTILES = 'APPROX_QUANTILES(m.ms, 4)';
const FROM = 'FROM logs CROSS JOIN UNNEST(logs.metadata) m';

/** Queries, each with the offsets that its quantiles need; `undefined`: all. */
const CASES: readonly (readonly [sql: string, offsets: string | undefined])[] = [
  [`SELECT ${QUANTILES}[OFFSET(3)] AS a ${FROM}`, '3'],
  [`SELECT ${QUANTILES}[OFFSET(3)] - ${QUANTILES}[OFFSET(1)] AS a ${FROM}`, '1, 3'],
  [
    `WITH q AS (SELECT m.kind, ${QUANTILES} AS list ${FROM} GROUP BY m.kind),
      r AS (SELECT kind, list AS l FROM q)
     SELECT kind, l[OFFSET(0)] AS a, l[OFFSET(4)] AS b FROM r WHERE l[OFFSET(2)] > 1 ORDER BY kind`,
    '0, 2, 4',
  ],
  [`SELECT ${QUANTILES} AS list, ${QUANTILES}[OFFSET(1)] AS a ${FROM}`, undefined],
  [`SELECT l[OFFSET(1)] AS a, l AS b FROM (SELECT ${QUANTILES} AS l ${FROM})`, undefined],
  [`SELECT ${QUANTILES}[SAFE_OFFSET(1)] AS a ${FROM}`, undefined],
  [
    `SELECT ARRAY_LENGTH(l) AS n, l[OFFSET(1)] AS a FROM (SELECT ${QUANTILES} AS l ${FROM})`,
    undefined,
  ],
  [
    `SELECT l[OFFSET(k)] AS a FROM (SELECT ${QUANTILES} AS l, COUNT(*) - 39 AS k ${FROM})`,
    undefined,
  ],
  [
    `SELECT l[OFFSET(1)] AS a FROM (
       SELECT ${QUANTILES} AS l ${FROM} UNION ALL SELECT APPROX_QUANTILES(m.ms, 1) AS l ${FROM}
     )`,
    undefined,
  ],
  [`SELECT (SELECT ${QUANTILES}[OFFSET(2)] ${FROM}) AS a, COUNT(*) AS n FROM logs`, '2'],
];

test('quantiles of which elements at constant offsets are read know which, and give the same', () => {
  const segments = segmentsOfEvents(EVENTS, 20);
  for (const [sql, offsets] of CASES) {
    const call = { parameters: new Map(), nowUs: 0, rowsMax: 100, sources: SOURCES };
    const query = prepareQuery(sql, { sources: SOURCES, parameters: [] });
    const plan = JSON.stringify(explainQuery(query, call).physical);
    const expected =
      offsets === undefined ? /approx_quantiles\([^[]*, 4\)/ : new RegExp(`, 4, \\[${offsets}\\]`);
    match(plan, expected, sql);
    const answer = engineJson(sql, segments, 'optimized');
    equal(answer, engineJson(sql, segments, 'plain'), sql);
    match(answer, /\d/, sql);
  }
});

test('an offset behind the end is an error as it was', () => {
  for (const elements of ['5', '1)] AS b, APPROX_QUANTILES(m.ms, 4)[OFFSET(5', '-1']) {
    const sql = `SELECT ${QUANTILES}[OFFSET(${elements})] AS a ${FROM}`;
    equal(engineJson(sql, segmentsOfEvents(EVENTS, 0), 'optimized'), 'error');
    equal(engineJson(sql, segmentsOfEvents(EVENTS, 0), 'plain'), 'error');
  }
});
