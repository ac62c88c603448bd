import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optimize } from '../../engine/plan/optimize/optimize.ts';
import { planText } from '../../engine/plan/plan-text.ts';
import { prepareQuery } from '../../engine/plan/prepared-query.ts';
import type { TestEvent } from '../column/batch-of.ts';
import { engineAnswer, segmentsOfEvents } from '../random-sql/engine-answer.ts';

/** Of the first `n` is no number, and its list has no elements; `ok` holds for the second alone. */
const EVENTS: readonly TestEvent[] = [
  { id: 'a', timestampUs: 1, metadata: [{ n: {}, ok: false, list: [] }] },
  { id: 'b', timestampUs: 2, metadata: [{ n: 7, ok: true, list: [{ n: 7 }] }] },
];

/** Fails for the first event. */
const N = 'CAST(t.metadata[SAFE_OFFSET(0)].n AS INT64)';
const OK = 't.metadata[SAFE_OFFSET(0)].ok';
const LIST = 't.metadata[SAFE_OFFSET(0)].list';
const NO_LOGS = "(SELECT * FROM logs WHERE id = 'none')";

for (const { title, sql, rows } of [
  {
    title: 'below an UNNEST',
    sql: `SELECT t.id FROM logs AS t, UNNEST(${LIST}) AS e WHERE ${N} > 0`,
    rows: [['b']],
  },
  {
    title: 'below an UNNEST of which a condition drops the elements',
    sql: `SELECT t.id FROM logs AS t JOIN UNNEST(t.metadata) AS e ON e.ok WHERE ${N} > 0`,
    rows: [['b']],
  },
  {
    title: 'below a join',
    sql: `SELECT t.id FROM logs AS t JOIN logs AS u ON t.id = u.id AND u.id = 'b' WHERE ${N} > 0`,
    rows: [['b']],
  },
  {
    title: 'below a join without a condition',
    sql: `SELECT t.id FROM logs AS t, ${NO_LOGS} AS u WHERE ${N} > 0`,
    rows: [],
  },
  {
    title: 'from the ON of a LEFT JOIN to its right side',
    sql: `SELECT u.id FROM logs AS u LEFT JOIN logs AS t ON u.id = t.id AND u.id = 'b' AND ${N} > 0`,
    rows: [['a'], ['b']],
  },
  {
    title: 'into the key of a join with no rows',
    sql: `SELECT t.id FROM logs AS t, ${NO_LOGS} AS u WHERE ${N} = LENGTH(u.id)`,
    rows: [],
  },
  {
    title: 'into the key of a join of no rows',
    sql: `SELECT t.id FROM ${NO_LOGS} AS u, logs AS t WHERE ${N} = LENGTH(u.id)`,
    rows: [],
  },
  {
    title: 'into the key of a join with a condition before it',
    sql: `SELECT t.id FROM logs AS t JOIN logs AS u ON t.id > u.id AND ${N} = 6 + LENGTH(u.id)`,
    rows: [['b']],
  },
  {
    title: 'before a condition on a function over a window',
    sql: `SELECT id FROM (
        SELECT id, p, COUNT(*) OVER (PARTITION BY p) AS count
        FROM (SELECT id, t.metadata[SAFE_OFFSET(0)].n AS p FROM logs AS t)
      ) WHERE count + LENGTH(id) = 2 AND id = 'b' AND CAST(p AS INT64) > 0`,
    rows: [['b']],
  },
  {
    title: 'before a condition on a group',
    sql: `SELECT n FROM (SELECT t.metadata[SAFE_OFFSET(0)].n AS n, MAX(id) AS id FROM logs AS t GROUP BY 1)
      WHERE id = 'b' AND CAST(n AS INT64) > 0`,
    rows: [[7]],
  },
  {
    title: 'before a subquery',
    sql: `SELECT id FROM logs AS t
      WHERE EXISTS (SELECT 1 FROM UNNEST(${LIST}) AS e WHERE e.n = 7) AND ${N} > 0`,
    rows: [['b']],
  },
  {
    title: 'below a limit',
    sql: `SELECT id FROM (SELECT * FROM logs ORDER BY id DESC LIMIT 1) AS t WHERE ${N} > 0`,
    rows: [['b']],
  },
  {
    title: 'before the list that a value is joined with',
    sql: `SELECT t.id FROM logs AS t JOIN UNNEST([7, 8]) AS x ON ${OK} AND ${N} = x`,
    rows: [['b']],
  },
]) {
  test(`a condition that can fail does not come ${title}`, () => {
    for (const form of ['plain', 'optimized'] as const) {
      const answer = engineAnswer(sql, segmentsOfEvents(EVENTS, 1), form);
      assert.deepEqual(answer === 'error' ? answer : [...answer].sort(), rows, form);
    }
  });
}

/** The optimised plan, one operator a line, from the top down. */
function planOf(sql: string): readonly string[] {
  const sources = [{ name: 'logs', projectPath: ['project'] }];
  const { bound } = prepareQuery(sql, { sources, parameters: [] });
  const plan = optimize(bound, { parameters: new Map(), nowUs: 0, rowsMax: 1000, sources });
  return planText(plan)
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().replaceAll(/#\d+/g, ''));
}

for (const condition of [
  "REGEXP_CONTAINS(t.event_message, r'a.*b')",
  'CAST(t.id AS STRING) > event_message',
  'EXTRACT(HOUR FROM t.timestamp) = 1',
  't.metadata[SAFE_OFFSET(0)].n = 1',
  't.id IN (SELECT id FROM logs WHERE SAFE_CAST(event_message AS INT64) = 1)',
]) {
  test(`a condition that cannot fail comes below an UNNEST: ${condition}`, () => {
    const plan = planOf(`SELECT t.id FROM logs AS t, UNNEST(t.metadata) AS m WHERE ${condition}`);
    const unnest = plan.findIndex((line) => line.startsWith('unnest'));
    const filter = plan.findIndex((line) => line.startsWith('filter'));
    assert.ok(unnest >= 0 && filter > unnest, plan.join('\n'));
  });
}

test('a condition that can fail comes below what has a row for each of its rows', () => {
  const plan = planOf(
    `SELECT t.id FROM logs AS t LEFT JOIN UNNEST(t.metadata) AS m LEFT JOIN logs AS u ON t.id = u.id
      WHERE CAST(t.x AS INT64) > 0`,
  );
  const filter = plan.findIndex((line) => /^filter .*cast/i.test(line));
  assert.match(plan[filter + 1] ?? '', /^scan/, plan.join('\n'));
});
