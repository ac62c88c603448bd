-- Which thing a name means where the select list gives a column's name to something else.

-- tests: a name of the select list beside a column
SELECT TIMESTAMP_TRUNC(t.timestamp, HOUR) AS timestamp, COUNT(*) AS n FROM logs AS t GROUP BY timestamp ORDER BY timestamp;
SELECT TIMESTAMP_TRUNC(timestamp, HOUR) AS timestamp, COUNT(*) AS n FROM logs GROUP BY timestamp ORDER BY timestamp DESC;
SELECT TIMESTAMP_TRUNC(timestamp, HOUR) AS timestamp FROM logs ORDER BY timestamp, id;
SELECT UPPER(project) AS project, COUNT(*) AS n FROM logs GROUP BY 1 ORDER BY 1;
SELECT UPPER(project) AS project, COUNT(*) AS n FROM logs GROUP BY logs.project ORDER BY project, n;
SELECT UPPER(project) AS project FROM logs WHERE project = 'x';
SELECT UPPER(project) AS project, COUNT(*) AS n FROM logs WHERE project = 'x' GROUP BY project;
SELECT UPPER(project) AS project, COUNT(*) AS n FROM logs GROUP BY project HAVING project = 'X';
SELECT UPPER(project) AS project, MAX(project) AS m FROM logs GROUP BY project ORDER BY m;
SELECT project AS id, COUNT(*) AS n FROM logs GROUP BY id ORDER BY id;
SELECT project AS id, COUNT(id) AS n FROM logs GROUP BY 1 ORDER BY n, id;
SELECT COUNT(*) AS project FROM logs GROUP BY project ORDER BY project;
SELECT MAX(id) AS id FROM logs GROUP BY id;
SELECT MAX(id) AS id FROM logs GROUP BY project ORDER BY id;
SELECT COUNT(*) AS count FROM logs GROUP BY project ORDER BY count;
SELECT project AS p, project AS q FROM logs GROUP BY p, q ORDER BY q;
SELECT id AS x, project AS x FROM logs ORDER BY x;
SELECT DISTINCT UPPER(project) AS project FROM logs ORDER BY project;
SELECT DISTINCT UPPER(project) AS project FROM logs ORDER BY logs.project;
SELECT m.n AS id, COUNT(*) AS c FROM logs, UNNEST(metadata) AS m GROUP BY id ORDER BY id;
SELECT a AS b, b AS a FROM (SELECT 1 AS a, 2 AS b) ORDER BY a;
SELECT a AS b, b AS a FROM (SELECT 1 AS a, 2 AS b UNION ALL SELECT 2, 1) ORDER BY a;
SELECT a + 1 AS a FROM UNNEST([2, 1]) AS a ORDER BY a;
SELECT a + 1 AS a, COUNT(*) AS n FROM UNNEST([2, 1, 2]) AS a GROUP BY a ORDER BY a;

-- tests: positions in GROUP BY and ORDER BY
SELECT project, COUNT(*) AS n FROM logs GROUP BY 1 ORDER BY 2 DESC, 1;
SELECT project, COUNT(*) AS n FROM logs GROUP BY 2;
SELECT project, COUNT(*) AS n FROM logs GROUP BY 3;
SELECT project, id FROM logs ORDER BY 2 DESC LIMIT 2;
SELECT project FROM logs ORDER BY 2;
SELECT project FROM logs GROUP BY 1, 1 ORDER BY 1;
SELECT * FROM (SELECT 2 AS a, 1 AS b UNION ALL SELECT 1, 2) ORDER BY 2;

-- tests: columns without a name
SELECT COUNT(*), MAX(id) FROM logs;
SELECT 1, 'x' AS b, 2.5;
SELECT id, UPPER(id) FROM logs ORDER BY 1 LIMIT 1;
SELECT m.n, m.n + 1 FROM logs, UNNEST(metadata) AS m ORDER BY 1, 2;
