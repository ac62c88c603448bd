-- What Google's engine answers and weir refuses: each names what is missing.

-- tests: NUMERIC / BYTES values
SELECT NUMERIC '1.5' = NUMERIC '1.5' AS x;
SELECT b'abc' = b'abc' AS x;

-- tests: typed arrays / comparison and joining of arrays
SELECT ARRAY<INT64>[1, 2] AS x;
SELECT [1] || [2] AS x;
SELECT ARRAY_CONCAT([1], [2]) AS x;

-- tests: bit operators
SELECT 5 & 3 AS a, 5 | 3 AS b, 5 ^ 3 AS c, ~5 AS d, 1 << 3 AS e, 8 >> 1 AS f;

-- tests: modifiers of aggregates / aggregates of lists
SELECT COUNT(x HAVING MAX x) AS n FROM UNNEST([1, 2, 2]) AS x;
SELECT ANY_VALUE(x HAVING MIN x) AS n FROM UNNEST([1, 2, 2]) AS x;
SELECT ANY_VALUE([x]) AS a FROM UNNEST([1]) AS x;
SELECT ARRAY_AGG(x ORDER BY x) AS a FROM UNNEST([2, 1]) AS x;
SELECT STRING_AGG(x, ',' ORDER BY x) AS a FROM UNNEST(['b', 'a']) AS x;
SELECT LOGICAL_OR(x) AS a, LOGICAL_AND(x) AS b FROM UNNEST([TRUE, FALSE]) AS x;

-- tests: further functions
SELECT SPLIT('a,b', ',') AS x;
SELECT REGEXP_REPLACE('abc', 'b', 'x') AS x;
SELECT REGEXP_EXTRACT_ALL('abab', 'a.') AS x;
SELECT LPAD('a', 3, '-') AS x, RPAD('a', 3, '-') AS y, REPEAT('ab', 2) AS z, REVERSE('abc') AS w;
SELECT LEFT('abc', 2) AS x, RIGHT('abc', 2) AS y;
SELECT INSTR('abc', 'b') AS x;
SELECT POW(2, 3) AS x, SQRT(4) AS y, EXP(0) AS z, LN(1) AS w, LOG10(100) AS v;
SELECT GENERATE_ARRAY(1, 3) AS x;
SELECT TO_JSON_STRING([1]) AS x;
SELECT FORMAT('%d', 1) AS x;
SELECT ARRAY_TO_STRING(['a', 'b'], ',') AS x;
SELECT IS_NAN(1.5) AS x, IS_INF(1.5) AS y;
SELECT IEEE_DIVIDE(1, 0) AS x;
