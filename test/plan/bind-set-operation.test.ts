import { test } from 'node:test';
import { expectOutput, expectPlan, expectRefusal } from './bind-check.ts';

test('UNION ALL gives the columns of its inputs by position, with the names of the first', () => {
  expectPlan(
    'SELECT id AS a FROM logs UNION ALL SELECT event_message FROM logs',
    'union a#13 of id#1 | event_message#9',
    '  project a#1 := id#1',
    '    scan logs',
    '  project event_message#9',
    '    scan logs',
  );
});

test('UNION DISTINCT is a grouping of the rows of all inputs', () => {
  expectPlan(
    'SELECT id FROM logs UNION DISTINCT SELECT project FROM logs',
    'aggregate by id#14 := id#13',
    '  union id#13 of id#1 | project#10',
    '    project id#1',
    '      scan logs',
    '    project project#10',
    '      scan logs',
  );
});

test('EXCEPT keeps the groups that only the first input has, INTERSECT those that all have', () => {
  expectPlan(
    'SELECT 1 AS a EXCEPT DISTINCT SELECT 2',
    'project a#9',
    '  filter (inputs#10 = 0)',
    '    aggregate by a#9 := a#7 compute inputs#10 := max(input#8)',
    '      union a#7 of a#4 | f0_#6, input#8 of input#3 | input#5',
    '        project a#4 := a#1, input#3 := 0',
    '          project a#1 := 1',
    '            one-row',
    '        project f0_#6 := f0_#2, input#5 := 1',
    '          project f0_#2 := 2',
    '            one-row',
  );
  expectOutput('SELECT 1 AS a INTERSECT DISTINCT SELECT 2', 'a INT64');
});

test('columns of a set operation have the type all inputs can be brought to', () => {
  expectOutput('SELECT 1 AS a UNION ALL SELECT 2.5', 'a FLOAT64');
  expectOutput('SELECT NULL AS a UNION ALL SELECT id FROM logs', 'a STRING');
  expectOutput(
    'SELECT m.x FROM logs, UNNEST(metadata) AS m UNION ALL SELECT id FROM logs',
    'x DYNAMIC',
  );
  expectOutput(
    'SELECT m.x FROM logs, UNNEST(metadata) AS m UNION ALL SELECT m.y FROM logs, UNNEST(metadata) AS m',
    'x DYNAMIC',
  );
  expectOutput("SELECT ['a'] AS x UNION ALL SELECT []", 'x ARRAY<STRING>');
  expectOutput("SELECT [] AS x UNION ALL SELECT ['a']", 'x ARRAY<STRING>');
  expectOutput("SELECT timestamp FROM logs UNION ALL SELECT '2026-01-15'", 'timestamp TIMESTAMP');
  expectRefusal(
    "SELECT 1 AS a UNION ALL SELECT ^'x'",
    'column 1 of UNION ALL needs values of one type; got INT64, STRING',
  );
  expectRefusal(
    'SELECT timestamp FROM logs UNION ALL SELECT ^id FROM logs',
    'got TIMESTAMP, STRING',
  );
});

test('inputs of a set operation have as many columns', () => {
  expectRefusal(
    'SELECT 1 AS a UNION ALL ^SELECT 1, 2',
    'must have as many columns as the first, 1; got 2',
  );
});

test('rows of JSON cannot be told apart', () => {
  expectRefusal(
    "^SELECT PARSE_JSON('1') AS a UNION DISTINCT SELECT PARSE_JSON('1')",
    'UNION DISTINCT takes no JSON; got JSON',
  );
});

test('ORDER BY behind a set operation sees the columns of its result only', () => {
  expectRefusal(
    'SELECT id AS a FROM logs UNION ALL SELECT id FROM logs ORDER BY ^id',
    'there is no column id',
  );
});
