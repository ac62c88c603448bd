-- Joins beyond those of from.sql: of both sides, by columns of one name, in parentheses.

-- tests: RIGHT JOIN
SELECT l.id, o.id AS owner FROM logs AS l RIGHT JOIN owners AS o ON l.project = o.project ORDER BY owner, l.id;
SELECT a, b FROM UNNEST([1, 2]) AS a RIGHT JOIN UNNEST([2, 3]) AS b ON a = b ORDER BY b;
SELECT a, b FROM UNNEST([1, 2]) AS a RIGHT OUTER JOIN UNNEST([2, 3]) AS b ON a > b ORDER BY b;
SELECT a, b FROM UNNEST([1, 2]) AS a RIGHT JOIN UNNEST([2, 3]) AS b ON a = b WHERE a IS NULL;
SELECT a, b FROM UNNEST([1, 2]) AS a RIGHT JOIN UNNEST([2, 3]) AS b ON FALSE ORDER BY b;
SELECT a, b FROM (SELECT 1 AS a LIMIT 0) RIGHT JOIN UNNEST([2, 3]) AS b ON a = b ORDER BY b;
SELECT l.id, m.n FROM logs AS l RIGHT JOIN UNNEST(l.metadata) AS m ON TRUE;
SELECT * FROM (SELECT 1 AS a) AS x RIGHT JOIN (SELECT 2 AS b) AS y ON x.a = y.b;
SELECT a, b, c FROM UNNEST([1, 2]) AS a RIGHT JOIN UNNEST([2, 3]) AS b ON a = b LEFT JOIN UNNEST([3]) AS c ON b = c ORDER BY b;

-- tests: FULL JOIN
SELECT l.id, o.id AS owner FROM logs AS l FULL JOIN owners AS o ON l.project = o.project ORDER BY l.id, owner;
SELECT a, b FROM UNNEST([1, 2, NULL]) AS a FULL JOIN UNNEST([2, 3, NULL]) AS b ON a = b ORDER BY a, b;
SELECT a, b FROM UNNEST([1, 2]) AS a FULL OUTER JOIN UNNEST([2, 3]) AS b ON a < b ORDER BY a, b;
SELECT a, b FROM UNNEST([1, 2]) AS a FULL JOIN UNNEST([2, 3]) AS b ON a = b AND a > 5 ORDER BY a, b;
SELECT a, b FROM UNNEST([1, 2]) AS a FULL JOIN UNNEST([2, 3]) AS b ON a = b WHERE b IS NULL ORDER BY a;
SELECT a, b FROM UNNEST([1, 2]) AS a FULL JOIN UNNEST([2, 3]) AS b ON a = b WHERE b > 2 ORDER BY a;
SELECT a, b FROM UNNEST([1, 2]) AS a FULL JOIN UNNEST([2, 3]) AS b ON TRUE ORDER BY a, b;
SELECT a, b FROM UNNEST([1, 2]) AS a FULL JOIN UNNEST([2, 3]) AS b ON FALSE ORDER BY a, b;
SELECT a, b FROM (SELECT 1 AS a LIMIT 0) FULL JOIN UNNEST([2, 3]) AS b ON a = b ORDER BY a, b;
SELECT a, b FROM UNNEST([2, 3]) AS a FULL JOIN (SELECT 1 AS b LIMIT 0) ON a = b ORDER BY a, b;
SELECT COUNT(*) AS n, COUNT(a) AS x, COUNT(b) AS y FROM UNNEST([1, 1, 2]) AS a FULL JOIN UNNEST([1, 1, 3]) AS b ON a = b;
SELECT a, b, c FROM UNNEST([1, 2]) AS a FULL JOIN UNNEST([2, 3]) AS b ON a = b FULL JOIN UNNEST([3, 4]) AS c ON b = c ORDER BY a, b, c;
SELECT a, b FROM UNNEST([1]) AS a FULL JOIN UNNEST([2]) AS b;

-- tests: JOIN USING
SELECT * FROM (SELECT 1 AS k, 2 AS a) AS x JOIN (SELECT 1 AS k, 3 AS b) AS y USING (k);
SELECT * FROM (SELECT 2 AS a, 1 AS k) AS x JOIN (SELECT 3 AS b, 1 AS k) AS y USING (k);
SELECT k, x.k AS p, y.k AS q FROM (SELECT 1 AS k) AS x LEFT JOIN (SELECT 2 AS k) AS y USING (k);
SELECT k, x.k AS p, y.k AS q FROM (SELECT 1 AS k) AS x RIGHT JOIN (SELECT 2 AS k) AS y USING (k);
SELECT k, x.k AS p, y.k AS q FROM (SELECT 1 AS k) AS x FULL JOIN (SELECT 2 AS k) AS y USING (k) ORDER BY k;
SELECT * FROM (SELECT 1 AS k, 2 AS a) AS x FULL JOIN (SELECT 3 AS k, 4 AS b) AS y USING (k) ORDER BY k;
SELECT x.* FROM (SELECT 1 AS k, 2 AS a) AS x JOIN (SELECT 1 AS k, 3 AS b) AS y USING (k);
SELECT y.*, a FROM (SELECT 1 AS k, 2 AS a) AS x JOIN (SELECT 1 AS k, 3 AS b) AS y USING (k);
SELECT * FROM (SELECT 1 AS k, 2 AS j, 5 AS a) AS x JOIN (SELECT 1 AS k, 2 AS j, 3 AS b) AS y USING (j, k);
SELECT * FROM (SELECT 1 AS k, 2 AS a) JOIN (SELECT 1 AS k, 3 AS b) USING (k) JOIN (SELECT 1 AS k, 4 AS c) USING (k);
SELECT * FROM (SELECT 1 AS k, 2 AS a) JOIN (SELECT 1 AS k, 3 AS b) USING (k) JOIN (SELECT 3 AS b, 4 AS c) USING (b);
SELECT * FROM (SELECT 1 AS k) JOIN (SELECT 1 AS j) USING (k);
SELECT * FROM (SELECT 1 AS k) JOIN (SELECT 'x' AS k) USING (k);
SELECT * FROM (SELECT 1 AS k) JOIN (SELECT 1.0 AS k) USING (k);
SELECT * FROM (SELECT 1 AS k) AS x FULL JOIN (SELECT 2.5 AS k) AS y USING (k) ORDER BY k;
SELECT k FROM (SELECT 1 AS k) AS x, (SELECT 1 AS k) AS y JOIN (SELECT 1 AS k) AS z USING (k);
SELECT k FROM (SELECT 1 AS k) JOIN (SELECT 1 AS k) USING (k, k);
SELECT project, l.id, o.id AS owner FROM logs AS l JOIN owners AS o USING (project) ORDER BY l.id, owner;
SELECT project, COUNT(*) AS n FROM logs JOIN owners USING (project) GROUP BY project ORDER BY project;
SELECT a FROM UNNEST([1, 2]) AS a JOIN UNNEST([2, 3]) AS b USING (a);
SELECT a FROM (SELECT 1 AS a) JOIN UNNEST([1, 2]) AS a USING (a);
SELECT * FROM (SELECT 1 AS k) CROSS JOIN (SELECT 1 AS k) USING (k);
SELECT k FROM (SELECT NULL AS k) JOIN (SELECT NULL AS k) USING (k);

-- tests: parenthesised join
SELECT a, b, c FROM UNNEST([1, 2]) AS a LEFT JOIN (UNNEST([2, 3]) AS b JOIN UNNEST([2, 5]) AS c ON b = c) ON a = b ORDER BY a;
SELECT a, b, c FROM (UNNEST([1, 2]) AS a LEFT JOIN UNNEST([2, 3]) AS b ON a = b) JOIN UNNEST([1]) AS c ON a = c;
SELECT l.id, o.id AS owner FROM logs AS l LEFT JOIN (owners AS o CROSS JOIN UNNEST([1, 2]) AS n) ON l.project = o.project AND n = 2 ORDER BY l.id, owner;
SELECT l.id, o.id AS owner, m.n FROM owners AS o LEFT JOIN (logs AS l CROSS JOIN UNNEST(l.metadata) AS m) ON l.project = o.project ORDER BY l.id, owner, m.n;
SELECT x.a, y.b FROM ((SELECT 1 AS a) AS x CROSS JOIN (SELECT 2 AS b) AS y);
SELECT a, b FROM UNNEST([1]) AS a, UNNEST([2]) AS b JOIN UNNEST([2]) AS c ON b = c AND a < c;
SELECT a, b, c, d FROM UNNEST([1, 2]) AS a, UNNEST([1, 2]) AS b, UNNEST([2, 3]) AS c, UNNEST([1, 2, 3]) AS d WHERE a = b AND b = c AND c = d;
WITH params AS (SELECT TIMESTAMP '2026-01-15 11:00:00+00' AS first, TIMESTAMP '2026-01-15 12:00:00+00' AS last) SELECT id FROM logs, params WHERE timestamp >= first AND timestamp < last ORDER BY id;
WITH params AS (SELECT TIMESTAMP '2026-01-15 11:00:00+00' AS first) SELECT id, first FROM params, logs WHERE timestamp >= params.first ORDER BY id;
SELECT l.id FROM logs AS l JOIN (SELECT project FROM owners ORDER BY id LIMIT 1) AS o ON l.project = o.project ORDER BY l.id;
SELECT l.id FROM (SELECT project FROM owners ORDER BY id LIMIT 1) AS o JOIN logs AS l ON l.project = o.project ORDER BY l.id;

-- tests: WHERE above an outer join
SELECT a, b FROM UNNEST([1, 2]) AS a LEFT JOIN UNNEST([2, 3]) AS b ON a = b WHERE b > 0;
SELECT a, b FROM UNNEST([1, 2]) AS a LEFT JOIN UNNEST([2, 3]) AS b ON a = b WHERE b IS NOT NULL;
SELECT a, b FROM UNNEST([1, 2]) AS a LEFT JOIN UNNEST([2, 3]) AS b ON a = b WHERE b IS NULL OR b > 5 ORDER BY a;
SELECT a, b FROM UNNEST([1, 2]) AS a LEFT JOIN UNNEST([2, 3]) AS b ON a = b WHERE NOT (b = 3) ORDER BY a;
SELECT a, b FROM UNNEST([1, 2]) AS a LEFT JOIN UNNEST([2, 3]) AS b ON a = b WHERE (b = 3) IS NULL ORDER BY a;
SELECT a, b FROM UNNEST([1, 2]) AS a LEFT JOIN UNNEST([2, 3]) AS b ON a = b WHERE (b = 2) IS TRUE ORDER BY a;
SELECT a, b FROM UNNEST([1, 2]) AS a LEFT JOIN UNNEST([2, 3]) AS b ON a = b WHERE COALESCE(b, 7) = 7 ORDER BY a;
SELECT a, b FROM UNNEST([1, 2, 3]) AS a LEFT JOIN UNNEST([2, 3]) AS b ON a = b WHERE a > 1 AND a < 3 ORDER BY a;
SELECT a, b FROM UNNEST([1, 2, 3]) AS a LEFT JOIN UNNEST([2, 3]) AS b ON a = b AND a > 2 ORDER BY a;
SELECT a, b FROM UNNEST([1, 2]) AS a FULL JOIN UNNEST([2, 3]) AS b ON a = b WHERE a > 0 AND b > 0;
SELECT a, b FROM UNNEST([1, 2]) AS a FULL JOIN UNNEST([2, 3]) AS b ON a = b WHERE b IN (2, 3) ORDER BY b;
SELECT a, b FROM UNNEST([1, 2]) AS a FULL JOIN UNNEST([2, 3]) AS b ON a = b WHERE a + b > 0;
SELECT a, b FROM UNNEST([1, 2]) AS a FULL JOIN UNNEST([2, 3]) AS b ON a = b WHERE a > 0 OR b > 0 ORDER BY a, b;
SELECT k FROM (SELECT 1 AS k) FULL JOIN (SELECT 3 AS k) USING (k) WHERE k > 2;
SELECT l.id, o.id AS owner FROM logs AS l FULL JOIN owners AS o ON l.project = o.project WHERE l.project = 'x' ORDER BY l.id, owner;
SELECT l.id, o.id AS owner FROM logs AS l FULL JOIN owners AS o ON l.project = o.project WHERE o.project = 'x' ORDER BY l.id, owner;
SELECT l.id, o.id AS owner FROM logs AS l LEFT JOIN owners AS o ON l.project = o.project WHERE l.project = 'x' ORDER BY l.id, owner;
SELECT l.id, o.id AS owner FROM logs AS l, owners AS o WHERE l.project = o.project AND l.project IN ('x', 'y') ORDER BY l.id, owner;
SELECT l.id, o.id AS owner FROM logs AS l JOIN owners AS o ON l.timestamp = o.timestamp WHERE l.timestamp >= '2026-01-15' ORDER BY l.id, owner;
