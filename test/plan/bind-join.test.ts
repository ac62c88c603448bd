import { test } from 'node:test';
import { expectOutput, expectPlan, expectRefusal } from './bind-check.ts';

test('a RIGHT JOIN is the LEFT JOIN from the other side', () => {
  expectPlan(
    'SELECT a, b FROM UNNEST([1]) AS a RIGHT JOIN UNNEST([2]) AS b ON a = b',
    'project a#1, b#2',
    '  left join on (a#1 = b#2)',
    '    unnest [2] as b#2',
    '      one-row',
    '    unnest [1] as a#1',
    '      one-row',
  );
});

test('USING gives the columns it names once and first', () => {
  expectOutput(
    "SELECT * FROM (SELECT 1 AS a, 'x' AS k) JOIN (SELECT 2 AS b, 'y' AS k) USING (k)",
    'k STRING, a INT64, b INT64',
  );
  expectOutput(
    "SELECT y.* FROM (SELECT 1 AS a, 'x' AS k) JOIN (SELECT 2 AS b, 'y' AS k) AS y USING (k)",
    'b INT64, k STRING',
  );
});

test('the column of a FULL JOIN with USING is that of whichever side is there', () => {
  expectPlan(
    'SELECT k FROM (SELECT 1 AS k) FULL JOIN (SELECT 2 AS k) USING (k)',
    'project k#3 := coalesce(k#1, k#2)',
    '  full join on (k#1 = k#2)',
    '    project k#1 := 1',
    '      one-row',
    '    project k#2 := 2',
    '      one-row',
  );
});

test('USING names columns that both sides have', () => {
  expectRefusal(
    'SELECT 1 AS x FROM (SELECT 1 AS k) JOIN (SELECT 1 AS j) USING (^k)',
    'there is no column k here',
  );
  expectRefusal(
    'SELECT 1 AS x FROM (SELECT [1] AS k) JOIN (SELECT [1] AS k) USING (^k)',
    'USING takes no lists, records or JSON; got ARRAY<INT64>',
  );
});

test('an array of the row to the left cannot be kept without that row', () => {
  expectRefusal(
    'SELECT 1 AS x FROM logs AS t RIGHT JOIN UNNEST(^t.metadata) AS m ON TRUE',
    'there is no column t here',
  );
});
