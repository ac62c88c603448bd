import { test } from 'node:test';
import { expectOutput, expectPlan, expectRefusal } from './bind-check.ts';

test('a subquery stands below the operator whose expression it is in, and says what it reads outside', () => {
  expectPlan(
    'SELECT id FROM logs AS t WHERE EXISTS(SELECT 1 FROM `edge.logs` AS u WHERE u.id = t.id)',
    'project id#1',
    '  filter exists(subquery of id#1)',
    '    scan logs',
    '    subquery: project f0_#19 := 1',
    '      filter (id#7 = id#13)',
    '        scan edge.logs',
  );
});

test('only the field that is read is captured, and each but once', () => {
  expectPlan(
    'SELECT (SELECT m.a + m.b.c + m.a) AS s FROM logs, UNNEST(metadata) AS m',
    'project s#12 := scalar(subquery of m#7.a, m#7.b.c)',
    '  unnest root#5.metadata as m#7',
    '    scan logs',
    '  subquery: project f0_#9 := ((read(m.a#10 as NUMBER) + read(m.b.c#11 as NUMBER)) + read(m.a#10 as NUMBER))',
    '    one-row',
  );
});

test('the type of a subquery is that of its column, and of an array that of its elements', () => {
  expectOutput(
    "SELECT (SELECT 1) AS a, (SELECT 'x') AS b, ARRAY(SELECT 1.5) AS c, EXISTS(SELECT 1) AS d, 1 IN (SELECT 2) AS e, ARRAY(SELECT NULL) AS f",
    'a INT64, b STRING, c ARRAY<FLOAT64>, d BOOL, e BOOL, f ARRAY<INT64>',
  );
});

test('the nearest name counts: inside, then further and further out', () => {
  expectOutput(
    `SELECT (SELECT (SELECT x FROM (SELECT 'inner' AS x)) FROM (SELECT 1 AS x)) AS a,
      (SELECT (SELECT x) FROM (SELECT 1 AS x)) AS b,
      (SELECT (SELECT x) FROM (SELECT 1 AS y)) AS c
    FROM (SELECT 1.5 AS x)`,
    'a STRING, b INT64, c FLOAT64',
  );
});

test('a subquery of several columns is no value', () => {
  expectRefusal('SELECT ^(SELECT 1, 2) AS x', 'takes one column; got 2');
  expectRefusal('SELECT ^ARRAY(SELECT 1, 2) AS x', 'takes one column; got 2');
  expectRefusal('SELECT 1 IN (^SELECT 1, 2) AS x', 'takes one column; got 2');
  expectRefusal('SELECT ^ARRAY(SELECT [1]) AS x', 'an array cannot hold arrays');
});

test('IN compares what `=` compares', () => {
  expectRefusal("SELECT ^'a' IN (SELECT 1) AS x", 'cannot compare');
});

test('what is read of a group must be the same for all its rows, also in a subquery', () => {
  expectRefusal(
    'SELECT project, (SELECT COUNT(*) FROM `edge.logs` AS u WHERE u.id = ^t.id) AS n FROM logs AS t GROUP BY project',
    't.id is neither in GROUP BY nor inside an aggregate',
  );
});

test('a common table sees no row outside', () => {
  expectRefusal(
    'SELECT (WITH w AS (SELECT ^x AS v) SELECT v FROM w) AS s FROM UNNEST([1]) AS x',
    'there is no column x here',
  );
});

test('an unknown name may be one of those outside', () => {
  expectRefusal(
    'SELECT (SELECT ^projct FROM (SELECT 1 AS y)) AS s FROM (SELECT 1 AS project)',
    'did you mean project?',
  );
});

test('a table in FROM sees nothing of those beside it', () => {
  expectRefusal('SELECT 1 FROM UNNEST([1]) AS a, (SELECT ^a AS b)', 'there is no column a here');
});
