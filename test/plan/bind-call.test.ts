import { test } from 'node:test';
import { expectExpression, expectOutput, expectPlan, expectRefusal } from './bind-check.ts';

test('arguments of DYNAMIC are read as the parameter wants them', () => {
  expectExpression('LOWER(m.x)', 'lower(read(m#7.x as STRING))', 'STRING');
  expectExpression(
    "REGEXP_CONTAINS(m.x, 'a')",
    "regexp_contains(read(m#7.x as STRING), 'a')",
    'BOOL',
  );
  expectExpression('ROUND(m.x, 2)', 'round(read(m#7.x as NUMBER), 2)', 'FLOAT64');
  expectExpression('ABS(m.x)', 'abs(read(m#7.x as NUMBER))', 'NUMBER');
  expectExpression('SQRT(m.x)', 'sqrt(read(m#7.x as FLOAT64))', 'FLOAT64');
  expectExpression('ARRAY_LENGTH(m.x)', 'array_length(m#7.x)', 'INT64');
});

test('arguments of one type are brought together, or stay DYNAMIC', () => {
  expectExpression('GREATEST(m.x, m.y)', 'greatest(m#7.x, m#7.y)', 'DYNAMIC');
  expectExpression("LEAST(m.x, 'a')", "least(m#7.x, 'a')", 'DYNAMIC');
  expectExpression('NULLIF(m.x, m.y)', 'nullif(m#7.x, m#7.y)', 'DYNAMIC');
  expectExpression(
    "NULLIF(m.x, '')",
    "case when (read(m#7.x as STRING) = '') then null else m#7.x end",
    'DYNAMIC',
  );
  expectExpression('GREATEST(1, 2.5)', 'greatest(1, 2.5)', 'FLOAT64');
  expectRefusal(
    'SELECT ^GREATEST([1], [2])',
    'GREATEST takes (one orderable type, one orderable type, …)',
  );
});

test('date parts are bare words, words with a day, or strings', () => {
  expectExpression(
    'timestamp_trunc(timestamp, week(monday))',
    "timestamp_trunc(timestamp#2, 'WEEK(MONDAY)')",
  );
  expectExpression("TIMESTAMP_TRUNC(timestamp, 'hour')", "timestamp_trunc(timestamp#2, 'HOUR')");
  expectExpression(
    'TIMESTAMP_DIFF(timestamp, timestamp, SECOND)',
    "timestamp_diff(timestamp#2, timestamp#2, 'SECOND')",
    'INT64',
  );
});

test('an INTERVAL argument is an amount and a part', () => {
  expectExpression(
    'TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)',
    "timestamp_sub(now, 90, 'DAY')",
    'TIMESTAMP',
  );
  expectExpression(
    "GENERATE_TIMESTAMP_ARRAY('2026-01-15', timestamp, INTERVAL @n HOUR)",
    "generate_timestamp_array(timestamp '2026-01-15 00:00:00', timestamp#2, @n, 'HOUR')",
    'ARRAY<TIMESTAMP>',
  );
  expectRefusal('SELECT ^LOWER(INTERVAL 1 DAY)', 'got (INTERVAL)');
  expectRefusal(
    "SELECT DATE_ADD('2026-01-15', ^INTERVAL '1-2' YEAR TO MONTH)",
    'an INTERVAL of one part; got YEAR TO MONTH',
  );
});

test('the clock is an argument', () => {
  expectExpression('CURRENT_TIMESTAMP', 'now', 'TIMESTAMP');
  expectExpression(
    "`a-b.c.generate_timestamp_trunc_array`(5, 'minute_second')",
    "generate_timestamp_trunc_array(5, 'minute_second', now)",
    'ARRAY<TIMESTAMP>',
  );
  expectExpression(
    "dev.generate_timestamp_trunc_array(1, 'day_hour')",
    "generate_timestamp_trunc_array(1, 'day_hour', now)",
  );
});

test('EXTRACT is a function of its part', () => {
  expectExpression('EXTRACT(hour FROM timestamp)', "extract('HOUR', timestamp#2)", 'INT64');
  expectExpression(
    "EXTRACT(DAY FROM timestamp AT TIME ZONE 'UTC')",
    "extract('DAY', timestamp#2, 'UTC')",
  );
  expectExpression('EXTRACT(DATE FROM timestamp)', 'date(timestamp#2)', 'DATE');
  expectExpression(
    "EXTRACT(DATETIME FROM timestamp AT TIME ZONE 'Asia/Tokyo')",
    "datetime(timestamp#2, 'Asia/Tokyo')",
    'DATETIME',
  );
  expectRefusal(
    "SELECT ^EXTRACT(DATE FROM TIME '10:00:00')",
    'takes TIMESTAMP or DATETIME; got TIME',
  );
  expectRefusal("SELECT EXTRACT(^HOUR FROM DATE '2026-01-15')", 'got "HOUR"');
});

test('SAFE. gives the form of a function that answers NULL for an error', () => {
  expectExpression('SAFE.TIMESTAMP(m.x)', 'safe.timestamp(read(m#7.x as STRING))', 'TIMESTAMP');
  expectRefusal('SELECT ^SAFE.SUM(1)', 'SUM has no form with the prefix SAFE.');
});

test('an unknown function is refused with the nearest name', () => {
  expectRefusal('SELECT ^LOWR(id) FROM logs', 'there is no function LOWR; did you mean LOWER?');
  expectRefusal('SELECT ^cuont(*) FROM logs', 'there is no function cuont; did you mean COUNT?');
  expectRefusal('SELECT ^fn.lower(id) FROM logs', 'there is no function fn.lower');
});

test('operators cannot be called by the names they have inside', () => {
  expectRefusal('SELECT ^array_offset([1], 0)', 'there is no function array_offset');
  expectRefusal('SELECT ^is_null(1)', 'there is no function is_null');
});

test('arguments that do not fit are told with what is taken', () => {
  expectRefusal('SELECT ^LOWER(1)', 'LOWER takes (STRING) or (BYTES); got (INT64)');
  expectRefusal('SELECT ^LOWER()', 'LOWER takes (STRING) or (BYTES); got ()');
  expectRefusal('SELECT ^COUNTIF(1)', 'COUNTIF takes (BOOL); got (INT64)');
  expectRefusal('SELECT ^LOWER(DISTINCT id) FROM logs', 'LOWER is not an aggregate');
});

test('aggregates read DYNAMIC as they need it', () => {
  expectPlan(
    `SELECT AVG(m.x) AS a, SUM(m.x) AS s, MIN(m.x) AS l, APPROX_QUANTILES(m.x, 100)[OFFSET(95)] AS q,
       COUNTIF(m.x >= 400) AS c FROM logs, UNNEST(metadata) AS m`,
    'project a#8 := avg#8, s#9 := sum#9, l#10 := min#10, q#13 := array_offset(approx_quantiles#11, 95), c#12 := countif#12',
    '  aggregate compute avg#8 := avg(read(m#7.x as NUMBER)), sum#9 := sum(read(m#7.x as NUMBER)), min#10 := min(m#7.x), approx_quantiles#11 := approx_quantiles(m#7.x, 100), countif#12 := countif((read(m#7.x as NUMBER) >= 400))',
    '    unnest root#5.metadata as m#7',
    '      scan logs',
  );
  expectOutput(
    'SELECT SUM(1) AS i, SUM(1.5) AS f, AVG(1) AS a, MAX(timestamp) AS t, APPROX_QUANTILES(1, 2) AS q, MIN(m.x) AS d FROM logs, UNNEST(metadata) AS m',
    'i INT64, f FLOAT64, a FLOAT64, t TIMESTAMP, q ARRAY<INT64>, d DYNAMIC',
  );
});

test('constants of aggregates are the same for all rows', () => {
  expectOutput('SELECT APPROX_QUANTILES(timestamp, @n) AS q FROM logs', 'q ARRAY<TIMESTAMP>');
  expectRefusal('SELECT ^APPROX_QUANTILES(1, x) FROM (SELECT 1 AS x)', 'must be a constant');
});

test('COUNT takes a star, or a value', () => {
  expectOutput('SELECT COUNT(*) AS c, COUNT(DISTINCT id) AS d FROM logs', 'c INT64, d INT64');
  expectRefusal('SELECT ^COUNT()', 'COUNT takes * or a value');
  expectRefusal('SELECT ^SUM(*)', 'SUM does not take *');
  expectOutput('SELECT COUNT(DISTINCT metadata) AS n FROM logs', 'n INT64');
});

test('what stands beside the arguments of an aggregate is up to the function', () => {
  expectOutput(
    'SELECT ARRAY_AGG(DISTINCT id IGNORE NULLS ORDER BY id DESC LIMIT 3) AS a FROM logs',
    'a ARRAY<STRING>',
  );
  expectOutput("SELECT STRING_AGG(id, '-' ORDER BY timestamp) AS a FROM logs", 'a STRING');
  expectOutput('SELECT SUM(1 HAVING MAX timestamp) AS a FROM logs', 'a INT64');
  expectRefusal('SELECT ^SUM(1 ORDER BY id) FROM logs', 'SUM does not take ORDER BY');
  expectRefusal('SELECT ^SUM(1 LIMIT 1) FROM logs', 'SUM does not take LIMIT');
  expectRefusal('SELECT ^COUNT(id IGNORE NULLS) FROM logs', 'COUNT does not take IGNORE NULLS');
  expectRefusal('SELECT ^CORR(DISTINCT 1, 2) FROM logs', 'CORR does not take DISTINCT');
  expectRefusal('SELECT ^UPPER(id LIMIT 1) FROM logs', 'UPPER is not an aggregate');
  expectRefusal('SELECT ARRAY_AGG(id ORDER BY ^1) FROM logs', 'takes no positions');
  expectRefusal(
    'SELECT ARRAY_AGG(DISTINCT id ORDER BY ^timestamp) FROM logs',
    'with DISTINCT an aggregate can ORDER BY its arguments only',
  );
  expectOutput(
    "SELECT STRING_AGG(DISTINCT m.a, '-' ORDER BY m.a DESC) AS a FROM logs, UNNEST(metadata) AS m",
    'a STRING',
  );
  expectRefusal('SELECT SUM(1 HAVING MAX ^metadata) FROM logs', 'takes no lists, records or JSON');
  expectRefusal('SELECT ^ARRAY_AGG(metadata) FROM logs', 'takes (any type but ARRAY)');
});

test('a date part that a function does not know is refused where it stands', () => {
  expectRefusal('SELECT timestamp_trunc(timestamp, ^FOO) FROM logs', 'got "FOO"');
  expectRefusal(
    'SELECT timestamp_add(timestamp, INTERVAL NULL ^WEEK) FROM logs',
    'TIMESTAMP_ADD takes one of the parts',
  );
  expectRefusal('SELECT EXTRACT(^EPOCH FROM timestamp) FROM logs', 'got "EPOCH"');
  expectExpression(
    'datetime_add(DATETIME "2026-01-15", INTERVAL 1 WEEK)',
    "datetime_add(datetime '2026-01-15 00:00:00', 1, 'WEEK')",
  );
});

test('a text that may be one time or another is read as the first that the function takes', () => {
  expectExpression("STRING('2026-01-15')", "string(date '2026-01-15')", 'STRING');
  expectExpression("date_trunc('2026-01-15', MONTH)", "date_trunc(date '2026-01-15', 'MONTH')");
  expectRefusal("SELECT ^EXTRACT(DAY FROM '2026-01-15')", "write TIMESTAMP '…' or DATE '…'");
  expectExpression(
    "timestamp_trunc('2026-01-15 10:11:12', HOUR)",
    "timestamp_trunc(timestamp '2026-01-15 10:11:12', 'HOUR')",
  );
});

test('only lists have a length', () => {
  expectExpression('ARRAY_LENGTH([1, NULL])', 'array_length([1, null])', 'INT64');
  expectRefusal("SELECT ^ARRAY_LENGTH('ab')", 'ARRAY_LENGTH takes (ARRAY); got (STRING)');
});

test('what texts are joined with is cast to STRING', () => {
  expectExpression("CONCAT('a', 1)", "concat('a', cast(1 as STRING))", 'STRING');
  expectExpression('id || timestamp', '(id#1 || cast(timestamp#2 as STRING))', 'STRING');
  expectExpression("CONCAT(m.a, '-')", "concat(cast(m#7.a as STRING), '-')", 'STRING');
  expectExpression("m.a || ['-']", "(read(m#7.a as ARRAY<DYNAMIC>) || ['-'])", 'ARRAY<DYNAMIC>');
  expectRefusal(
    'SELECT ^CONCAT([1])',
    'CONCAT takes (STRING, STRING, …) or (BYTES, BYTES, …); got (ARRAY<INT64>)',
  );
});

test('a function of PostgreSQL is answered with its name here', () => {
  expectRefusal('SELECT ^NOW() FROM logs', 'the time of the query is CURRENT_TIMESTAMP()');
});

test('functions without one answer for the same data are refused with the reason', () => {
  expectRefusal('SELECT ^RAND() FROM logs', 'RAND cannot be called: the same data gives the same');
  expectRefusal('SELECT ^GENERATE_UUID() FROM logs', 'so nothing is random');
  expectRefusal('SELECT ^SESSION_USER() FROM logs', 'no token is a user');
  expectRefusal("SELECT ^NET.REG_DOMAIN('a.b') FROM logs", 'no list of public suffixes');
});

test('ERROR stands where a value of any type is wanted, and is still to be raised', () => {
  expectExpression(
    "IF(id = 'a', 1, ERROR('no'))",
    "case when (id#1 = 'a') then 1 else cast(error('no') as INT64) end",
    'INT64',
  );
});
