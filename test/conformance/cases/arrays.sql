-- Arrays, elements and fields.

-- tests: array_length
SELECT ARRAY_LENGTH([1, 2, 3]), ARRAY_LENGTH([]), ARRAY_LENGTH([NULL]), ARRAY_LENGTH(NULL), ARRAY_LENGTH(['a']);
SELECT ARRAY_LENGTH(metadata) AS n FROM logs WHERE id < 'd' ORDER BY id;
SELECT ARRAY_LENGTH(1);
SELECT ARRAY_LENGTH(m.v), ARRAY_LENGTH(m.items) FROM logs CROSS JOIN UNNEST(metadata) AS m WHERE id = 'a';

-- tests: array_offset
SELECT [1, 2, 3][OFFSET(0)], [1, 2, 3][OFFSET(2)], ['a', NULL][OFFSET(1)], [10, 20][0], [10, 20][1];
SELECT [1][OFFSET(1)];
SELECT [1][OFFSET(-1)];
SELECT [1][5];
SELECT [1, 2][OFFSET(NULL)];
SELECT [1, 2, 3][OFFSET(x)] FROM UNNEST([0, 2, NULL]) AS x;
SELECT [1][OFFSET('a')];
SELECT 1[OFFSET(0)];
SELECT metadata[OFFSET(0)].n FROM logs WHERE id IN ('a', 'b') ORDER BY id;
SELECT metadata[0].s AS s, metadata[OFFSET(0)].r.x AS x FROM logs WHERE id = 'f';
SELECT m.v[OFFSET(0)] AS v FROM logs CROSS JOIN UNNEST(metadata) AS m WHERE id = 'a';

-- tests: array_safe_offset
SELECT [1, 2][SAFE_OFFSET(1)], [1, 2][SAFE_OFFSET(2)], [1, 2][SAFE_OFFSET(-1)], [1, 2][SAFE_OFFSET(NULL)];
SELECT [1, 2][SAFE_OFFSET(x)] FROM UNNEST([-1, 0, 1, 2, NULL]) AS x;
SELECT id, metadata[SAFE_OFFSET(1)].n AS n FROM logs ORDER BY id;

-- tests: array_ordinal
SELECT [1, 2][ORDINAL(1)], [1, 2][ORDINAL(2)];
SELECT [1, 2][ORDINAL(0)];
SELECT [1, 2][ORDINAL(3)];

-- tests: array_safe_ordinal
SELECT [1, 2][SAFE_ORDINAL(1)], [1, 2][SAFE_ORDINAL(0)], [1, 2][SAFE_ORDINAL(3)];
SELECT ['a', 'b'][SAFE_ORDINAL(x)] FROM UNNEST([0, 1, 2, 3, NULL]) AS x;

-- tests: fields of records
SELECT m.r.x AS x, m.r.y AS y FROM logs CROSS JOIN UNNEST(metadata) AS m ORDER BY id, m.n;
SELECT m.R.X AS x, M.n AS n FROM logs CROSS JOIN UNNEST(metadata) AS m WHERE id = 'a';
SELECT t.id, t.project FROM logs AS t WHERE t.id = 'a';
SELECT t.nonsense FROM (SELECT 1 AS a) AS t;
SELECT id.x FROM logs;
SELECT metadata.n FROM logs;
SELECT t.a + t.b AS sum FROM (SELECT 1 AS a, 2 AS b) AS t;
SELECT t.A FROM (SELECT 1 AS a) AS t;
SELECT r.x FROM logs CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST([m.r]) AS r WHERE id = 'a';
