import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bind, expectExpression, expectOutput, expectPlan, expectRefusal } from './bind-check.ts';

test('a source gives its five declared columns', () => {
  expectOutput(
    'SELECT * FROM logs',
    'id STRING, timestamp TIMESTAMP, event_message STRING, project STRING, metadata ARRAY<DYNAMIC>',
  );
});

test('a source with dots in its name is found by the whole name and named by its last word too', () => {
  expectOutput('SELECT logs.id FROM `edge.logs`', 'id STRING');
  expectOutput('SELECT `edge.logs`.id FROM edge.logs', 'id STRING');
});

test('an unknown name is not taken for what has no name', () => {
  assert.throws(
    () => bind('SELECT a + 1 AS b FROM UNNEST([1])'),
    /^QueryError: there is no column a here$/,
  );
});

test('names have no letter case', () => {
  expectPlan('SELECT T.ID FROM LOGS AS t', 'project ID#1 := id#1', '  scan logs');
});

test('any other top-level key of an event is a field of its root', () => {
  expectPlan(
    'SELECT t.region, level FROM logs AS t',
    'project region#7 := root#5.region, level#8 := root#5.level',
    '  scan logs',
  );
});

test('a row knows when it arrived where the service asks, and has a field of that name elsewhere', () => {
  const sql = 'SELECT _arrival, logs._arrival AS field, logs.* FROM logs';
  const names = bind(sql, { hasArrivals: true }).output.map(({ name, type }) => [name, type.kind]);
  assert.deepEqual(names.slice(0, 2), [
    ['_arrival', 'INT64'],
    ['field', 'DYNAMIC'],
  ]);
  assert.equal(names.length, 7, 'no star stands for it');
  expectOutput('SELECT _arrival FROM logs', '_arrival DYNAMIC');
});

test('metadata is the list under that key', () => {
  expectExpression('metadata', 'root#5.metadata', 'ARRAY<DYNAMIC>');
});

test('a chain of fields of an element is read where the data has it', () => {
  expectExpression('m.request.method', 'm#7.request.method', 'DYNAMIC');
});

test('a declared column wins over a field of an element', () => {
  expectExpression('project', 'project#4', 'STRING');
  expectExpression('m.project', 'm#7.project', 'DYNAMIC');
});

test('an unqualified field is looked for in elements in the order of FROM, then in the event', () => {
  expectPlan(
    'SELECT path FROM logs, UNNEST(metadata) AS m, UNNEST(m.request) AS request',
    'project path#9 := coalesce(m#7.path, request#8.path, root#5.path)',
    '  unnest m#7.request as request#8',
    '    unnest root#5.metadata as m#7',
    '      scan logs',
  );
});

test('an unqualified field of the only record in reach is read directly', () => {
  expectPlan(
    'SELECT level FROM (SELECT metadata FROM logs) AS t, UNNEST(metadata) AS m',
    'project level#9 := m#8.level',
    '  unnest metadata#7 as m#8',
    '    project metadata#7 := root#5.metadata',
    '      scan logs',
  );
});

test('an alias in FROM wins over a column of the same name', () => {
  expectPlan(
    'SELECT metadata.level FROM logs CROSS JOIN UNNEST(metadata) AS metadata',
    'project level#8 := metadata#7.level',
    '  unnest root#5.metadata as metadata#7',
    '    scan logs',
  );
});

test('an alias of a table used as a value is its row', () => {
  expectOutput('SELECT t FROM (SELECT 1 AS a, "b" AS b) AS t', 't STRUCT<a INT64, b STRING>');
});

test('a row is taken apart by position', () => {
  expectPlan(
    'SELECT t[0] AS x, t[ORDINAL(2)] AS y, t[SAFE_OFFSET(2)] AS z FROM (SELECT 1 AS a, "b" AS b) AS t',
    'project x#1 := a#1, y#2 := b#2, z#3 := null',
    "  project a#1 := 1, b#2 := 'b'",
    '    one-row',
  );
  expectRefusal('SELECT t[^2] FROM (SELECT 1 AS a, 2 AS b) AS t', 't has fields 0 to 1; got 2');
  expectRefusal('SELECT t[ORDINAL(^0)] FROM (SELECT 1 AS a) AS t', 't has fields 1 to 1; got 0');
  expectRefusal('SELECT t[^-1] FROM (SELECT 1 AS a) AS t', 'got -1');
  expectRefusal('SELECT t[^@n] FROM (SELECT 1 AS a) AS t', 'must be a whole number');
});

test('a field of a row that travelled through a subquery is found by its name', () => {
  expectPlan(
    'SELECT r.B FROM (SELECT t AS r FROM (SELECT 1 AS a, "b" AS b) AS t)',
    'project B#4 := r#3.b',
    '  project r#3 := struct(a#1, b#2)',
    "    project a#1 := 1, b#2 := 'b'",
    '      one-row',
  );
});

test('elements of lists are found by position, in each of the five ways', () => {
  expectExpression('metadata[0]', 'array_offset(root#5.metadata, 0)', 'DYNAMIC');
  expectExpression('m.list[OFFSET(1)]', 'array_offset(m#7.list, 1)', 'DYNAMIC');
  expectExpression('[1, 2][SAFE_OFFSET(1)]', 'array_safe_offset([1, 2], 1)', 'INT64');
  expectExpression('[1, 2][ORDINAL(1)]', 'array_ordinal([1, 2], 1)', 'INT64');
  expectExpression('[1, 2][SAFE_ORDINAL(@n)]', 'array_safe_ordinal([1, 2], @n)', 'INT64');
});

test('a field of a list is refused with the way to name its elements', () => {
  expectRefusal('SELECT metadata.^level FROM logs', 'CROSS JOIN UNNEST(metadata) AS element');
});

test('a string is no position of an element', () => {
  expectRefusal("SELECT metadata[^'level'] FROM logs", 'for a field write .level');
});

test('what is neither list nor record has no parts', () => {
  expectRefusal('SELECT id.^x FROM logs', 'id is of type STRING and has no field x');
  expectRefusal('SELECT ^id[0] FROM logs', 'id is of type STRING and has no elements');
});

test('an unknown column is refused with the nearest name', () => {
  expectRefusal('SELECT\n  ^amout\nFROM (SELECT 1 AS amount)', 'did you mean amount?');
  expectRefusal('SELECT t.^amout FROM (SELECT 1 AS amount) AS t', 'did you mean amount?');
  expectRefusal('SELECT ^zebra FROM (SELECT 1 AS amount)', 'there is no column zebra here');
  expectRefusal('SELECT ^zebra', 'there is no column zebra here');
});

test('an unknown table is refused with the nearest name', () => {
  expectRefusal('SELECT 1 FROM ^`edge.log`', 'there is no table edge.log; did you mean edge.logs?');
  expectRefusal('WITH recent AS (SELECT 1) SELECT 1 FROM ^resent', 'did you mean recent?');
});

test('a column where a table should be is refused with the way to unnest it', () => {
  expectRefusal('SELECT 1 FROM logs, ^metadata', 'write UNNEST(metadata)');
});

test('an undeclared parameter is refused with the nearest name', () => {
  expectRefusal('SELECT ^@projct', 'there is no parameter @projct; did you mean @project?');
});

test('a name that two tables have is ambiguous', () => {
  expectRefusal('SELECT ^id FROM logs AS a, logs AS b', 'a and b have one each');
  expectRefusal('SELECT ^x FROM (SELECT 1 AS x, 2 AS X)', 'has more than one');
  expectRefusal('SELECT t.^x FROM (SELECT 1 AS x, 2 AS X) AS t', 'ambiguous');
});

test('two items of FROM cannot bear one name', () => {
  expectRefusal('SELECT 1 FROM logs, ^logs', 'FROM names logs twice');
  expectRefusal('SELECT 1 FROM logs AS t, ^UNNEST(metadata) AS T', 'FROM names T twice');
});

test('a star of a record that only the data knows is refused', () => {
  expectRefusal('SELECT ^m.* FROM logs, UNNEST(metadata) AS m', 'm.* cannot be expanded');
  expectRefusal('SELECT ^id.* FROM logs', 'id.* needs a table or a record');
  expectRefusal('SELECT ^*', 'SELECT * needs a FROM');
});

test('a star gives the columns of all tables, or of one', () => {
  expectOutput(
    'SELECT b.*, a.* FROM (SELECT 1 AS x) AS a, (SELECT "y" AS y) AS b',
    'y STRING, x INT64',
  );
  expectOutput('SELECT * FROM (SELECT 1 AS x), UNNEST(["a"]) AS y', 'x INT64, y STRING');
});

test('columns without a name are numbered', () => {
  expectOutput(
    'SELECT 1, id, lower(id), t.project FROM logs AS t',
    'f0_ INT64, id STRING, f1_ STRING, project STRING',
  );
});

test('two columns of one name cannot leave the query, but may stay inside it', () => {
  expectRefusal('SELECT id, project, ^ID FROM logs', 'duplicate column name ID');
  expectOutput('SELECT a FROM (SELECT id, project AS ID, 1 AS a FROM logs)', 'a INT64');
});
