import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_MODIFIERS } from '../../engine/aggregate/aggregate-function.ts';
import { APPROX_TOP_SUM } from '../../engine/aggregate/approx-top.ts';
import { DeferredState } from '../../engine/aggregate/deferred.ts';
import { type Chunk, VectorChunk } from '../../engine/column/chunk.ts';
import { FLOAT64, INT64 } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { numberVector, valueAt, valueVector } from '../../engine/column/vector.ts';
import { evaluateRelation } from '../../engine/plan/execute.ts';
import { foldPlan } from '../../engine/plan/optimize/fold.ts';
import { physicalPlanOf } from '../../engine/plan/physical-plan.ts';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { EVERYTHING } from '../../engine/plan/reach.ts';
import { QueryError } from '../../engine/query-error.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import type { TestEvent } from '../column/batch-of.ts';
import { engineJson, fragmentedJson, segmentsOfEvents } from '../random-sql/engine-answer.ts';
import { maker } from './rows-of-groups.ts';

const START_US = Date.parse('2026-01-10T00:00:00Z') * 1000;
const HOUR_US = 3_600_000_000;

/** Three groups, of NULL, x and y. */
const EVENTS: readonly TestEvent[] = [
  { k: 'x', a: 1, b: 1 },
  { k: 'y', a: 2, b: 2 },
  { k: null, a: 3, b: 0 },
  { k: 'x', a: 4, b: 0 },
  { k: 'y', a: 5, b: 1 },
  { k: 'x', a: 6, b: 0 },
].map((fields, index) => ({
  id: String(index),
  // Of several days, and so of several segments.
  timestampUs: START_US + 13 * index * HOUR_US,
  project: 'p',
  metadata: [fields],
}));

const FROM = 'FROM logs AS t, UNNEST(t.metadata) AS m';

/** The answer in every way that a plan is run. */
function answer(sql: string): unknown {
  const open = segmentsOfEvents(EVENTS, 0);
  const wanted = engineJson(sql, open, 'optimized');
  for (const sealedCount of [0, 3, EVENTS.length]) {
    const segments = segmentsOfEvents(EVENTS, sealedCount);
    assert.equal(engineJson(sql, segments, 'optimized'), wanted, sql);
    assert.equal(engineJson(sql, segments, 'plain'), wanted, `plain: ${sql}`);
    for (const by of ['segments', 'rows'] as const) {
      const cut = fragmentedJson(sql, segments, by);
      assert.ok(cut === undefined || cut === wanted, `by ${by} ${cut}, in one ${wanted}: ${sql}`);
    }
  }
  if (wanted === 'error') return wanted;
  return (JSON.parse(wanted) as object[]).map((row) => Object.values(row)[0]);
}

/** Of the groups NULL, x and y; b is 0 in the first two. */
const OF_GROUPS: readonly (readonly [expression: string, answers: unknown])[] = [
  ['IF(MIN(m.b) > 0, SUM(m.a / m.b), -1)', [-1, -1, 6]],
  ["IF(m.k = 'x', 0, SUM(m.a / m.b))", 'error'],
  ["IF(m.k = 'x' OR m.k IS NULL, 0, SUM(m.a / m.b))", [0, 0, 6]],
  ['CASE WHEN MIN(m.b) = 0 THEN NULL ELSE SUM(m.a / m.b) END', [null, null, 6]],
  ["CASE m.k WHEN 'y' THEN SUM(m.a / m.b) WHEN 'z' THEN MAX(m.a / m.b) END", [null, null, 6]],
  ["CASE WHEN m.k = 'x' THEN 1 WHEN MAX(m.a / m.b) > 0 THEN 2 END", 'error'],
  ['COALESCE(MAX(m.a), SUM(m.a / m.b))', [3, 6, 5]],
  ["COALESCE(MAX(IF(m.k = 'y', m.a, NULL)), SUM(m.a / m.b))", 'error'],
  ["COALESCE(MIN(IF(m.k = 'y', NULL, m.a)), SUM(m.a / m.b))", [3, 1, 6]],
  ['IFNULL(MAX(m.a), SUM(m.a / m.b))', [3, 6, 5]],
  ['IFNULL(SUM(m.a / m.b), 1)', 'error'],
  ['MIN(m.b) = 0 OR SUM(m.a / m.b) = 6', [true, true, true]],
  ['MIN(m.b) > 0 AND SUM(m.a / m.b) > 6', [false, false, false]],
  ['MIN(m.b) = 0 AND SUM(m.a / m.b) > 6', 'error'],
  ['SUM(m.a / m.b) > 6 AND MIN(m.b) > 0', 'error'],
  ['NULLIF(MAX(m.a), SUM(m.a / m.b))', 'error'],
  ['IF(MIN(m.b) > 0, NULLIF(MAX(m.a), SUM(m.a / m.b)), 0)', [0, 0, 5]],
  // One read outside of branches is enough.
  ['IF(MIN(m.b) > 0, SUM(m.a / m.b), -1) + IFNULL(SUM(m.a / m.b), 0)', 'error'],
  ['IF(SUM(m.a / m.b) > 0, 1, SUM(m.a / m.b))', 'error'],
  ['IF(MIN(m.b) > 0, IF(MAX(m.b) > 1, SUM(m.a / m.b), MIN(m.b / 0)), -1)', [-1, -1, 6]],
  // Each kind of aggregate.
  ['IF(MIN(m.b) > 0, SUM(DISTINCT m.a / m.b), 0)', [0, 0, 6]],
  ['IF(MIN(m.b) > 0, COUNT(DISTINCT m.a / m.b), 0)', [0, 0, 2]],
  ['IF(MIN(m.b) > 0, COUNT(m.a / m.b), 0)', [0, 0, 2]],
  ['IF(MIN(m.b) > 0, COUNTIF(m.a / m.b > 1), 0)', [0, 0, 1]],
  ['IF(MIN(m.b) > 0, LOGICAL_OR(m.a / m.b > 1), FALSE)', [false, false, true]],
  ['IF(MIN(m.b) > 0, ARRAY_AGG(m.a / m.b ORDER BY m.a), [])', [[], [], [1, 5]]],
  ['IF(MIN(m.b) > 0, ARRAY_AGG(m.a ORDER BY m.a / m.b DESC LIMIT 1), [])', [[], [], [5]]],
  ["IF(MIN(m.b) > 0, STRING_AGG(FORMAT('%g', m.a / m.b), '-' ORDER BY m.a), '')", ['', '', '1-5']],
  ['IF(MIN(m.b) > 0, MAX(m.a HAVING MIN m.a / m.b), 0)', [0, 0, 2]],
  ['IF(MIN(m.b) > 0, ANY_VALUE(m.a / m.b), NULL)', [null, null, 1]],
  ['IF(MIN(m.b) > 0, APPROX_QUANTILES(m.a / m.b, 2)[OFFSET(1)], 0)', [0, 0, 1]],
  ['IF(MIN(m.b) > 0, APPROX_TOP_SUM(m.k, m.b - 1, 1)[OFFSET(0)].sum, 0)', [0, 0, 1]],
  ['IF(MIN(m.b) > 0, MIN(CAST(m.k AS INT64)), 0)', 'error'],
  ["IF(m.k = 'z', MIN(CAST(m.k AS INT64)), 0)", [0, 0, 0]],
  ["IF(m.k = 'z', MIN(ERROR('no')), 0)", [0, 0, 0]],
  // What is added has values, and the sum has none.
  ["IF(m.k = 'z', SUM(9223372036854775807), 0)", [0, 0, 0]],
  ['IF(COUNT(*) < 2, SUM(9223372036854775807) - 9223372036854775806, 0)', [1, 0, 0]],
  ['IF(COUNT(*) < 3, SUM(9223372036854775807), 0)', 'error'],
  ['IF(COUNT(*) < 2, SUM(1e308), 0)', [1e308, 0, 0]],
];

test('an error of an aggregate counts where a branch is taken that reads it', () => {
  for (const [expression, wanted] of OF_GROUPS) {
    const got = answer(`SELECT ${expression} AS value, m.k ${FROM} GROUP BY m.k ORDER BY m.k`);
    assert.deepEqual(got, wanted, expression);
  }
});

const TEXTS: readonly (readonly [sql: string, answers: unknown])[] = [
  // One group: of all rows, or of none.
  [`SELECT IF(COUNT(*) = 6, 1, SUM(m.a / m.b)) ${FROM}`, [1]],
  [`SELECT IF(COUNT(*) = 6, SUM(m.a / m.b), 1) ${FROM}`, 'error'],
  [`SELECT IF(COUNT(*) = 0, SUM(m.a / m.b), 1) ${FROM} WHERE m.a > 6`, [null]],
  [`SELECT IF(COUNT(*) = 0, COUNT(m.a / m.b), 1) ${FROM} WHERE m.a > 6`, [0]],
  [`SELECT IF(m.k = 'y', SUM(m.a / m.b), 1) ${FROM} WHERE m.a > 6 GROUP BY m.k`, []],
  // A group that HAVING leaves out takes no branch, and its other aggregates have errors nonetheless.
  [`SELECT IF(TRUE, SUM(m.a / m.b), 0) ${FROM} GROUP BY m.k HAVING MIN(m.b) > 0`, [6]],
  [`SELECT SUM(m.a / m.b) ${FROM} GROUP BY m.k HAVING MIN(m.b) > 0`, 'error'],
  [`SELECT MAX(m.a) ${FROM} GROUP BY m.k HAVING MIN(m.b) > 0 AND SUM(m.a / m.b) > 0`, [5]],
  [`SELECT MAX(m.a) ${FROM} GROUP BY m.k HAVING SUM(m.a / m.b) > 0 AND MIN(m.b) > 0`, 'error'],
  [
    `SELECT MAX(m.a) ${FROM} GROUP BY m.k HAVING IF(MAX(m.a) = 5, SUM(m.a / m.b) > 0, TRUE) ORDER BY 1`,
    [3, 5, 6],
  ],
  [
    `SELECT MAX(m.a) ${FROM} GROUP BY m.k HAVING IF(MAX(m.a) = 6, SUM(m.a / m.b) > 0, TRUE)`,
    'error',
  ],
  [
    `SELECT MAX(m.a) ${FROM} GROUP BY m.k ORDER BY IF(MAX(m.a) = 5, -SUM(m.a / m.b), MAX(m.a))`,
    [5, 3, 6],
  ],
  [
    `SELECT MAX(m.a) ${FROM} GROUP BY m.k ORDER BY IF(MAX(m.a) = 5, -SUM(m.a / m.b), MAX(m.a)) LIMIT 2`,
    [5, 3],
  ],
  [`SELECT MAX(m.a) ${FROM} GROUP BY m.k ORDER BY IF(MAX(m.a) = 6, SUM(m.a / m.b), 1)`, 'error'],
  [
    `SELECT DISTINCT IF(MIN(m.b) > 0, SUM(m.a / m.b), 0) AS v ${FROM} GROUP BY m.k ORDER BY v`,
    [0, 6],
  ],
  // Read above the query that computes it.
  [
    `SELECT v + 1 FROM (SELECT IF(MIN(m.b) > 0, SUM(m.a / m.b), 0) AS v ${FROM} GROUP BY m.k) WHERE v > 0`,
    [7],
  ],
  [
    `SELECT IF(b > 0, v, 0) FROM (SELECT MIN(m.b) AS b, SUM(m.a / m.b) AS v ${FROM} GROUP BY m.k)`,
    'error',
  ],
  // The argument is computed below: for the rows that are asked for.
  [
    `WITH r AS (SELECT m.k, m.b, m.a / m.b AS q ${FROM}) SELECT IF(MIN(b) > 0, MAX(q), 0) FROM r GROUP BY k ORDER BY k`,
    [0, 0, 5],
  ],
  [
    `WITH r AS (SELECT m.k, m.b, m.a / m.b AS q ${FROM}) SELECT IF(k = 'y', 0, MAX(q)) FROM r GROUP BY k`,
    'error',
  ],
  // In a subquery, for each row outside.
  [
    `SELECT (SELECT IF(MIN(x) > 0, SUM(1 / x), -1) FROM UNNEST([INT64(m.b), 1]) AS x) ${FROM} ORDER BY m.a`,
    [2, 1.5, -1, -1, 2, -1],
  ],
  [
    `SELECT (SELECT IF(MIN(x) > 5, SUM(1 / x), COUNT(*)) FROM UNNEST([0, 1]) AS x WHERE x < m.b) ${FROM} ORDER BY m.a`,
    [1, 2, 0, 0, 1, 0],
  ],
  [
    `SELECT (SELECT IF(COUNT(*) = 0, COUNT(1 / x), -1) FROM UNNEST([0, 1]) AS x WHERE x < m.b) ${FROM} ORDER BY m.a`,
    [-1, -1, 0, 0, -1, 0],
  ],
  // Over windows.
  [`SELECT IF(m.b = 9, SUM(m.a / m.b) OVER (), m.a) ${FROM} ORDER BY m.a`, [1, 2, 3, 4, 5, 6]],
  [`SELECT IF(m.b = 2, SUM(m.a / m.b) OVER (), m.a) ${FROM}`, 'error'],
  [
    `SELECT IF(m.k = 'y', SUM(m.a / m.b) OVER (PARTITION BY m.k), 0) ${FROM} ORDER BY m.a`,
    [0, 6, 0, 0, 6, 0],
  ],
  [
    `SELECT IF(m.a < 3, SUM(m.a / m.b) OVER (ORDER BY m.a), 0) ${FROM} ORDER BY m.a`,
    [1, 2, 0, 0, 0, 0],
  ],
  [`SELECT IF(m.a = 5, SUM(m.a / m.b) OVER (ORDER BY m.a), 0) ${FROM} ORDER BY m.a`, 'error'],
  [
    `SELECT IF(m.a = 5, SUM(m.a / m.b) OVER (ORDER BY m.a ROWS BETWEEN CURRENT ROW AND CURRENT ROW), 0) ${FROM} ORDER BY m.a`,
    [0, 0, 0, 0, 5, 0],
  ],
  [
    `SELECT IF(m.a < 2, SUM(m.a / m.b) OVER (ORDER BY m.a ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING), 0) ${FROM} ORDER BY m.a`,
    [2, 0, 0, 0, 0, 0],
  ],
  [
    `SELECT IF(m.a = 6, 0, SUM(m.a / m.b) OVER (ORDER BY m.a ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)) ${FROM}`,
    'error',
  ],
  [
    `SELECT m.a ${FROM} QUALIFY COUNT(*) OVER () = 6 OR SUM(m.a / m.b) OVER () > 1 ORDER BY m.a`,
    [1, 2, 3, 4, 5, 6],
  ],
  [`SELECT m.a ${FROM} QUALIFY COUNT(*) OVER () < 6 OR SUM(m.a / m.b) OVER () > 1`, 'error'],
  // Functions of windows read one row, with IGNORE NULLS the frame, for percentiles the partition.
  [
    `SELECT IF(m.a < 4, LAG(m.a / m.b, 1, -1) OVER (ORDER BY m.a), 0) ${FROM} ORDER BY m.a`,
    [-1, 1, 1, 0, 0, 0],
  ],
  [`SELECT IF(m.a > 4, LAG(m.a / m.b, 1, -1) OVER (ORDER BY m.a), 0) ${FROM}`, 'error'],
  [
    `SELECT IF(m.a = 4, LEAD(m.a / m.b) OVER (ORDER BY m.a), m.a) ${FROM} ORDER BY m.a`,
    [1, 2, 3, 5, 5, 6],
  ],
  [
    `SELECT COALESCE(NULLIF(m.a, 6), FIRST_VALUE(m.a / m.b) OVER (ORDER BY m.a)) ${FROM} ORDER BY m.a`,
    [1, 2, 3, 4, 5, 1],
  ],
  [`SELECT COALESCE(NULLIF(m.a, 6), LAST_VALUE(m.a / m.b) OVER (ORDER BY m.a)) ${FROM}`, 'error'],
  [
    `SELECT IF(m.a > 1, NTH_VALUE(m.a / m.b, 2) OVER (ORDER BY m.a), NULL) ${FROM} ORDER BY m.a`,
    [null, 1, 1, 1, 1, 1],
  ],
  [
    `SELECT IF(m.a < 3, NTH_VALUE(m.a / m.b, 2 IGNORE NULLS) OVER (ORDER BY m.a), NULL) ${FROM} ORDER BY m.a`,
    [null, 1, null, null, null, null],
  ],
  [
    `SELECT IF(m.a > 3, NTH_VALUE(m.a / m.b, 2 IGNORE NULLS) OVER (ORDER BY m.a), NULL) ${FROM}`,
    'error',
  ],
  [
    `SELECT IF(m.k = 'y', PERCENTILE_CONT(m.a / m.b, 0.5) OVER (PARTITION BY m.k), 0) ${FROM} ORDER BY m.a`,
    [0, 3, 0, 0, 3, 0],
  ],
  [
    `SELECT IF(m.k = 'x', PERCENTILE_DISC(m.a / m.b, 0.5) OVER (PARTITION BY m.k), 0) ${FROM}`,
    'error',
  ],
  // So do the keys of a window that branches alone read.
  [
    `SELECT IF(m.a > 6, RANK() OVER (ORDER BY m.a / m.b), m.a) ${FROM} ORDER BY m.a`,
    [1, 2, 3, 4, 5, 6],
  ],
  [`SELECT IF(m.a > 5, RANK() OVER (ORDER BY m.a / m.b), m.a) ${FROM}`, 'error'],
  [
    `SELECT IF(m.a > 6, RANK() OVER (ORDER BY m.a / m.b), MAX(m.a) OVER (ORDER BY m.a / m.b)) ${FROM}`,
    'error',
  ],
  [
    `SELECT IF(m.a > 6, RANK() OVER (ORDER BY m.a / m.b), m.a), MAX(m.a) OVER (ORDER BY m.a / m.b) ${FROM}`,
    'error',
  ],
  [
    `SELECT IF(m.a > 6, COUNT(*) OVER (PARTITION BY DIV(m.a, m.b)), m.a) ${FROM} ORDER BY m.a`,
    [1, 2, 3, 4, 5, 6],
  ],
  [
    `SELECT IF(m.k = 'z', RANK() OVER (ORDER BY SUM(m.a / m.b)), MAX(m.a)) ${FROM} GROUP BY m.k ORDER BY m.k`,
    [3, 6, 5],
  ],
  [
    `SELECT IF(b > 0, RANK() OVER (ORDER BY a), 0) FROM (SELECT m.a, m.b ${FROM}) ORDER BY a`,
    [1, 2, 0, 0, 5, 0],
  ],
  [
    `SELECT IF(q > 0, NTILE(2) OVER (ORDER BY r), 0) FROM (SELECT m.a, m.a / 2 AS q, m.b, -1 / m.a AS r ${FROM}) ORDER BY a`,
    [1, 1, 1, 2, 2, 2],
  ],
  [
    `SELECT IF(m.k = 'y', SUM(SUM(m.a / m.b)) OVER (PARTITION BY m.k), 0) ${FROM} GROUP BY m.k ORDER BY m.k`,
    [0, 0, 6],
  ],
  [`SELECT IF(m.k = 'y', SUM(SUM(m.a / m.b)) OVER (), 0) ${FROM} GROUP BY m.k`, 'error'],
  [
    `SELECT IF(m.k = 'y', SUM(IF(m.k = 'y', SUM(m.a / m.b), 0)) OVER (), 0) ${FROM} GROUP BY m.k ORDER BY m.k`,
    [0, 0, 6],
  ],
];

test('so it is with groups that HAVING leaves out, orders, subqueries and windows', () => {
  for (const [sql, wanted] of TEXTS) assert.deepEqual(answer(sql), wanted, sql);
});

function errorOf(sql: string): QueryError {
  try {
    const bound = bindQuery(parseQuery(sql), { sources: [], parameters: [] });
    const plan = foldPlan(bound.plan, { parameters: new Map(), nowUs: START_US });
    evaluateRelation(physicalPlanOf(plan, EVERYTHING), bound.output);
  } catch (error) {
    assert.ok(error instanceof QueryError);
    return error;
  }
  throw new Error('it has an answer');
}

test('an error in a branch is reported at the aggregate, any other error at its own place', () => {
  const rows = 'FROM UNNEST([1, 2]) AS a';
  const deferred = errorOf(`SELECT IF(COUNT(*) = 2, SUM(a / 0), 1) ${rows}`);
  assert.equal(deferred.code, 'query_failed');
  assert.equal(deferred.message, 'division by zero: 1 / 0');
  assert.equal(deferred.span?.column, 25);
  const read = errorOf(`SELECT SUM(a / 0) ${rows}`);
  assert.equal(read.message, 'division by zero: 1 / 0');
  assert.equal(read.span?.column, 12);
});

test('only what may fail and is read in branches alone is deferred', () => {
  const isDeferred = (list: string) => {
    const bound = bindQuery(parseQuery(`SELECT ${list} FROM UNNEST([1]) AS a`), {
      sources: [],
      parameters: [],
    });
    return JSON.stringify(bound.plan).includes('isDeferred');
  };
  for (const list of [
    'SUM(a / 2)',
    'IF(SUM(a / 2) > 1, 1, 2)',
    'COALESCE(SUM(a), 0)',
    'IF(COUNT(*) > 1, MAX(a), MIN(a))',
    'IF(COUNT(*) > 1, COUNT(DISTINCT a), AVG(a))',
    'IF(COUNT(*) > 1, SUM(a), 0), SUM(a)',
    'IF(COUNT(*) > 1, APPROX_QUANTILES(a, 2)[OFFSET(1)], 0)',
    'IF(a > 1, LAG(a) OVER (ORDER BY a), 0)',
    'COALESCE(LAG(a / 2) OVER (ORDER BY a), 0)',
    'IF(a > 1, RANK() OVER (ORDER BY a), 0)',
    'IF(RANK() OVER (ORDER BY a / 2) > 1, DENSE_RANK() OVER (ORDER BY a / 2), 0)',
  ]) {
    assert.equal(isDeferred(list), false, list);
  }
  assert.equal(isDeferred('IF(COUNT(*) > 1, SUM(a), 0)'), true);
  assert.equal(isDeferred('IF(COUNT(*) > 1, MAX(a / 2), 0)'), true);
  assert.equal(isDeferred('IF(a > 1, LAG(a / 2) OVER (ORDER BY a), 0)'), true);
  assert.equal(isDeferred('IF(a > 1, RANK() OVER (ORDER BY a / 2), 0)'), true);
});

/** Fails for a row whose value is below 0. */
function roots(values: readonly SqlValue[]) {
  return {
    chunk: new VectorChunk([valueVector(values)], values.length),
    functions: [
      (rows: Chunk) => {
        const own = Array.from({ length: rows.count }, (_, row) =>
          Number(valueAt(rows.column(0), row)),
        );
        const below = own.find((value) => value < 0);
        if (below !== undefined) throw new QueryError('query_failed', `no root of ${below}`);
        return numberVector(Float64Array.from(own, Math.sqrt), rows.count);
      },
    ],
  };
}

test('a partial state has the errors of its groups, and the first by its text is raised', () => {
  const make = () => new DeferredState(maker('sum', FLOAT64));
  const [one, other] = [make(), make()];
  one.updateApart(Int32Array.of(0, 1, 0, 2), 3, roots([4, -2, 9, 16]));
  // Group 1 has failed, so what is left of it is not looked at.
  one.updateApart(Int32Array.of(1, 0), 3, roots([-1, 25]));
  other.updateApart(Int32Array.of(0, 1, 2), 3, roots([-3, -1, 1]));
  assert.deepEqual(
    [0, 1, 2].map((group) => one.finalize(group)),
    [[10], [null, 'query_failed', 'no root of -2'], [4]],
  );
  const same = Int32Array.of(0, 1, 2);
  const partials = [structuredClone(one.partial(3)), structuredClone(other.partial(3))];
  for (const order of [partials, partials.toReversed()]) {
    const all = make();
    for (const partial of order) all.combine(partial, same, 3);
    assert.deepEqual(
      [0, 1, 2, 3].map((group) => all.finalize(group)),
      [[null, 'query_failed', 'no root of -3'], [null, 'query_failed', 'no root of -1'], [5], null],
    );
  }
});

test('a value that the aggregate does not take is an error of its group alone', () => {
  const [overload] = APPROX_TOP_SUM.overloads;
  const state = new DeferredState(() => overload!.create([INT64, INT64], [1], NO_MODIFIERS));
  const weights = numberVector(Float64Array.of(1, -1, 2, 3), 4);
  const values = numberVector(Float64Array.of(7, 7, 8, 9), 4);
  state.update(Int32Array.of(0, 1, 0, 1), 4, 2, [values, weights]);
  assert.deepEqual(state.finalize(0), [[[8, 2]]]);
  assert.equal(state.finalize(1)?.[1], 'query_failed');
});
