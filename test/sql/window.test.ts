import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { expectRefused } from './refused.ts';
import { mustSelect, sketchExpression, sketchWindow } from './sketch.ts';

test('a window has partitions, an order and a frame, each of which may be left out', () => {
  assert.equal(sketchExpression('f() OVER ()'), 'f() over ()');
  assert.equal(sketchExpression('count(*) over w'), 'count(*) over (w)');
  assert.equal(
    sketchExpression('sum(a) OVER (PARTITION BY b, c ORDER BY d DESC, e)'),
    'sum(a) over ((by b c) (order d e))',
  );
  assert.equal(
    sketchExpression('sum(a) OVER (w ORDER BY d ROWS 2 PRECEDING) + 1'),
    '(+ sum(a) over (w (order d) (rows (preceding 2n) current-row)) 1n)',
  );
});

test('a frame lies between any two bounds', () => {
  const frame = (text: string) =>
    sketchExpression(`f() OVER (${text})`).slice('f() over ('.length, -1);
  assert.equal(
    frame('ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW'),
    '(rows unbounded-preceding current-row)',
  );
  assert.equal(
    frame('RANGE BETWEEN 1 + 1 PRECEDING AND @n FOLLOWING'),
    '(range (preceding (+ 1n 1n)) (following @n))',
  );
  assert.equal(
    frame('RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND UNBOUNDED FOLLOWING'),
    '(range (preceding (interval 1n DAY)) unbounded-following)',
  );
  assert.equal(frame('RANGE CURRENT ROW'), '(range current-row current-row)');
});

test('NULLS are ignored or respected inside the parentheses or behind them', () => {
  const inside = 'first_value(a ignore-nulls) over ()';
  assert.equal(sketchExpression('first_value(a IGNORE NULLS) OVER ()'), inside);
  assert.equal(sketchExpression('first_value(a) IGNORE NULLS OVER ()'), inside);
  assert.equal(sketchExpression('f(a RESPECT NULLS)'), 'f(a respect-nulls)');
  assert.equal(sketchExpression('f(g(a) IGNORE NULLS)'), 'f(g(a) ignore-nulls)');
  assert.equal(sketchExpression('f(g(a) IGNORE NULLS OVER ())'), 'f(g(a ignore-nulls) over ())');
});

test('an aggregate has modifiers behind its arguments', () => {
  assert.equal(
    sketchExpression('array_agg(DISTINCT a IGNORE NULLS ORDER BY b, c LIMIT 3)'),
    'array_agg(distinct a ignore-nulls (order b c) (limit 3n))',
  );
  assert.equal(sketchExpression("string_agg(a, ',' ORDER BY a)"), 'string_agg(a "," (order a))');
  assert.equal(sketchExpression('any_value(a HAVING MAX b)'), 'any_value(a (max b))');
  expectRefused('SELECT f(a LIMIT b)', 'expected an integer or a parameter; got "b"', 'b)');
});

test('QUALIFY and WINDOW follow HAVING', () => {
  const select = mustSelect(
    parseQuery(
      'SELECT a FROM t GROUP BY a HAVING b QUALIFY c WINDOW w AS (ORDER BY a), v AS w ORDER BY a',
    ),
  );
  assert.equal(select.qualify?.kind, 'name');
  assert.deepEqual(
    select.windows?.map(({ name, window }) => `${name.text} ${sketchWindow(window)}`),
    ['w ((order a))', 'v (w)'],
  );
});

test('an error inside a window names what may stand there', () => {
  expectRefused(
    'SELECT f() OVER',
    'expected the name of a window or "("; got the end of the query',
    '',
  );
  expectRefused(
    'SELECT f() OVER (ORDER BY a ROWS 1)',
    'expected PRECEDING or FOLLOWING; got ")"',
    ')',
  );
});
