-- FROM: tables, subqueries, joins, arrays of the row to the left.

-- tests: FROM a table
SELECT id FROM logs ORDER BY id;
SELECT id FROM `logs` ORDER BY id;
SELECT logs.id FROM logs ORDER BY logs.id;
SELECT t.id FROM logs AS t ORDER BY t.id;
SELECT t.id FROM logs t ORDER BY id;
SELECT logs.id FROM logs AS t;
SELECT id FROM nowhere;
SELECT id, event_message, project, timestamp FROM logs ORDER BY id;
SELECT COUNT(*) AS n FROM logs;
SELECT ID, Project FROM logs WHERE ID = 'a';
SELECT id FROM logs WHERE project = 'x' ORDER BY id;
SELECT id FROM logs WHERE project IS NULL;
SELECT t FROM (SELECT 1 AS a) AS t;

-- tests: FROM a subquery
SELECT a FROM (SELECT 1 AS a);
SELECT t.a, b FROM (SELECT 1 AS a, 2 AS b) AS t;
SELECT a + 1 AS c FROM (SELECT a * 2 AS a FROM (SELECT 3 AS a));
SELECT * FROM (SELECT id, project FROM logs WHERE project = 'x') ORDER BY id;
SELECT n FROM (SELECT project, COUNT(*) AS n FROM logs GROUP BY project) WHERE n > 1 ORDER BY n;
SELECT c FROM (SELECT 1 AS a);
SELECT a FROM (SELECT 1 AS a, 2 AS a);
SELECT * FROM (SELECT 1);
SELECT f0_ FROM (SELECT 1);
SELECT a FROM (SELECT id AS a FROM logs ORDER BY id DESC LIMIT 2) ORDER BY a;
SELECT a FROM ((SELECT 1 AS a));
(SELECT 1 AS a);
(SELECT 2 AS a) ORDER BY a LIMIT 1;

-- tests: CROSS JOIN
SELECT a, b FROM UNNEST([1, 2]) AS a CROSS JOIN UNNEST(['x', 'y']) AS b ORDER BY a, b;
SELECT l.id, o.id AS owner FROM logs AS l CROSS JOIN owners AS o WHERE l.project = o.project ORDER BY l.id, owner;
SELECT COUNT(*) AS n FROM logs CROSS JOIN owners;
SELECT a FROM UNNEST([1, 2]) AS a CROSS JOIN UNNEST([3]) AS a;
SELECT x.a, y.a AS b FROM (SELECT 1 AS a) AS x CROSS JOIN (SELECT 2 AS a) AS y;
SELECT a FROM (SELECT 1 AS a) AS x CROSS JOIN (SELECT 2 AS a) AS y;
SELECT a FROM UNNEST([1]) AS a CROSS JOIN (SELECT 1 AS b LIMIT 0);
SELECT x.a FROM (SELECT 1 AS a) AS x CROSS JOIN (SELECT 2 AS b) AS x;
SELECT a, b FROM UNNEST([1]) AS a CROSS JOIN UNNEST([2]) AS b ON TRUE;

-- tests: comma join
SELECT a, b FROM UNNEST([1, 2]) AS a, UNNEST([3, 4]) AS b ORDER BY a, b;
SELECT l.id, o.id AS owner FROM logs AS l, owners AS o WHERE l.project = o.project AND o.id != 'o3' ORDER BY l.id;
SELECT id, m.n FROM logs, UNNEST(metadata) AS m ORDER BY id, m.n;
SELECT t.id, m.n FROM logs AS t, t.metadata AS m ORDER BY t.id, m.n;
SELECT id FROM logs, owners;

-- tests: INNER JOIN
SELECT l.id, o.id AS owner FROM logs AS l INNER JOIN owners AS o ON l.project = o.project ORDER BY l.id, owner;
SELECT l.id, o.id AS owner FROM logs AS l JOIN owners AS o ON l.project = o.project AND o.timestamp > l.timestamp ORDER BY l.id, owner;
SELECT l.id, o.id AS owner FROM logs AS l JOIN owners AS o ON l.timestamp < o.timestamp ORDER BY l.id, owner;
SELECT l.id FROM logs AS l JOIN owners AS o ON FALSE;
SELECT l.id FROM logs AS l JOIN owners AS o ON NULL;
SELECT l.id FROM logs AS l JOIN owners AS o ON 1;
SELECT l.id FROM logs AS l JOIN owners AS o;
SELECT a, b FROM UNNEST([1, 2, NULL]) AS a JOIN UNNEST([2, NULL, 2]) AS b ON a = b;
SELECT a, b FROM UNNEST([1, 2]) AS a JOIN UNNEST([1.0, 2.5]) AS b ON a = b;
SELECT a, b FROM UNNEST(['x', 'y']) AS a JOIN UNNEST(['y', 'z']) AS b ON a = b OR b = 'z';
SELECT a, b, c FROM UNNEST([1, 2]) AS a JOIN UNNEST([2, 3]) AS b ON b > a JOIN UNNEST([3]) AS c ON c > b ORDER BY a, b;
SELECT a, b FROM UNNEST([1]) AS a JOIN (SELECT 1 AS b) ON a = b;
SELECT a, b, c FROM UNNEST([1, 2]) AS a JOIN (UNNEST([2]) AS b JOIN UNNEST([2, 3]) AS c ON b = c) ON a = b;
SELECT o.id, l.id AS log FROM owners AS o JOIN logs AS l ON o.project = l.project WHERE l.id > 'b' ORDER BY o.id, log;
SELECT CAST('nan' AS FLOAT64) = x AS same FROM UNNEST([1.5]) AS x JOIN UNNEST([CAST('nan' AS FLOAT64)]) AS y ON x = y;
SELECT x, y FROM UNNEST([0.0]) AS x JOIN UNNEST([-0.0]) AS y ON x = y;

-- tests: LEFT JOIN
SELECT l.id, o.id AS owner FROM logs AS l LEFT JOIN owners AS o ON l.project = o.project ORDER BY l.id, owner;
SELECT l.id, o.id AS owner FROM logs AS l LEFT OUTER JOIN owners AS o ON l.project = o.project AND o.id > 'o2' ORDER BY l.id, owner;
SELECT l.id, o.id AS owner FROM logs AS l LEFT JOIN owners AS o ON FALSE ORDER BY l.id;
SELECT l.id FROM logs AS l LEFT JOIN owners AS o ON l.project = o.project WHERE o.id IS NULL ORDER BY l.id;
SELECT a, b FROM UNNEST([1, 2, NULL]) AS a LEFT JOIN UNNEST([2, NULL]) AS b ON a = b ORDER BY a;
SELECT a, b FROM UNNEST([1, 2]) AS a LEFT JOIN (SELECT 5 AS b LIMIT 0) ON TRUE ORDER BY a;
SELECT a, b, c FROM UNNEST([1, 2]) AS a LEFT JOIN UNNEST([2]) AS b ON a = b LEFT JOIN UNNEST([2]) AS c ON b = c ORDER BY a;
SELECT a, b FROM UNNEST([1, 2, 3]) AS a LEFT JOIN UNNEST([1, 2, 3]) AS b ON a = b AND a > 1 ORDER BY a;
SELECT a, COALESCE(b, -1) AS b FROM UNNEST([1, 2]) AS a LEFT JOIN UNNEST([2]) AS b ON a = b WHERE COALESCE(b, 0) < 2 ORDER BY a;
SELECT COUNT(b) AS n, COUNT(*) AS m FROM UNNEST([1, 2]) AS a LEFT JOIN UNNEST([2]) AS b ON a = b;

-- tests: UNNEST
SELECT x FROM UNNEST([3, 1, 2]) AS x ORDER BY x;
SELECT * FROM UNNEST(['a', NULL]);
SELECT x FROM UNNEST([]) AS x;
SELECT x FROM UNNEST(NULL) AS x;
SELECT x FROM UNNEST([1, 2]) x WHERE x > 1;
SELECT x FROM UNNEST(1) AS x;
SELECT x + y AS z FROM UNNEST([1]) AS x, UNNEST([x, x + 1]) AS y ORDER BY z;
SELECT id, m.s FROM logs CROSS JOIN UNNEST(metadata) AS m ORDER BY id, m.s;
SELECT id, m.s FROM logs JOIN UNNEST(metadata) AS m ORDER BY id, m.s;
SELECT id, m.s FROM logs INNER JOIN UNNEST(metadata) AS m ON m.n > 1 ORDER BY id, m.s;
SELECT id, m.s FROM logs LEFT JOIN UNNEST(metadata) AS m ORDER BY id, m.s;
SELECT id, m.s FROM logs LEFT JOIN UNNEST(metadata) AS m ON m.n = 2 ORDER BY id, m.s;
SELECT id, i.k, i.n FROM logs CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.items) AS i ORDER BY id, i.k, i.n;
SELECT id, m.n, v FROM logs CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.v) AS v WHERE v > 1 ORDER BY id, v;
SELECT id, m.n, i.k FROM logs CROSS JOIN UNNEST(metadata) AS m LEFT JOIN UNNEST(m.items) AS i ORDER BY id, m.n, i.k;
SELECT id, n, s FROM logs CROSS JOIN UNNEST(metadata) ORDER BY id, n;
SELECT m.s AS s, COUNT(*) AS c FROM logs, UNNEST(metadata) AS m GROUP BY s ORDER BY s;
SELECT t.id, m.n FROM logs AS t CROSS JOIN t.metadata AS m ORDER BY t.id, m.n;
SELECT t.id, i.k FROM logs AS t, t.metadata AS m, m.items AS i ORDER BY t.id, i.k;
SELECT n.x FROM UNNEST([1, 2]) AS x JOIN (SELECT 2 AS x) AS n ON n.x = x;
SELECT id FROM logs CROSS JOIN UNNEST(id) AS x;
SELECT x FROM UNNEST(metadata) AS x;

-- tests: WITH OFFSET
SELECT x, o FROM UNNEST(['a', 'b', 'c']) AS x WITH OFFSET AS o ORDER BY o;
SELECT x, offset FROM UNNEST(['a', 'b']) AS x WITH OFFSET ORDER BY offset DESC;
SELECT x, o FROM UNNEST([10, 20]) AS x WITH OFFSET o WHERE o > 0;
WITH t AS (SELECT ['a', 'b'] AS arr) SELECT x, o FROM t, t.arr AS x WITH OFFSET AS o;
WITH t AS (SELECT ['a', 'b'] AS arr) SELECT arr, offset FROM t JOIN t.arr WITH OFFSET ON offset > 0;
WITH t AS (SELECT ['a', 'b'] AS arr UNION ALL SELECT []) SELECT x, o FROM t LEFT JOIN t.arr AS x WITH OFFSET o;
WITH t AS (SELECT ['a', 'b'] AS arr) SELECT x FROM t WITH OFFSET AS x;
SELECT id, m.n, o FROM logs CROSS JOIN UNNEST(metadata) AS m WITH OFFSET AS o ORDER BY id, o;
SELECT id, m.n, o FROM logs LEFT JOIN UNNEST(metadata) AS m WITH OFFSET AS o ORDER BY id, o;
SELECT x, o FROM UNNEST([]) AS x WITH OFFSET AS o;
SELECT id, v, o FROM logs, UNNEST(metadata) AS m, UNNEST(m.v) AS v WITH OFFSET AS o ORDER BY id, o, v;
SELECT a, b FROM UNNEST(['x', 'y']) AS a WITH OFFSET AS i JOIN UNNEST(['p', 'q']) AS b WITH OFFSET AS j ON i = j ORDER BY a;

-- tests: a join inside a join
SELECT a, c FROM (SELECT 1 AS a) AS x JOIN (SELECT 1 AS b) AS y JOIN (SELECT 1 AS c) AS z ON b = c ON a = b;
SELECT a, b, c FROM (SELECT 1 AS a) AS x LEFT JOIN (SELECT 2 AS b) AS y JOIN (SELECT 2 AS c) AS z ON b = c ON a = b;
SELECT a FROM (SELECT 1 AS a) AS x JOIN (SELECT 1 AS b) AS y JOIN (SELECT 1 AS c) AS z ON b = c;
