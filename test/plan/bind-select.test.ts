import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bind, expectOutput, expectPlan, expectRefusal } from './bind-check.ts';

test('filters lie below the select list, and the order between them', () => {
  expectPlan(
    "SELECT id FROM logs WHERE project = 'a' ORDER BY timestamp DESC LIMIT 100 OFFSET 5",
    'limit 100 offset 5',
    '  project id#1',
    '    sort timestamp#2 desc',
    "      filter (project#4 = 'a')",
    '        scan logs',
  );
});

test('NULLs come first ascending and last descending, unless the text says otherwise', () => {
  const keys = (sql: string) => {
    const { plan } = bind(`SELECT id FROM logs ORDER BY ${sql}`);
    assert.ok(plan.op === 'project' && plan.input.op === 'sort');
    return plan.input.keys.map((key) => key.nullsFirst);
  };
  assert.deepEqual(keys('id, id DESC'), [true, false]);
  assert.deepEqual(keys('id NULLS LAST, id DESC NULLS FIRST'), [false, true]);
});

test('WHERE takes a BOOL, or a field read as one', () => {
  expectPlan(
    'SELECT 1 FROM logs WHERE active',
    'project f0_#7 := 1',
    '  filter read(root#5.active as BOOL)',
    '    scan logs',
  );
  expectRefusal('SELECT 1 FROM logs WHERE ^id', 'WHERE takes BOOL; got STRING');
});

test('a bare word in GROUP BY and ORDER BY is the select alias before the column', () => {
  expectPlan(
    `SELECT timestamp_trunc(t.timestamp, minute) AS timestamp, count(*) AS count
     FROM logs AS t GROUP BY timestamp ORDER BY timestamp`,
    'project timestamp#8, count#7',
    '  sort timestamp#8',
    "    aggregate by timestamp#8 := timestamp_trunc(timestamp#2, 'MINUTE') compute count#7 := count(*)",
    '      scan logs',
  );
});

test('a path in GROUP BY is the column, though an alias has its last word', () => {
  expectRefusal(
    'SELECT timestamp_trunc(^t.timestamp, minute) AS id FROM logs AS t GROUP BY t.id',
    't.timestamp is neither in GROUP BY nor inside an aggregate',
  );
});

test('GROUP BY knows the implied name of a path, and positions', () => {
  const plan = [
    'project status_code#8, count#7',
    '  aggregate by status_code#8 := root#5.response.status_code compute count#7 := count(*)',
    '    scan logs',
  ];
  const select = 'SELECT response.status_code, count(*) AS count FROM logs GROUP BY ';
  expectPlan(`${select}status_code`, ...plan);
  expectPlan(`${select}1`, ...plan);
  expectPlan(`${select}logs.Response.status_code`, ...plan.with(1, plan[1]!.replace('.r', '.R')));
  expectRefusal(`${select}^3`, 'GROUP BY 3 is outside the select list, 1 to 2');
  expectRefusal(`${select}^0`, 'GROUP BY 0 is outside the select list, 1 to 2');
  expectRefusal(`${select}^2`, 'GROUP BY cannot use count, because it is computed by an aggregate');
});

test('group keys are known again inside larger expressions, in any letter case', () => {
  expectPlan(
    `SELECT concat(LOWER(t.id), '!') AS x, M.Path >= 'a' AS y
     FROM logs AS t, UNNEST(metadata) AS m GROUP BY lower(T.ID), m.path
     HAVING m.path IS NOT NULL ORDER BY lower(id) DESC`,
    "project x#10 := concat(#8, '!'), y#11 := (read(path#9 as STRING) >= 'a')",
    '  sort #8 desc',
    '    filter not(is_null(path#9))',
    '      aggregate by #8 := lower(id#1), path#9 := m#7.path',
    '        unnest root#5.metadata as m#7',
    '          scan logs',
  );
});

test('whether a record is in a computed array is a group key that is known again', () => {
  const from = 'FROM (SELECT 1 AS x, [STRUCT(1 AS v)] AS a, [STRUCT(2 AS v)] AS b)';
  const key = 'STRUCT(x) IN UNNEST(a)';
  bind(`SELECT NOT ${key} AS k, COUNT(*) AS n ${from} GROUP BY ${key} HAVING ${key}`);
  const list = (other: string) => `SELECT ${other} AS k ${from} GROUP BY ${key}`;
  expectRefusal(list('STRUCT(x) IN UNNEST(^b)'), 'b is neither in GROUP BY');
  expectRefusal(list('STRUCT(x + 1) IN UNNEST(^a)'), 'a is neither in GROUP BY');
});

test('a column that is neither grouped nor aggregated is refused by its path', () => {
  const from = 'FROM logs, UNNEST(metadata) AS m';
  expectRefusal(`SELECT id, ^m.request.path ${from} GROUP BY id`, 'm.request.path is neither');
  expectRefusal(`SELECT lower(^id), count(*) ${from}`, 'id is neither');
  expectRefusal(`SELECT count(*) ${from} HAVING ^id = 'a'`, 'id is neither');
  expectRefusal(`SELECT count(*) ${from} ORDER BY ^id`, 'id is neither');
  expectRefusal(`SELECT coalesce(m.level, ^m.path) ${from} GROUP BY m.level`, 'm.path is neither');
});

test('HAVING needs groups, and rows need a FROM to be counted or ordered', () => {
  expectRefusal('SELECT id FROM logs HAVING ^true', 'HAVING needs a GROUP BY');
  expectRefusal('^SELECT count(*) AS n', 'without FROM cannot have an aggregate');
  expectRefusal('^SELECT DISTINCT 1 AS a', 'without FROM cannot be DISTINCT');
  expectRefusal('SELECT 1 AS a ORDER BY ^a', 'without FROM cannot have ORDER BY');
});

test('equal aggregates are computed once', () => {
  expectPlan(
    'SELECT count(id) AS a, COUNT(ID) + 1 AS b, count(DISTINCT id) AS c FROM logs ORDER BY count(id)',
    'project a#7 := count#7, b#9 := (count#7 + 1), c#8 := count#8',
    '  sort count#7',
    '    aggregate compute count#7 := count(id#1), count#8 := count(distinct id#1)',
    '      scan logs',
  );
});

test('HAVING and ORDER BY may name aliases of aggregates, and use aggregates of their own', () => {
  expectPlan(
    `SELECT id, count(*) AS count FROM logs GROUP BY id
     HAVING count > 2 AND max(timestamp) > @since ORDER BY count DESC, min(timestamp)`,
    'project id#10, count#7',
    '  sort count#7 desc, min#8',
    '    filter ((count#7 > 2) and (max#9 > @since))',
    '      aggregate by id#10 := id#1 compute count#7 := count(*), min#8 := min(timestamp#2), max#9 := max(timestamp#2)',
    '        scan logs',
  );
});

test('inside an aggregate an alias that is itself an aggregate means the column', () => {
  expectPlan(
    'SELECT max(id) AS id FROM logs ORDER BY min(id)',
    'project id#7 := max#7',
    '  sort min#8',
    '    aggregate compute max#7 := max(id#1), min#8 := min(id#1)',
    '      scan logs',
  );
});

test('aggregates are refused where there are no groups, and inside one another', () => {
  expectRefusal(
    'SELECT 1 FROM logs WHERE ^count(*) > 1',
    'COUNT is an aggregate and cannot stand in WHERE',
  );
  expectRefusal(
    'SELECT 1 FROM logs GROUP BY ^max(id)',
    'MAX is an aggregate and cannot stand in GROUP BY',
  );
  expectRefusal('SELECT sum(^count(*)) FROM logs', 'cannot stand in the arguments of SUM');
  expectRefusal('SELECT 1 FROM logs AS a JOIN logs AS b ON ^max(a.id) = b.id', 'stand in ON');
  expectRefusal('SELECT 1 FROM UNNEST([^count(*)])', 'cannot stand in UNNEST');
});

test('lists and records are keys of groups, and not of an order', () => {
  expectOutput('SELECT 1 AS x FROM logs GROUP BY metadata', 'x INT64');
  expectOutput('SELECT DISTINCT id, metadata AS x FROM logs', 'id STRING, x ARRAY<DYNAMIC>');
  expectRefusal(
    'SELECT 1 FROM logs ORDER BY ^metadata',
    'ORDER BY takes no lists, records or JSON',
  );
});

test('the select list may name one alias twice, but not be grouped by it', () => {
  expectRefusal('SELECT id AS x, project AS x FROM logs GROUP BY ^x', 'x is ambiguous');
});

test('DISTINCT is a grouping by the whole list', () => {
  expectPlan(
    'SELECT DISTINCT project, lower(id) AS x FROM logs ORDER BY lower(id), project DESC LIMIT 3',
    'limit 3',
    '  project project#7, x#8',
    '    sort x#8, project#7 desc',
    '      aggregate by project#7 := project#4, x#8 := lower(id#1)',
    '        scan logs',
  );
});

test('after DISTINCT the order can use only what is selected', () => {
  expectRefusal('SELECT DISTINCT id FROM logs ORDER BY ^timestamp', 'timestamp is not');
  expectRefusal('SELECT DISTINCT id FROM logs GROUP BY id ORDER BY ^count(*)', 'COUNT is not');
});

test('DISTINCT over groups takes the groups as rows', () => {
  expectPlan(
    'SELECT DISTINCT count(*) AS c FROM logs GROUP BY id ORDER BY c',
    'project c#9',
    '  sort c#9',
    '    aggregate by c#9 := count#7',
    '      aggregate by id#8 := id#1 compute count#7 := count(*)',
    '        scan logs',
  );
});

test('ORDER BY takes positions, and columns that are not selected', () => {
  expectPlan(
    'SELECT lower(id) AS x FROM logs ORDER BY 1 DESC, length',
    'project x#7 := lower(id#1)',
    '  sort lower(id#1) desc, root#5.length',
    '    scan logs',
  );
  expectRefusal('SELECT id FROM logs ORDER BY ^2', 'ORDER BY 2 is outside the select list, 1 to 1');
});

test('a query in parentheses may be ordered and limited once more', () => {
  expectPlan(
    '(SELECT id, timestamp AS t FROM logs ORDER BY t DESC LIMIT 10) ORDER BY t, 1 LIMIT 5',
    'limit 5',
    '  project id#1, t#2 := timestamp#2',
    '    sort timestamp#2, id#1',
    '      limit 10',
    '        project id#1, t#2 := timestamp#2',
    '          sort timestamp#2 desc',
    '            scan logs',
  );
  expectRefusal('(SELECT id FROM logs) ORDER BY ^project', 'there is no column project here');
});

test('LIMIT takes a whole number or an INT64 parameter', () => {
  expectPlan('SELECT 1 AS x LIMIT @n', 'limit @n', '  project x#1 := 1', '    one-row');
  expectRefusal('SELECT 1 LIMIT ^@project', 'LIMIT takes an INT64 parameter; @project is STRING');
});

test('a column passed on twice keeps its id once', () => {
  expectPlan('SELECT id, id AS again FROM logs', 'project id#1, again#7 := id#1', '  scan logs');
});

test('parameters are told once each, in the spelling of their first use', () => {
  const { parameters } = bind('SELECT @Project AS a, @project AS b, @n AS c');
  assert.deepEqual(parameters, ['Project', 'n']);
});

test('a NULL that nothing gives a type leaves as NULL', () => {
  expectOutput('SELECT NULL AS x', 'x NULL');
});
