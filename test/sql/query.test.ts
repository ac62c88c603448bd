import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Query } from '../../engine/sql/ast.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { mustSelect, sketchQuery, sketchTables } from './sketch.ts';

function aliasesOf(query: Query): (string | undefined)[] {
  return mustSelect(query).items.map((item) => (item.kind === 'star' ? '*' : item.alias?.text));
}

test('select items have aliases with AS and without', () => {
  const query = parseQuery(
    'SELECT a AS x, b y, c, count(*) as count, d `z w`, e AS timestamp FROM t',
  );
  assert.deepEqual(aliasesOf(query), ['x', 'y', undefined, 'count', 'z w', 'timestamp']);
});

test('a star stands alone or behind a path', () => {
  const { items } = mustSelect(parseQuery('SELECT *, t.*, m.request.* FROM t'));
  assert.deepEqual(
    items.map((item) => item.kind === 'star' && (item.qualifier?.kind ?? 'none')),
    ['none', 'name', 'field'],
  );
});

test('the select list may end in a comma', () => {
  assert.equal(mustSelect(parseQuery('SELECT a, b, FROM t')).items.length, 2);
  assert.equal(mustSelect(parseQuery('SELECT a,')).items.length, 1);
  assert.equal(mustSelect(parseQuery('SELECT a, ORDER BY 1')).items.length, 1);
});

test('DISTINCT is kept and ALL is the default', () => {
  assert.equal(mustSelect(parseQuery('SELECT DISTINCT a')).distinct, true);
  assert.equal(mustSelect(parseQuery('SELECT ALL a')).distinct, false);
});

test('tables are dotted names, and one in backticks is one name', () => {
  assert.equal(sketchTables('a.b.c AS t'), 'a/b/c t');
  assert.equal(sketchTables('`edge.logs.prod` t'), 'edge.logs.prod t');
  assert.equal(sketchTables('`my-project`.logs.`x.y`'), 'my-project/logs/x.y');
  assert.equal(sketchTables('storage.logs.2'), 'storage/logs/2');
});

test('dashes belong to a table name where no blank stands beside them', () => {
  assert.equal(sketchTables('relay-logs-2'), 'relay-logs-2');
  assert.equal(sketchTables('my-project.set.tab r'), 'my-project/set/tab r');
  assert.throws(() => sketchTables('relay - logs'), /got "-"/);
});

test('joins group from the left, commas included', () => {
  assert.equal(
    sketchTables('a, b JOIN c ON x = y CROSS JOIN d'),
    '(cross (inner (comma a b) c (= x y)) d)',
  );
  assert.equal(
    sketchTables('a LEFT OUTER JOIN b ON x INNER JOIN c ON y'),
    '(inner (left a b x) c y)',
  );
});

test('a join with an array of the row may go without ON', () => {
  assert.equal(sketchTables('t LEFT JOIN UNNEST(t.m) AS m'), '(left t unnest<t.m> m)');
  assert.equal(sketchTables('t LEFT JOIN UNNEST(m) m ON true'), '(left t unnest<m> m true)');
  assert.equal(sketchTables('t JOIN t.m AS m, m.n'), '(comma (inner t t/m m) m/n)');
  assert.equal(
    sketchTables('t LEFT JOIN t.m AS m JOIN u ON x JOIN v JOIN w ON y ON z'),
    '(inner (inner (left t t/m m) u x) (inner v w y) z)',
  );
  assert.throws(() => sketchTables('t JOIN u'), /expected ON or USING; got the end of the query/);
});

test('an UNNEST may give the positions of its elements', () => {
  assert.equal(sketchTables('UNNEST([1]) WITH OFFSET'), 'unnest<[1n]> offset=offset');
  assert.equal(sketchTables('UNNEST(x) AS e WITH OFFSET AS i'), 'unnest<x> e offset=i');
  assert.equal(sketchTables('UNNEST(x) e WITH OFFSET i, t'), '(comma unnest<x> e offset=i t)');
});

test('parentheses hold a query or joined tables', () => {
  assert.equal(sketchTables('(SELECT 1) AS s'), 'subquery s');
  assert.equal(sketchTables('(a JOIN b ON c) JOIN d ON e'), '(inner (inner a b c) d e)');
  assert.equal(sketchTables('a LEFT JOIN (b CROSS JOIN c) ON d'), '(left a (cross b c) d)');
  assert.equal(sketchTables('((SELECT 1) LIMIT 2) s'), 'subquery s');
  assert.equal(sketchTables('((SELECT 1) s JOIN t ON x)'), '(inner subquery s t x)');
  assert.equal(sketchTables('((SELECT 1), t)'), '(comma subquery t)');
  assert.equal(sketchTables('((a, b) CROSS JOIN c)'), '(cross (comma a b) c)');
  assert.throws(() => sketchTables('(t)'), /got "\)"/);
  assert.throws(() => sketchTables('((SELECT 1) s)'), /got "\)"/);
  assert.throws(() => sketchTables('(a, b) AS s'), /got "AS"/);
});

test('every clause finds its place', () => {
  const query = parseQuery(`
    WITH a AS (SELECT 1 AS x), b AS (WITH c AS (SELECT 2) SELECT * FROM c)
    SELECT x, count(*) AS n FROM a, b WHERE x > 0 GROUP BY x, y HAVING n > 1
    ORDER BY n DESC, x NULLS LAST, z ASC NULLS FIRST LIMIT 10 OFFSET @skip;`);
  const select = mustSelect(query);
  assert.deepEqual(
    query.with.map(({ name }) => name.text),
    ['a', 'b'],
  );
  assert.equal(query.with[1]?.query.with[0]?.name.text, 'c');
  assert.equal(select.where?.kind, 'binary');
  assert.equal(select.groupBy.length, 2);
  assert.equal(select.having?.kind, 'binary');
  assert.deepEqual(
    query.orderBy.map(({ descending, nulls }) => [descending, nulls]),
    [
      [true, undefined],
      [false, 'last'],
      [false, 'first'],
    ],
  );
  assert.equal(query.limit?.kind, 'integer');
  assert.equal(query.offset?.kind, 'parameter');
});

test('LIMIT takes an integer, a parameter or a CAST of one', () => {
  assert.equal(parseQuery('SELECT 1 LIMIT CAST(@n AS INT64)').limit?.kind, 'cast');
  for (const text of ['-1', '1.5', 'x', "'1'", 'CAST(x AS INT64)']) {
    assert.throws(() => parseQuery(`SELECT 1 LIMIT ${text}`), /expected an integer or a parameter/);
  }
});

test('a query in parentheses is a body that may go on', () => {
  const query = parseQuery('(SELECT 1 ORDER BY 1 LIMIT 2) LIMIT 1');
  assert.equal(query.body.kind, 'query');
  assert.equal(query.orderBy.length, 0);
  assert.equal(query.limit?.kind === 'integer' && query.limit.value, 1n);
});

test('a query spans its words without the semicolon', () => {
  const text = '-- a comment\nSELECT 1 -- two\nLIMIT 3 ; -- end';
  const { span } = parseQuery(text);
  assert.equal(text.slice(span.start, span.end), 'SELECT 1 -- two\nLIMIT 3');
  assert.deepEqual([span.line, span.column], [2, 1]);
});

test('a star leaves columns out and puts others in their place', () => {
  const items = (text: string) => sketchQuery(parseQuery(text));
  assert.equal(items('SELECT * EXCEPT (a, b) FROM t'), '(select * -a -b)');
  assert.equal(
    items('SELECT t.* EXCEPT (a) REPLACE (b + 1 AS b, c d), x FROM t'),
    '(select t.* -a b=(+ b 1n) d=c x)',
  );
  assert.equal(items('SELECT * EXCEPT DISTINCT SELECT a FROM t'), '(except (select *) (select a))');
});

test('joins are left, right and full, with ON or with USING', () => {
  assert.equal(
    sketchTables('a RIGHT JOIN b ON x FULL OUTER JOIN c USING (y, z)'),
    '(full (right a b x) c (using y z))',
  );
  assert.equal(
    sketchTables('a LEFT JOIN (b CROSS JOIN UNNEST(b.m) AS m) ON true'),
    '(left a (cross b unnest<b.m> m) true)',
  );
});

test('GROUP BY ALL and SELECT AS STRUCT are kept', () => {
  assert.equal(mustSelect(parseQuery('SELECT a FROM t GROUP BY ALL')).groupBy, 'all');
  assert.equal(mustSelect(parseQuery('SELECT AS STRUCT 1 AS a')).asStruct, true);
  assert.equal(mustSelect(parseQuery('SELECT DISTINCT AS STRUCT a')).asStruct, true);
});
