/**
 * Where weir differs from Google's engine on purpose. `unsupported`: weir refuses what Google's
 * engine answers. `differs`: weir answers what that refuses, or has another answer. A test fails
 * when one of the cases begins to agree.
 */
export type Difference = {
  readonly kind: 'unsupported' | 'differs';
  readonly why: string;
  /** Keys of cases: their texts, as they stand in their files. */
  readonly cases: readonly string[];
};

export const DIFFERENCES: readonly Difference[] = [
  {
    kind: 'differs',
    why: "errors in a branch that is not taken count for nothing, those of aggregates and window functions among them, as in Google's compliance tests; this engine computes these before",
    cases: [
      'SELECT IF(SUM(a) > 0, SUM(a), SUM(a / 0)) AS x FROM UNNEST([0, 1, 2, 3, 4]) AS a',
      'SELECT IFNULL(SUM(a), SUM(a / 0)), IFNULL(SUM(a), SUM(DISTINCT 9223372036854775807 + a)) FROM UNNEST([0, 1]) AS a',
      'SELECT COUNT(*) > 1 OR MAX(a / 0) > 1, COUNT(*) < 1 AND MAX(a / 0) > 1 FROM UNNEST([0, 1]) AS a',
      'SELECT IF(a > 1, SUM(a / 0) OVER (), a) FROM UNNEST([0, 1]) AS a ORDER BY a',
      'SELECT IF(a > 1, LAG(a / 0) OVER (ORDER BY a), a) FROM UNNEST([0, 1]) AS a ORDER BY a',
      'SELECT IF(a > 1, PERCENTILE_DISC(a / 0, 0.5) OVER (), a) FROM UNNEST([0, 1]) AS a ORDER BY a',
      'SELECT IF(a > 1, RANK() OVER (ORDER BY a / 0), a), IF(a > 1, COUNT(*) OVER (PARTITION BY DIV(a, 0)), a) FROM UNNEST([0, 1]) AS a ORDER BY a',
    ],
  },
  {
    kind: 'differs',
    why: 'BigQuery has CONTAINS_SUBSTR, and documents what it answers; this engine of Google has not',
    cases: [
      "SELECT CONTAINS_SUBSTR('the Blue house', 'blue HOUSE'), CONTAINS_SUBSTR('the red house', 'blue'), CONTAINS_SUBSTR('a', '')",
      "SELECT CONTAINS_SUBSTR(x, 'b') FROM UNNEST(['abc', NULL, 'A', 'B']) AS x",
      "SELECT CONTAINS_SUBSTR(('a', NULL), 'a'), CONTAINS_SUBSTR(('b', NULL), 'a'), CONTAINS_SUBSTR(('b', ''), 'a')",
    ],
  },
  {
    kind: 'differs',
    why: 'NOT LIKE ANY and ALL put NOT before each LIKE, as GoogleSQL documents them; this engine puts it before the whole',
    cases: [
      "SELECT 'a' LIKE ANY ('b', NULL) AS a, 'a' LIKE ALL ('a', NULL) AS b, NULL LIKE ANY ('a') AS c, 'a' NOT LIKE ANY ('b', NULL) AS d",
      "SELECT 'a' NOT LIKE ANY ('a', 'b') AS a, 'a' NOT LIKE ALL ('b', 'c') AS b, 'a' NOT LIKE ALL ('a', 'b') AS c",
      "SELECT x, x NOT LIKE ANY ('a', y) AS a, x NOT LIKE ALL ('a', y) AS b FROM UNNEST([STRUCT('a' AS x, CAST(NULL AS STRING) AS y), ('b', 'c'), ('b', NULL), ('b', 'b')])",
    ],
  },
  {
    kind: 'differs',
    why: 'the fraction of a leap second is dropped in a TIMESTAMP as in a DATETIME and a TIME; this engine keeps it',
    cases: ["SELECT TIMESTAMP '2026-01-15 23:59:60.5'"],
  },
  {
    kind: 'unsupported',
    why: 'digits of an INTERVAL beyond microseconds are refused, for they would be dropped without a word',
    cases: [
      "SELECT CAST('1-2 3 4:5:6.123456789' AS INTERVAL)",
      "SELECT INTERVAL '1.1234567' SECOND",
      "SELECT INTERVAL '-1.5' SECOND, INTERVAL '1.1234567' SECOND",
    ],
  },
  {
    kind: 'differs',
    why: 'digits of an INTERVAL beyond microseconds are refused, so that SAFE_CAST gives NULL',
    cases: [
      "SELECT SAFE_CAST('1-13 3 4:5:6' AS INTERVAL), SAFE_CAST('1-2 3 4:65:66' AS INTERVAL), SAFE_CAST(' 1-2 3 4:5:6' AS INTERVAL), SAFE_CAST('1-2  3 4:5:6' AS INTERVAL), SAFE_CAST('1-2 3 4:5:6.1234567' AS INTERVAL), SAFE_CAST('1-2 3 4:5:6.' AS INTERVAL)",
    ],
  },
  {
    kind: 'differs',
    why: 'two columns of one name would be one key of a JSON object; BigQuery refuses them, too',
    cases: [
      'SELECT 1 AS a, 2 AS a',
      'SELECT 1 AS a, 2 AS A',
      'SELECT id, id FROM logs',
      'SELECT *, * FROM (SELECT 1 AS a)',
      'SELECT * FROM (SELECT 1 AS a) AS x CROSS JOIN (SELECT 2 AS a) AS y',
      'SELECT 1 AS a, 2 AS a UNION ALL SELECT 3, 4',
    ],
  },
  {
    kind: 'differs',
    why: 'the fields of SELECT AS STRUCT are the columns of the answer, as in BigQuery',
    cases: [
      "SELECT AS STRUCT 1 AS a, 'x' AS b",
      'SELECT AS STRUCT project, COUNT(*) AS n FROM logs GROUP BY project ORDER BY n, project LIMIT 3',
      'SELECT AS STRUCT * FROM (SELECT 1 AS a, 2 AS b)',
    ],
  },
  {
    kind: 'differs',
    why: 'any further top-level key of an event is a column, NULL where no event has it',
    cases: [
      'SELECT logs.id FROM logs AS t',
      'SELECT nonsense FROM logs WHERE FALSE',
      'SELECT id FROM logs ORDER BY nonsense',
    ],
  },
  {
    kind: 'differs',
    why: 'AND and OR stop at the first term that decides, so that an error beyond it is none',
    cases: [
      'SELECT x != 0 AND 10 / x > 1 FROM UNNEST([0, 5]) AS x',
      'SELECT FALSE AND 1 / 0 > 0',
      'SELECT TRUE OR 1 / 0 > 0',
    ],
  },
  {
    kind: 'differs',
    why: 'EXISTS asks whether there are rows, and computes nothing that only they hold',
    cases: ['SELECT EXISTS(SELECT 10 / y FROM UNNEST([0]) AS y) AS x'],
  },
  {
    kind: 'differs',
    why: 'an expression grouped by may stand in the select list, as in BigQuery of today',
    cases: [
      'SELECT UPPER(project) AS p, COUNT(*) AS n FROM logs GROUP BY UPPER(project) ORDER BY p',
      'SELECT x + 1 AS y, x + 1 + 1 AS z, COUNT(*) AS n FROM UNNEST([1, 1, 2]) AS x GROUP BY x + 1 ORDER BY y',
      'SELECT x + 1 + 1 AS z FROM UNNEST([1, 1, 2]) AS x GROUP BY x + 1',
      'SELECT STRUCT(x) IN UNNEST(a) AS k, COUNT(*) AS n FROM (SELECT [STRUCT(1 AS v), STRUCT(3 AS v)] AS a), UNNEST([1, 2, 3]) AS x GROUP BY STRUCT(x) IN UNNEST(a) ORDER BY n',
      "SELECT CASE WHEN x > 1 THEN 'big' ELSE 'small' END AS size, COUNT(*) AS n FROM UNNEST([1, 2, 3]) AS x GROUP BY CASE WHEN x > 1 THEN 'big' ELSE 'small' END ORDER BY 1",
    ],
  },
  {
    kind: 'differs',
    why: 'DISTINCT rows may be ordered by an expression that the select list has under another name',
    cases: ['SELECT DISTINCT x + 1 AS y FROM UNNEST([1, 1]) AS x ORDER BY x + 1'],
  },
  {
    kind: 'differs',
    why: 'a constant orders nothing, and is none the worse for it',
    cases: ["SELECT x FROM UNNEST([1]) AS x ORDER BY 'a'"],
  },
  {
    kind: 'differs',
    why: 'a column without a name can be called by the one that the answer gives it',
    cases: ['SELECT f0_ FROM (SELECT 1)'],
  },
  {
    kind: 'differs',
    why: 'the elements of NULL are none, whatever their type',
    cases: ['SELECT x FROM UNNEST(NULL) AS x'],
  },
  {
    kind: 'differs',
    why: 'the names INT, INTEGER and so on are newer than this engine; BigQuery has them',
    cases: [
      "SELECT CAST(1 AS INTEGER), CAST(1 AS INT), CAST('5' AS BIGINT), CAST(5 AS SMALLINT), CAST(5 AS TINYINT), CAST(5 AS BYTEINT)",
    ],
  },
  {
    kind: 'differs',
    why: 'the path may be left out, as in BigQuery of today',
    cases: [`SELECT JSON_QUERY('{"a": [1, {"b": "x"}]}')`],
  },
  {
    kind: 'differs',
    why: 'a number of JSON that no FLOAT64 is keeps its digits',
    cases: ["SELECT TO_JSON_STRING(PARSE_JSON('123456789012345678901234567890'))"],
  },
  {
    kind: 'differs',
    why: 'what is no JSON has no values; Google reads as far as it needs, and takes single quotes',
    cases: [`SELECT JSON_VALUE('{"a": 1', '$.a')`, `SELECT JSON_EXTRACT("{'a': 1}", '$.a')`],
  },
  {
    kind: 'differs',
    why: 'a doubled quote is a quote: other dialects and their clients write so',
    cases: ["SELECT 'it''s'"],
  },
  {
    kind: 'differs',
    why: 'a number beyond FLOAT64 is a slip, not an infinity',
    cases: ['SELECT 1e309'],
  },
  {
    kind: 'differs',
    why: 'newer releases of RE2 know this way to name a group',
    cases: ["SELECT REGEXP_CONTAINS('a', '(?<x>a)')"],
  },
  {
    kind: 'unsupported',
    why: 'a single byte of a text is no text',
    cases: ["SELECT REGEXP_CONTAINS('a', r'\\C')"],
  },
  {
    kind: 'differs',
    why: 'a match of nothing is where it is; this engine finds it a character later, or not at all',
    cases: [
      "SELECT REGEXP_INSTR('abc', ''), REGEXP_INSTR('abc', 'x*'), REGEXP_INSTR('baac', 'a*'), REGEXP_INSTR('abc', '$')",
    ],
  },
  {
    kind: 'differs',
    why: 'a date part may be given as a text, for texts made by other programs',
    cases: ["SELECT TIMESTAMP_TRUNC(TIMESTAMP '2026-01-15 11:55:00', 'HOUR')"],
  },
  {
    kind: 'differs',
    why: "a function of weir's own",
    cases: ["SELECT ARRAY_LENGTH(GENERATE_TIMESTAMP_TRUNC_ARRAY(1, 'day_hour'))"],
  },
  {
    kind: 'unsupported',
    why: 'an element that is not known is refused, and not copied',
    cases: [
      "SELECT FORMAT_TIMESTAMP('%i', TIMESTAMP '2026-01-15')",
      "SELECT FORMAT_TIMESTAMP('%', TIMESTAMP '2026-01-15')",
      "SELECT FORMAT_DATETIME('%Z', DATETIME '2026-01-15')",
      "SELECT FORMAT_DATE('%H', DATE '2026-01-05')",
      "SELECT FORMAT_TIME('%Y', TIME '15:05:06')",
    ],
  },
  {
    kind: 'differs',
    why: 'weekdays and weeks of ISO 8601 are read, as in BigQuery; this engine does not yet',
    cases: [
      "SELECT PARSE_DATE('%U %Y %w', '2 2026 1'), PARSE_DATE('%Y %U %u', '2026 2 7'), PARSE_DATE('%W %Y %a', '2 2026 Tue')",
      "SELECT PARSE_DATE('%V %G', '3 2026')",
      "SELECT PARSE_TIMESTAMP('%V %G', '3 2026')",
      "SELECT PARSE_DATE('%G %V %u', '2026 3 2')",
    ],
  },
  {
    kind: 'differs',
    why: 'parts of a second make an INTERVAL, too',
    cases: ['SELECT INTERVAL 5 MILLISECOND'],
  },
  {
    kind: 'differs',
    why: 'names of zones are read in any case, and Z is one',
    cases: [
      "SELECT STRING(TIMESTAMP '2026-01-15', 'Z')",
      "SELECT STRING(TIMESTAMP '2026-01-15', 'europe/berlin')",
    ],
  },
  {
    kind: 'unsupported',
    why: 'a cross join has no condition in GoogleSQL either; this engine overlooks it',
    cases: ['SELECT a, b FROM UNNEST([1]) AS a CROSS JOIN UNNEST([2]) AS b ON TRUE'],
  },
  {
    kind: 'unsupported',
    why: 'EXCEPT and INTERSECT are DISTINCT in BigQuery, too',
    cases: ['SELECT 1 AS a EXCEPT ALL SELECT 1', 'SELECT 1 AS a INTERSECT ALL SELECT 1'],
  },
  {
    kind: 'differs',
    why: 'a constant is one however it is written',
    cases: [
      'SELECT LAG(x, 1 + 0) OVER (ORDER BY x) AS a FROM UNNEST([1]) AS x',
      'SELECT COUNT(*) OVER (ORDER BY x ROWS 1 + 1 PRECEDING) AS a FROM UNNEST([1]) AS x',
    ],
  },
  {
    kind: 'unsupported',
    why: 'this type is missing',
    cases: ["SELECT NUMERIC '1.5' = NUMERIC '1.5' AS x"],
  },
  {
    kind: 'unsupported',
    why: 'an array in an answer has no NULLs, as in BigQuery; within a query it may',
    cases: [
      "SELECT [1, 2, 3], ['a'], [1.5, 2], [TRUE, NULL], ARRAY[4, 5]",
      'SELECT [], [NULL]',
      'SELECT [1, 2.5, NULL]',
      "SELECT ARRAY_CONCAT([1], [2, 3]), ARRAY_CONCAT([1]), ARRAY_CONCAT(['a'], ['b'], ['c', NULL]), ARRAY_CONCAT([], [])",
      "SELECT ARRAY_REVERSE([1, 2, NULL]), ARRAY_REVERSE(['a']), ARRAY_REVERSE([]), ARRAY_LENGTH(ARRAY_REVERSE(SPLIT('a,b')))",
    ],
  },
  {
    kind: 'differs',
    why: 'a whole number is a FLOAT64, too; newer releases write JSON at %p',
    cases: ["SELECT FORMAT('%f', 1)", "SELECT FORMAT('%p', 'a')"],
  },
];
