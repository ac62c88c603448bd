import { test } from 'node:test';
import { expectOutput, expectPlan, expectRefusal } from './bind-check.ts';

test('STRUCT names its fields by alias, or by the last word of a path', () => {
  expectOutput(
    'SELECT STRUCT(t.id, 1 AS n, 2) AS s FROM logs AS t',
    's STRUCT<id STRING, n INT64, INT64>',
  );
  expectOutput('SELECT (id, 1) AS s FROM logs', 's STRUCT<STRING, INT64>');
  expectOutput(
    'SELECT STRUCT<a FLOAT64, STRING>(1, id) AS s FROM logs',
    's STRUCT<a FLOAT64, STRING>',
  );
});

test('records are equal field by field', () => {
  expectPlan(
    "SELECT id FROM logs WHERE (id, project) = ('a', 'x')",
    'project id#1',
    "  filter ((id#1 = 'a') and (project#4 = 'x'))",
    '    scan logs',
  );
  expectPlan(
    "SELECT id FROM logs WHERE (id, project) IN (('a', 'x'), ('b', 'y'))",
    'project id#1',
    "  filter (((id#1 = 'a') and (project#4 = 'x')) or ((id#1 = 'b') and (project#4 = 'y')))",
    '    scan logs',
  );
  expectRefusal('SELECT ^(1, 2) = (1, 2, 3) AS x', '= cannot compare');
  expectRefusal('SELECT ^(1, 2) < (1, 3) AS x', '< does not compare records');
});

test('lists of records have the fields that all can be brought to', () => {
  expectOutput(
    'SELECT [STRUCT(1 AS a, 2.5 AS b), (1.5, 2)] AS x',
    'x ARRAY<STRUCT<a FLOAT64, b FLOAT64>>',
  );
});

test('a list with a type takes what can be brought to it', () => {
  expectOutput('SELECT ARRAY<FLOAT64>[1, NULL] AS x', 'x ARRAY<FLOAT64>');
  expectRefusal(
    "SELECT ARRAY<INT64>[1, ^'x'] AS x",
    'elements of ARRAY<INT64> are wanted; got STRING',
  );
});

test('a star leaves out what EXCEPT names, and has other values for what REPLACE names', () => {
  expectOutput(
    'SELECT * EXCEPT (metadata, PROJECT) REPLACE (1 AS id) FROM logs',
    'id INT64, timestamp TIMESTAMP, event_message STRING',
  );
  expectRefusal(
    'SELECT * EXCEPT (^idd) FROM logs',
    'EXCEPT names idd, which is not a column of *; did you mean id',
  );
  expectRefusal('SELECT ^* EXCEPT (a) FROM (SELECT 1 AS a)', 'EXCEPT leaves none of the columns');
});

test('the records of SELECT AS STRUCT leave as rows, and are values elsewhere', () => {
  expectOutput('SELECT AS STRUCT id, 1 AS n FROM logs', 'id STRING, n INT64');
  expectOutput(
    'SELECT t, t.id FROM (SELECT AS STRUCT id, 1 AS n FROM logs) AS t',
    't STRUCT<id STRING, n INT64>, id STRING',
  );
});

test('GROUP BY ALL groups by what is read from rows and not computed of groups', () => {
  expectPlan(
    'SELECT project AS p, 1 AS one, COUNT(*) AS n FROM logs GROUP BY ALL',
    'project p#8, one#9 := 1, n#7 := count#7',
    '  aggregate by p#8 := project#4 compute count#7 := count(*)',
    '    scan logs',
  );
  expectPlan(
    'SELECT COUNT(*) AS n FROM logs GROUP BY ALL',
    'project n#7 := count#7',
    '  aggregate compute count#7 := count(*)',
    '    scan logs',
  );
});
