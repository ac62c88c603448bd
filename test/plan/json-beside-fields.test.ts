import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { TestEvent } from '../column/batch-of.ts';
import { engineJson, fragmentedJson, segmentsOfEvents } from '../random-sql/engine-answer.ts';

const START_US = Date.parse('2026-01-15T11:00:00Z') * 1000;

const EVENTS: readonly TestEvent[] = [
  {
    id: 'a',
    timestampUs: START_US,
    event_message: '{"user":{"name":"ann"},"sizes":[1,2]}',
    metadata: [{ deep: { q: { r: 5 } }, mixed: 200, text: '{"b":1}' }],
  },
  {
    id: 'b',
    timestampUs: START_US + 1,
    event_message: 'no JSON',
    metadata: [{ deep: [{ q: 1 }, { q: 2 }], mixed: 'two', text: 'x' }],
  },
  {
    id: 'c',
    timestampUs: START_US + 2,
    event_message: '{"user":{"name":"bob"},"sizes":[]}',
    metadata: [{ mixed: true }],
  },
];

/** What is selected of each event, and what comes, in the order of the events. */
const TABLE: readonly (readonly [selected: string, ...answers: readonly string[]])[] = [
  ['m.deep', '[{"q":[{"r":5}]}]', '[{"q":1},{"q":2}]', 'null'],
  [
    'TO_JSON_STRING(m.deep)',
    String.raw`"[{\"q\":[{\"r\":5}]}]"`,
    String.raw`"[{\"q\":1},{\"q\":2}]"`,
    '"null"',
  ],
  ['TO_JSON(m.deep)', '[{"q":[{"r":5}]}]', '[{"q":1},{"q":2}]', 'null'],
  [
    "JSON_QUERY(m, '$.deep')",
    String.raw`"[{\"q\":[{\"r\":5}]}]"`,
    String.raw`"[{\"q\":1},{\"q\":2}]"`,
    'null',
  ],
  [
    "JSON_QUERY(m, '$.deep[0]')",
    String.raw`"{\"q\":[{\"r\":5}]}"`,
    String.raw`"{\"q\":1}"`,
    'null',
  ],
  ["JSON_VALUE(m.deep, '$.q.r')", '"5"', 'null', 'null'],
  ["JSON_VALUE(m.text, '$.b')", '"1"', 'null', 'null'],
  ['JSON_TYPE(m.deep)', '"object"', '"array"', 'null'],
  ["COALESCE(m.deep, JSON '0')", '[{"q":[{"r":5}]}]', '[{"q":1},{"q":2}]', '0'],
  ["IF(m.mixed = 'two', JSON '[]', m.mixed)", '200', '[]', 'true'],
  ["COALESCE(m.mixed, JSON '0')", '200', '"two"', 'true'],
  ['SAFE.PARSE_JSON(event_message).user', '{"name":"ann"}', 'null', '{"name":"bob"}'],
  ['LAX_INT64(SAFE.PARSE_JSON(event_message).sizes[1])', '2', 'null', 'null'],
];

function expectAnswer(sql: string, wanted: string): void {
  for (const sealedCount of [0, 1, EVENTS.length]) {
    const segments = segmentsOfEvents(EVENTS, sealedCount);
    for (const form of ['plain', 'optimized'] as const) {
      equal(engineJson(sql, segments, form), wanted, `${sql} ${form}, ${sealedCount} sealed`);
    }
    equal(fragmentedJson(sql, segments) ?? wanted, wanted, `${sql} in fragments`);
  }
}

for (const [selected, ...answers] of TABLE) {
  test(`${selected} of events, open and sealed`, () => {
    const rows = answers.map((answer) => `{"x":${answer}}`);
    expectAnswer(
      `SELECT ${selected} AS x FROM logs CROSS JOIN UNNEST(metadata) AS m ORDER BY logs.id`,
      `[${rows.join(',')}]`,
    );
  });
}

test('JSON goes through groups, unions, joins and windows as it is', () => {
  const parsed = 'SELECT id, SAFE.PARSE_JSON(event_message) AS j FROM logs';
  expectAnswer(
    `SELECT JSON_VALUE(j.user.name) AS name, ANY_VALUE(j.sizes) AS sizes, COUNT(j) AS n
     FROM (${parsed}) GROUP BY name ORDER BY name`,
    '[{"name":null,"sizes":null,"n":0},{"name":"ann","sizes":[1,2],"n":1},{"name":"bob","sizes":[],"n":1}]',
  );
  expectAnswer(
    `SELECT j.user AS x FROM (${parsed}) WHERE id = 'a'
     UNION ALL SELECT m.deep FROM logs, UNNEST(metadata) AS m WHERE id = 'a'`,
    '[{"x":{"name":"ann"}},{"x":[{"q":[{"r":5}]}]}]',
  );
  expectAnswer(
    `SELECT left_one.j AS x, LAG(right_one.j) OVER (ORDER BY left_one.id) AS y
     FROM (${parsed}) AS left_one JOIN (${parsed}) AS right_one USING (id)
     WHERE left_one.j.user IS NOT NULL ORDER BY id DESC LIMIT 1`,
    '[{"x":{"sizes":[],"user":{"name":"bob"}},"y":{"sizes":[1,2],"user":{"name":"ann"}}}]',
  );
  expectAnswer(
    `SELECT ARRAY_AGG(j IGNORE NULLS ORDER BY id) AS js FROM (${parsed})`,
    '[{"js":[{"sizes":[1,2],"user":{"name":"ann"}},{"sizes":[],"user":{"name":"bob"}}]}]',
  );
});
