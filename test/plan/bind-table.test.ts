import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bind,
  expectLimit,
  expectOutput,
  expectPlan,
  expectRefusal,
  operatorsOf,
} from './bind-check.ts';

test('a query without FROM has one row', () => {
  expectPlan("SELECT 'a' AS x", "project x#1 := 'a'", '  one-row');
});

test('a comma and CROSS JOIN are the same', () => {
  for (const join of [',', 'CROSS JOIN']) {
    const { plan } = bind(`SELECT 1 FROM logs ${join} \`deno-relay-logs\``);
    assert.deepEqual(
      operatorsOf(plan).map((each) => each.op),
      ['project', 'join', 'scan', 'scan'],
    );
  }
});

test('inner and left joins keep their condition', () => {
  for (const kind of ['inner', 'left'] as const) {
    expectPlan(
      `SELECT a.x FROM (SELECT 1 AS x) AS a ${kind} JOIN (SELECT 2 AS y) AS b ON x = b.y`,
      'project x#1',
      `  ${kind} join on (x#1 = y#2)`,
      '    project x#1 := 1',
      '      one-row',
      '    project y#2 := 2',
      '      one-row',
    );
  }
});

test('a condition sees only what is joined so far', () => {
  expectRefusal(
    'SELECT 1 FROM (SELECT 1 AS a) JOIN (SELECT 2 AS b) ON ^c = a JOIN (SELECT 3 AS c) ON a = c',
    'there is no column c here',
  );
  expectRefusal('SELECT 1 FROM logs AS a JOIN logs AS b ON ^a.id', 'ON takes BOOL; got STRING');
});

test('joined tables in parentheses are joined first, with names of their own', () => {
  expectPlan(
    `SELECT a.x FROM (SELECT 1 AS x) AS a LEFT JOIN (
       (SELECT [2] AS list) AS b CROSS JOIN UNNEST(list) AS y
     ) ON x = y`,
    'project x#1',
    '  left join on (x#1 = y#3)',
    '    project x#1 := 1',
    '      one-row',
    '    unnest list#2 as y#3',
    '      project list#2 := [2]',
    '        one-row',
  );
});

test('UNNEST is correlated with everything to its left, by UNNEST or by a path', () => {
  const lines = [
    'project path#9 := request#8.path',
    '  unnest metadata#7.request as request#8',
    '    unnest root#5.metadata as metadata#7',
    '      scan logs',
  ];
  expectPlan('SELECT request.path FROM logs AS t, t.metadata, metadata.request', ...lines);
  expectPlan(
    'SELECT request.path FROM logs AS t JOIN t.metadata CROSS JOIN UNNEST(metadata.request) AS request',
    ...lines,
  );
});

test('LEFT JOIN UNNEST keeps rows without elements; ON TRUE is no condition', () => {
  expectPlan(
    'SELECT 1 FROM logs LEFT JOIN UNNEST(metadata) AS m ON TRUE LEFT JOIN UNNEST(m.a) AS a LEFT JOIN UNNEST(m.b) AS b ON b.x = 1',
    'project f0_#10 := 1',
    '  outer unnest m#7.b as b#9 on (read(b#9.x as NUMBER) = 1)',
    '    outer unnest m#7.a as a#8',
    '      outer unnest root#5.metadata as m#7',
    '        scan logs',
  );
});

test('INNER JOIN UNNEST with a condition is a filter above it', () => {
  expectPlan(
    "SELECT 1 FROM logs JOIN UNNEST(metadata) AS m ON m.level = 'error'",
    'project f0_#8 := 1',
    "  filter (read(m#7.level as STRING) = 'error')",
    '    unnest root#5.metadata as m#7',
    '      scan logs',
  );
});

test('UNNEST may stand first, and its scalars are columns', () => {
  expectPlan(
    'SELECT x, offset, pos FROM UNNEST([1, 2]) AS x WITH OFFSET, UNNEST(["a"]) WITH OFFSET AS pos',
    'project x#1, offset#2, pos#4',
    "  unnest ['a'] as #3 with offset pos#4",
    '    unnest [1, 2] as x#1 with offset offset#2',
    '      one-row',
  );
  expectOutput('SELECT * FROM UNNEST([1.5]) WITH OFFSET', 'f0_ FLOAT64, offset INT64');
});

test('the fields of unnested records are columns', () => {
  expectPlan(
    `SELECT a, r.b, r AS whole
     FROM (SELECT [t] AS list FROM (SELECT 1 AS a, 'b' AS b) AS t), UNNEST(list) AS r`,
    'project a#5 := r#4.a, b#6 := r#4.b, whole#4 := r#4',
    '  unnest list#3 as r#4',
    '    project list#3 := [struct(a#1, b#2)]',
    "      project a#1 := 1, b#2 := 'b'",
    '        one-row',
  );
});

test('only lists are unnested', () => {
  expectRefusal('SELECT 1 FROM logs, UNNEST(^id)', 'UNNEST takes an ARRAY; got STRING');
  expectRefusal('SELECT 1 FROM UNNEST(^[[1]])', 'a list cannot hold lists');
});

test('later CTEs see earlier ones, and all may shadow sources', () => {
  expectPlan(
    'WITH logs AS (SELECT id FROM logs), a AS (SELECT id AS x FROM logs) SELECT * FROM A',
    'project x#1 := id#1',
    '  project x#1 := id#1',
    '    project id#1',
    '      scan logs',
  );
  expectRefusal('WITH a AS (SELECT 1 FROM ^b), b AS (SELECT 2) SELECT 1', 'there is no table b');
  expectRefusal('WITH a AS (SELECT 1), ^A AS (SELECT 2) SELECT 1', 'WITH names A twice');
});

test('a CTE inside a subquery hides the outer one, and ends with it', () => {
  expectOutput(
    `WITH a AS (SELECT 1 AS x)
     SELECT * FROM (WITH a AS (SELECT 'y' AS y) SELECT * FROM a) AS b, a`,
    'y STRING, x INT64',
  );
});

test('each use of a CTE is a copy with columns of its own', () => {
  const { plan } = bind(
    'WITH a AS (SELECT id FROM logs) SELECT l.id FROM a AS l JOIN a AS r ON l.id = r.id',
  );
  const ids = operatorsOf(plan).flatMap((each) =>
    each.op === 'scan' ? each.columns.map(({ column }) => column.id) : [],
  );
  assert.equal(ids.length, 12);
  assert.equal(new Set(ids).size, 12);
});

test('an unused CTE is left out, but its mistakes are found', () => {
  expectPlan('WITH a AS (SELECT id FROM logs) SELECT 1 AS x', 'project x#7 := 1', '  one-row');
  expectRefusal('WITH a AS (SELECT ^x FROM (SELECT 1 AS y)) SELECT 1', 'there is no column x here');
});

test('the order inside a CTE is kept', () => {
  expectPlan(
    'WITH a AS (SELECT id FROM logs ORDER BY timestamp DESC) SELECT id FROM a LIMIT 100',
    'limit 100',
    '  project id#1',
    '    project id#1',
    '      sort timestamp#2 desc',
    '        scan logs',
  );
});

test('CTEs that double at each step are refused before they fill the memory', () => {
  const steps = Array.from(
    { length: 50 },
    (_, step) => `c${step + 1} AS (SELECT l.x FROM c${step} AS l, c${step} AS r)`,
  );
  expectLimit(`WITH c0 AS (SELECT 1 AS x), ${steps.join(', ')} SELECT * FROM c50`, 'too large');
});

test('a hundred tables may be joined, and not one more', () => {
  const from = (count: number) =>
    Array.from({ length: count }, (_, index) => `(SELECT 1 AS x${index})`).join(', ');
  expectOutput(`SELECT x99 FROM ${from(100)}`, 'x99 INT64');
  expectLimit(`SELECT x99 FROM ${from(101)}`, 'FROM names more than 100 tables');
});

test('a SELECT gives two thousand columns, and not one more', () => {
  const list = (count: number) =>
    Array.from({ length: count }, (_, index) => `1 AS x${index}`).join();
  assert.equal(bind(`SELECT ${list(2000)}`).output.length, 2000);
  expectLimit(`SELECT ${list(2001)}`, 'more than 2000 columns');
});
