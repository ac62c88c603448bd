import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scansOf } from '../../engine/plan/physical-plan.ts';
import { planOfText } from './plan-of-text.ts';

const SOURCES = [{ name: 'logs', projectPath: ['metadata', 'ref'] }];

/** The texts that each scan of a query needs, as `path: text`. */
function textsOf(sql: string): string[][] {
  return scansOf(planOfText(sql, SOURCES)).map(({ texts = [] }) =>
    texts.map(({ path, text, or = [] }) => `${path.join('.')}: ${[text, ...or].join(' or ')}`),
  );
}

/** The texts needed under a condition on `t`, its element `m` and its element `r`. */
function under(condition: string, unnest = 'CROSS JOIN UNNEST(m.request) AS r'): string[] {
  const [texts] = textsOf(
    `SELECT t.id FROM logs AS t CROSS JOIN UNNEST(t.metadata) AS m ${unnest} WHERE ${condition}`,
  );
  return texts!;
}

test('a condition that looks for a text in a field needs it, in whatever words', () => {
  for (const condition of [
    "REGEXP_CONTAINS(r.url, 'needle')",
    "r.url LIKE '%needle%'",
    "STRPOS(r.url, 'needle') > 0",
    "r.url = 'needle'",
    "'needle' = r.url",
    "STARTS_WITH(r.url, 'needle')",
    "ENDS_WITH(r.url, 'needle')",
    "r.url LIKE 'needle%'",
    "r.url LIKE '%needle'",
    "r.url LIKE 'needle'",
  ]) {
    assert.deepEqual(under(condition), ['metadata.request.url: needle'], condition);
  }
});

test('conditions that also hold without the text need none', () => {
  for (const condition of [
    "REGEXP_CONTAINS(r.url, 'n?e?e?d?l?e?')",
    "REGEXP_CONTAINS(r.url, 'needle|.')",
    "REGEXP_CONTAINS(r.url, '(?i)needle')",
    "r.url LIKE '%ne_ed_le%'",
    "r.url NOT LIKE '%needle%'",
    "NOT REGEXP_CONTAINS(r.url, 'needle')",
    "STRPOS(r.url, 'needle') > -1",
    "STRPOS(r.url, 'needle') = 0",
    "r.url != 'needle'",
    "r.url > 'needle'",
    "REGEXP_CONTAINS(r.url, 'needle') OR r.method = 'GET'",
    "REGEXP_CONTAINS(LOWER(r.url), 'needle')",
    "REGEXP_CONTAINS(COALESCE(r.url, 'needle'), 'needle')",
    "REGEXP_CONTAINS(t.event_message, 'needle')",
    "r.url LIKE '%no%'",
    "r.url LIKE '%'",
  ]) {
    assert.deepEqual(under(condition), [], condition);
  }
});

test('a pattern needs the texts that are in each of its matches', () => {
  for (const [condition, ...texts] of [
    ["REGEXP_CONTAINS(r.url, 'nee?dle')", 'dle'],
    ["REGEXP_CONTAINS(r.url, r'^one.*two\\.[a-z]+/three$')", '/three', 'two.', 'one'],
    [
      "REGEXP_CONTAINS(r.url, '/rest/(orders|users|tags)[?]id')",
      '/rest/',
      'orders or users or tags',
      '?id',
    ],
    ["REGEXP_CONTAINS(r.url, '(one|two.*more)$')", 'one or more'],
    ["REGEXP_CONTAINS(r.url, '(?:needle)+')", 'needle'],
    ["r.url LIKE '%nee_dle%'", 'nee', 'dle'],
    ["r.url LIKE 'one%two_%'", 'one', 'two'],
  ] as const) {
    const wanted = texts.map((text) => `metadata.request.url: ${text}`);
    assert.deepEqual(under(condition), wanted, condition);
  }
});

test('what a pattern needs is known though it may fail where it finds that; nothing behind it is', () => {
  const pattern = "REGEXP_CONTAINS(r.url, 'one.')";
  assert.deepEqual(under(`${pattern} AND r.host LIKE '%two%'`), ['metadata.request.url: one']);
  assert.deepEqual(under(`r.host LIKE '%two%' AND ${pattern}`).toSorted(), [
    'metadata.request.host: two',
    'metadata.request.url: one',
  ]);
  assert.deepEqual(under("REGEXP_CONTAINS(CAST(1 / r.n AS STRING), 'one.')"), []);
});

test('a text of three bytes is needed, one of two is not', () => {
  assert.deepEqual(under("r.url LIKE '%abc%'"), ['metadata.request.url: abc']);
  assert.deepEqual(under("r.url LIKE '%ab%'"), []);
  assert.deepEqual(under("r.url LIKE '%€%'"), ['metadata.request.url: €']);
});

test('all texts of a conjunction are needed, also where they are nested', () => {
  const condition = "r.url LIKE '%one%' AND (m.host LIKE '%two%' AND t.other.name LIKE '%three%')";
  assert.deepEqual(under(condition).toSorted(), [
    'metadata.host: two',
    'metadata.request.url: one',
    'other.name: three',
  ]);
});

test('elements of a LEFT JOIN are not needed', () => {
  const left = 'LEFT JOIN UNNEST(m.request) AS r';
  assert.deepEqual(under("m.host LIKE '%one%'", left), ['metadata.host: one']);
  assert.deepEqual(under("r.url LIKE '%one%'", left), []);
  assert.deepEqual(under('TRUE', "LEFT JOIN UNNEST(m.request) AS r ON r.url LIKE '%one%'"), []);
});

test('the project of the scan is not needed twice', () => {
  assert.deepEqual(under("m.ref = 'project' AND r.url LIKE '%one%'"), [
    'metadata.request.url: one',
  ]);
});

test('nothing is needed behind a condition that may fail, for it may fail on a row without the text', () => {
  const needs = "r.url LIKE '%one%'";
  assert.deepEqual(under(`${needs} AND CAST(r.n AS INT64) > 1`), ['metadata.request.url: one']);
  for (const failing of [
    'CAST(r.n AS INT64) > 1',
    '1 / r.n > 1',
    'REGEXP_CONTAINS(r.host, r.pattern)',
  ]) {
    assert.deepEqual(under(`${failing} AND ${needs}`), [], failing);
  }
  for (const safe of ['SAFE_CAST(r.n AS INT64) > 1', 'r.n IN (1, 2)', "r.host LIKE 'x_%'"]) {
    assert.deepEqual(under(`${safe} AND ${needs}`), ['metadata.request.url: one'], safe);
  }
  // What can fail stays behind what is written before it, though it reads the event alone.
  assert.deepEqual(under(`${needs} AND CAST(t.event_message AS INT64) > 1`), [
    'metadata.request.url: one',
  ]);
});

test('each scan has its own, through subqueries and below joins', () => {
  assert.deepEqual(
    textsOf(`WITH a AS (
        SELECT r.url, t.id FROM logs AS t, UNNEST(t.metadata) AS m, UNNEST(m.request) AS r
      )
      SELECT id FROM a WHERE url LIKE '%one%'`),
    [['metadata.request.url: one']],
  );
  assert.deepEqual(
    textsOf(`SELECT a.id FROM logs AS a JOIN logs AS b ON a.id = b.id
      WHERE a.x.url LIKE '%one%' AND b.y.url LIKE '%two%'`),
    [['x.url: one'], ['y.url: two']],
  );
});

test('a condition on groups or on the newest rows is none on each event', () => {
  assert.deepEqual(textsOf("SELECT MAX(t.a.url) AS u FROM logs AS t HAVING u LIKE '%one%'"), [[]]);
  assert.deepEqual(
    textsOf(
      "SELECT u FROM (SELECT t.a.url AS u FROM logs AS t ORDER BY t.timestamp DESC LIMIT 5) WHERE u LIKE '%one%'",
    ),
    [[]],
  );
});
