import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { expectRefused } from './refused.ts';
import { sketchQuery } from './sketch.ts';

function sketched(text: string): string {
  return sketchQuery(parseQuery(text));
}

test('set operations of one kind are one node with all inputs', () => {
  assert.equal(
    sketched('SELECT a UNION ALL SELECT b UNION ALL (SELECT c)'),
    '(union-all (select a) (select b) (select c))',
  );
  assert.equal(sketched('SELECT a UNION DISTINCT SELECT b'), '(union (select a) (select b))');
  assert.equal(sketched('SELECT a EXCEPT DISTINCT SELECT b'), '(except (select a) (select b))');
  assert.equal(
    sketched('SELECT a, FROM t INTERSECT DISTINCT SELECT b'),
    '(intersect (select a) (select b))',
  );
});

test('different set operations need parentheses', () => {
  const message = 'different set operations need parentheses around the first one';
  expectRefused('SELECT 1 UNION ALL SELECT 2 UNION DISTINCT SELECT 3', message, 'UNION DISTINCT');
  expectRefused('SELECT 1 EXCEPT DISTINCT SELECT 2 INTERSECT DISTINCT SELECT 3', message, 'INTER');
  assert.equal(
    sketched('(SELECT a UNION ALL SELECT b) EXCEPT DISTINCT SELECT c'),
    '(except (union-all (select a) (select b)) (select c))',
  );
});

test('a set operation says whether rows that are equal stay', () => {
  expectRefused('SELECT 1 UNION SELECT 2', 'expected ALL or DISTINCT; got "SELECT"', 'SELECT 2');
  expectRefused('SELECT 1 EXCEPT SELECT 2', 'expected DISTINCT; got "SELECT"', 'SELECT 2');
});

test('ORDER BY and LIMIT behind a set operation belong to all of it', () => {
  assert.equal(
    sketched('SELECT a UNION ALL SELECT b ORDER BY 1 LIMIT 2'),
    '((union-all (select a) (select b)) (order 1n) (limit 2n))',
  );
  assert.equal(
    sketched('SELECT a UNION ALL (SELECT b ORDER BY 1 LIMIT 2)'),
    '(union-all (select a) ((select b) (order 1n) (limit 2n)))',
  );
  const message = 'expected DESC, ASC, NULLS, ",", LIMIT or the end of the query; got "UNION"';
  expectRefused('SELECT a FROM t ORDER BY a UNION ALL SELECT b', message, 'UNION');
});

test('a query in parentheses goes on behind them wherever one stands', () => {
  const whole = '(union-all (select a) (select b))';
  assert.equal(sketched('(SELECT a) UNION ALL SELECT b'), whole);
  assert.equal(sketched('WITH t AS ((SELECT a) UNION ALL SELECT b) SELECT x'), '(select x)');
  assert.equal(sketched('SELECT ((SELECT a) UNION ALL SELECT b)'), `(select (scalar ${whole}))`);
  assert.equal(
    sketched('SELECT x IN ((SELECT a) UNION ALL (SELECT b))'),
    `(select (in x ${whole}))`,
  );
  assert.equal(
    sketched('SELECT EXISTS((SELECT a) UNION ALL SELECT b), ARRAY((SELECT a) LIMIT 1)'),
    `(select (exists ${whole}) (array ((select a) (limit 1n))))`,
  );
  const { body } = parseQuery('SELECT x FROM ((SELECT a) UNION ALL SELECT b) AS t');
  assert.equal(body.kind === 'select' && body.from?.kind, 'subquery');
});
