import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectRefused, refusalOf } from './refused.ts';

test('an error names the word that was not understood and what was expected', () => {
  expectRefused(
    'SELECT a AS b FORM t',
    'expected ",", FROM, ORDER BY, LIMIT or the end of the query; got "FORM"',
    'FORM',
  );
  expectRefused(
    'SELECT a FROM t WHERE x GRUOP BY y',
    'expected GROUP BY, HAVING, ORDER BY, LIMIT or the end of the query; got "GRUOP"',
    'GRUOP',
  );
  expectRefused('SELECT f(a', 'expected "," or ")"; got the end of the query', '');
  expectRefused(
    'SELECT a FROM',
    'expected a table, a subquery or UNNEST; got the end of the query',
    '',
  );
  expectRefused('SELECT FROM t', 'expected an expression; got "FROM"', 'FROM');
  expectRefused(
    'DELETE FROM t',
    'only a query is taken: SELECT, or WITH before it; got DELETE',
    'DELETE',
  );
  expectRefused('', 'expected SELECT, WITH or "("; got the end of the query', '');
});

test('a misspelt keyword is not taken for an alias', () => {
  const afterItem = 'expected ",", FROM, ORDER BY, LIMIT or the end of the query';
  expectRefused('SELECT a FORM t', `${afterItem}; got "FORM"`, 'FORM');
  const afterTable =
    'expected ",", JOIN, WHERE, GROUP BY, HAVING, ORDER BY, LIMIT or the end of the query';
  expectRefused('SELECT a FROM t WERE x = 1', `${afterTable}; got "WERE"`, 'WERE');
  expectRefused('SELECT a FROM t WERE (x)', `${afterTable}; got "WERE"`, 'WERE');
  expectRefused("SELECT a FROM t WERE 'x' = y", `${afterTable}; got "WERE"`, 'WERE');
});

test('a reserved word needs backticks to be a name', () => {
  const message = 'expected a name; got "order", a reserved word: write it in backticks';
  expectRefused('SELECT a AS order FROM t', message, 'order');
});

test('what PostgreSQL writes otherwise is told in the words of GoogleSQL', () => {
  const advice = '; got ""t"", a text: names are written in backticks';
  const from = 'expected a table, a subquery or UNNEST';
  expectRefused('SELECT a FROM "t"', from + advice, '"t"');
  expectRefused('SELECT a AS "t" FROM t', `expected a name${advice}`, '"t"');
  expectRefused('SELECT a."t" FROM t', `expected a name after "."${advice}`, '"t"');
  const like = 'ILIKE is not supported: write LOWER(…) LIKE …';
  expectRefused("SELECT a FROM t WHERE a ILIKE 'x'", like, 'ILIKE');
  const filter = 'FILTER is not supported: write COUNTIF(…), or IF(…) inside the aggregate';
  expectRefused('SELECT COUNT(*) FILTER (WHERE b) FROM t', filter, 'FILTER');
});

test('one semicolon may end the text and nothing may follow it', () => {
  expectRefused(
    'SELECT 1; SELECT 2',
    'only one query is allowed, and ";" ends it; got "SELECT" after it',
    'SELECT 2',
  );
  expectRefused('SELECT 1;;', 'only one query is allowed, and ";" ends it; got ";" after it', ';');
});

test('an error shows little of a long word', () => {
  const { message } = refusalOf(`SELECT 1 LIMIT ${'x'.repeat(100_000)}`);
  assert.equal(message, `expected an integer or a parameter; got "${'x'.repeat(40)}…"`);
});

test('constructs of GoogleSQL without a form in the tree are refused by name', () => {
  const cases: readonly (readonly [text: string, construct: string, at: string])[] = [
    ['WITH RECURSIVE a AS (SELECT 1) SELECT 2', 'WITH RECURSIVE', 'RECURSIVE'],
    ['SELECT a FROM t NATURAL JOIN u', 'NATURAL JOIN', 'NATURAL'],
    ['SELECT 1 EXCEPT ALL SELECT 2', 'EXCEPT ALL', 'ALL'],
    ['SELECT 1 UNION ALL BY NAME SELECT 2', 'UNION … BY', 'BY'],
    ['SELECT AS VALUE 1', 'SELECT AS VALUE or AS a type', 'AS'],
    ["SELECT NUMERIC '1.5'", 'a NUMERIC literal', 'NUMERIC'],
    ['SELECT a % b', 'the operator "%"', '%'],
    ['SELECT WITH(a AS 1, a)', 'WITH inside an expression', 'WITH'],
    ['SELECT (WITH(a AS 1, a))', 'WITH inside an expression', 'WITH'],
    ['SELECT a FROM t PIVOT (sum(b) FOR c IN (1))', 'PIVOT', 'PIVOT'],
    ['SELECT a FROM t x UNPIVOT (b FOR c IN (d))', 'UNPIVOT', 'UNPIVOT'],
    ['SELECT a FROM t TABLESAMPLE SYSTEM (1 PERCENT)', 'TABLESAMPLE', 'TABLESAMPLE'],
    ['SELECT a FROM f(1)', 'a table function', 'f(1'],
    ['SELECT a FROM UNNEST(b, c)', 'UNNEST of several arrays', 'UNNEST'],
    ['SELECT a FROM t GROUP BY ROLLUP(a)', 'GROUP BY ROLLUP', 'ROLLUP'],
    ['SELECT a LIKE ANY UNNEST(b)', 'LIKE ANY UNNEST', 'UNNEST'],
    ['SELECT a LIKE ALL (SELECT b)', 'LIKE ALL (SELECT …)', 'SELECT b'],
    ['SELECT CAST(a AS STRING(9))', 'a type with parameters', 'STRING'],
    ['SELECT f(a => 1)', 'a named argument ("=>")', '=>'],
    ['SELECT a FROM t |> WHERE b', 'the pipe operator "|>"', '|>'],
    ['SELECT ?', 'a parameter without a name ("?")', '?'],
    ['SELECT @@a', 'a system variable ("@@")', '@@'],
    ['SELECT @{a=1} b', 'a hint ("@{")', '@{'],
  ];
  for (const [text, construct, at] of cases) {
    const advice = construct.includes('%') ? ': write MOD(…, …)' : '';
    expectRefused(text, `${construct} is not supported${advice}`, at);
  }
});
