import { test } from 'node:test';
import { expectExpression, expectLimit, expectRefusal } from './bind-check.ts';

test('a field is read as what it is compared with', () => {
  expectExpression("m.x = 'a'", "(read(m#7.x as STRING) = 'a')");
  expectExpression('m.x = @project', '(read(m#7.x as STRING) = @project)');
  expectExpression('m.x >= 400', '(read(m#7.x as NUMBER) >= 400)');
  expectExpression('1.5 != m.x', '(1.5 != read(m#7.x as NUMBER))');
  expectExpression('m.x = @flag', '(read(m#7.x as BOOL) = @flag)');
  expectExpression('m.x = m.y', '(m#7.x = m#7.y)');
});

test('a bare NULL is no operand, for the result would always be NULL', () => {
  expectRefusal('SELECT 1 = ^NULL', 'write IS NULL');
  expectRefusal('SELECT 1 + ^NULL', '+ cannot have a bare NULL');
  expectRefusal("SELECT ^NULL || 'a'", '|| cannot have a bare NULL');
  expectRefusal("SELECT 'a' LIKE ^NULL", 'LIKE cannot have a bare NULL');
  expectRefusal('SELECT NOT ^NULL', 'NOT cannot have a bare NULL');
  expectExpression('1 IN (NULL)', 'in(1, null)');
  expectExpression('NULL IS NULL', 'is_null(null)');
});

test('a field is never found to be a time', () => {
  const from = 'FROM logs, UNNEST(metadata) AS m';
  expectRefusal(`SELECT ^timestamp > m.x ${from}`, 'write TIMESTAMP(field)');
  expectRefusal(`SELECT ^timestamp_trunc(m.x, DAY) ${from}`, 'write TIMESTAMP(field)');
  expectRefusal(`SELECT ^IF(true, timestamp, m.x) ${from}`, 'needs values of one type');
  expectExpression(
    'timestamp > TIMESTAMP(m.x)',
    '(timestamp#2 > timestamp(read(m#7.x as STRING)))',
  );
});

test('an INT64 beside a FLOAT64 is compared as a FLOAT64', () => {
  expectExpression('@n = 1.5', '(cast(@n as FLOAT64) = 1.5)');
  expectExpression('1 < 2', '(1 < 2)');
  expectExpression('@n IN (1, 1.5)', 'in(cast(@n as FLOAT64), 1, 1.5)');
  expectExpression('@n IN UNNEST([1.5])', 'in_array(cast(@n as FLOAT64), [1.5])');
});

test('operands of BETWEEN and CASE are brought to one type together', () => {
  expectExpression(
    "'2026-01-15' BETWEEN '2026-01-14' AND timestamp",
    "((timestamp '2026-01-15 00:00:00' >= timestamp '2026-01-14 00:00:00') and " +
      "(timestamp '2026-01-15 00:00:00' <= timestamp#2))",
  );
  expectExpression(
    'CASE @n WHEN 9007199254740993 THEN 1 WHEN 1.5 THEN 2 END',
    'case when (cast(@n as FLOAT64) = 9007199254740992) then 1 ' +
      'when (cast(@n as FLOAT64) = 1.5) then 2 else null end',
  );
  expectRefusal("SELECT ^1 BETWEEN 'a' AND 2", 'BETWEEN cannot compare INT64, STRING, INT64');
  expectRefusal("SELECT ^CASE 1 WHEN 'a' THEN 1 END", 'CASE cannot compare INT64, STRING');
});

test('a NULL beside a number leaves it the number it is', () => {
  expectExpression('SAFE_ADD(@n, NULL)', 'safe_add(@n, null)', 'INT64');
  expectExpression('ABS(NULL)', 'abs(null)', 'INT64');
  expectExpression('[NULL]', '[null]', 'ARRAY<INT64>');
});

test('strings that stand beside times are times, written or given', () => {
  expectExpression(
    "timestamp > '2026-01-15T05:00:00.000Z'",
    "(timestamp#2 > timestamp '2026-01-15 05:00:00')",
  );
  expectExpression('timestamp > @project', '(timestamp#2 > cast(@project as TIMESTAMP))');
  expectExpression(
    "DATETIME '2026-01-15' BETWEEN '2026-01-14' AND '2026-01-16 12:00:00'",
    "((datetime '2026-01-15 00:00:00' >= datetime '2026-01-14 00:00:00') and (datetime '2026-01-15 00:00:00' <= datetime '2026-01-16 12:00:00'))",
  );
  expectRefusal("SELECT timestamp > ^'yesterday' FROM logs", '"yesterday"');
  expectRefusal(
    "SELECT TIMESTAMP ^'yesterday'".replace('TIMESTAMP ^', '^TIMESTAMP '),
    '"yesterday"',
  );
  expectRefusal('SELECT ^timestamp > event_message FROM logs', 'TIMESTAMP, STRING');
});

test('what has no order between it cannot be compared', () => {
  expectRefusal("SELECT ^1 = 'a'", '= cannot compare INT64, STRING');
  expectRefusal('SELECT ^[1] = [1]', 'cannot compare ARRAY<INT64>, ARRAY<INT64>');
  expectRefusal('SELECT ^timestamp = DATETIME(timestamp) FROM logs', 'TIMESTAMP, DATETIME');
});

test('lists of IN are brought to one type with what is looked for', () => {
  expectExpression("m.x IN ('a', 'b')", "in(read(m#7.x as STRING), 'a', 'b')");
  expectExpression('m.x NOT IN (1, 2.5)', 'not(in(read(m#7.x as NUMBER), 1, 2.5))');
  expectExpression(
    "timestamp IN ('2026-01-15')",
    "in(timestamp#2, timestamp '2026-01-15 00:00:00')",
  );
  expectRefusal("SELECT ^id IN ('a', 1) FROM logs", 'IN cannot compare STRING, INT64');
});

test('a field is compared with each value as that wants it', () => {
  expectExpression(
    "m.x IN (m.y, 'a', 1, NULL, 2.5)",
    "(in(m#7.x, m#7.y, null) or in(read(m#7.x as STRING), 'a') or in(read(m#7.x as NUMBER), 1, 2.5))",
  );
  expectExpression(
    "m.x BETWEEN m.y AND 'z'",
    "((m#7.x >= m#7.y) and (read(m#7.x as STRING) <= 'z'))",
  );
  expectExpression(
    "CASE m.x WHEN 'a' THEN 1 WHEN 2 THEN 2 END",
    "case when (read(m#7.x as STRING) = 'a') then 1 when (read(m#7.x as NUMBER) = 2) then 2 else null end",
  );
  expectExpression("'a' IN (m.x, m.y)", "in('a', read(m#7.x as STRING), read(m#7.y as STRING))");
  expectRefusal(
    "SELECT ^m.x IN ('a', CURRENT_DATE()) FROM logs, UNNEST(metadata) AS m",
    'IN cannot compare DYNAMIC, STRING, DATE',
  );
});

test('IN UNNEST takes a list, or a field that may be one', () => {
  expectExpression("m.x IN UNNEST(['a'])", "in_array(read(m#7.x as STRING), ['a'])");
  expectExpression("'a' IN UNNEST(m.list)", "in_array('a', read(m#7.list as ARRAY<STRING>))");
  expectExpression('1 IN UNNEST(m.list)', 'in_array(1, read(m#7.list as ARRAY<NUMBER>))');
  expectExpression('m.x IN UNNEST(m.list)', 'in_array(m#7.x, read(m#7.list as ARRAY<DYNAMIC>))');
  expectExpression(
    "timestamp NOT IN UNNEST(['2026-01-15'])",
    "not(in_array(timestamp#2, [timestamp '2026-01-15 00:00:00']))",
  );
  expectRefusal('SELECT 1 IN UNNEST(^2)', 'IN UNNEST takes an ARRAY; got INT64');
  expectRefusal(
    "SELECT ^1 IN UNNEST(['a'])",
    'cannot compare INT64 with elements of ARRAY<STRING>',
  );
});

test('BETWEEN is two comparisons', () => {
  expectExpression(
    'm.x BETWEEN 200 AND 299',
    '((read(m#7.x as NUMBER) >= 200) and (read(m#7.x as NUMBER) <= 299))',
  );
  expectExpression('1 NOT BETWEEN 2 AND 3', 'not(((1 >= 2) and (1 <= 3)))');
});

test('LIKE takes strings', () => {
  expectExpression("m.x LIKE '%a'", "(read(m#7.x as STRING) like '%a')");
  expectExpression('id NOT LIKE @project', 'not((id#1 like @project))');
  expectRefusal(
    "SELECT ^1 LIKE 'a'",
    'LIKE takes STRING or BYTES on both sides; got INT64, STRING',
  );
});

test('IS tests are calls, negated by NOT', () => {
  expectExpression('m.x IS NULL', 'is_null(m#7.x)');
  expectExpression('m.x IS NOT TRUE', 'not(is_true(read(m#7.x as BOOL)))');
  expectExpression('@flag IS FALSE', 'is_false(@flag)');
});

test('a chain of AND or OR is one call, however long', () => {
  expectExpression('m.a AND @flag AND NOT true', '(read(m#7.a as BOOL) and @flag and not(true))');
  expectExpression('@flag OR true AND false OR NULL', '(@flag or (true and false) or null)');
  expectExpression(
    Array(900).fill('true').join(' OR '),
    `(${Array(900).fill('true').join(' or ')})`,
  );
  expectRefusal('SELECT true AND ^1', 'AND takes BOOL; got INT64');
});

test('signs are folded into numbers', () => {
  expectExpression('-1', '-1', 'INT64');
  expectExpression('- -1.5', '1.5', 'FLOAT64');
  expectExpression('-9223372036854775808', '-9223372036854775808', 'INT64');
  expectExpression('-m.x', 'neg(read(m#7.x as NUMBER))', 'NUMBER');
  expectExpression('+@n', '@n', 'INT64');
  expectRefusal("SELECT ^+'a'", '+ takes INT64 or FLOAT64; got STRING');
});

test('arithmetic is over INT64, over FLOAT64 once one side is, else over the numbers of fields', () => {
  expectExpression('@n + 1', '(@n + 1)', 'INT64');
  expectExpression('@n * 0.5', '(@n * 0.5)', 'FLOAT64');
  expectExpression('m.x - 1', '(read(m#7.x as NUMBER) - 1)', 'NUMBER');
  expectExpression('m.x - m.y', '(read(m#7.x as NUMBER) - read(m#7.y as NUMBER))', 'NUMBER');
  expectExpression('m.x - 1.5', '(read(m#7.x as FLOAT64) - 1.5)', 'FLOAT64');
  expectExpression(
    'MOD(m.x + 1, 2)',
    'mod(read((read(m#7.x as NUMBER) + 1) as INT64), 2)',
    'INT64',
  );
  expectExpression('1 / 2', '(1 / 2)', 'FLOAT64');
  expectExpression("m.x || 'a'", "(cast(m#7.x as STRING) || 'a')", 'STRING');
  expectRefusal("SELECT ^LOWER('a') + 1", 'got (STRING, INT64)');
  expectRefusal("SELECT ^ABS('a')", 'ABS takes (FLOAT64) or (INT64); got (STRING)');
});

test('long chains of operators are bound without recursion', () => {
  expectExpression(Array(900).fill('1').join(' + '), `${'('.repeat(899)}1${' + 1)'.repeat(899)}`);
});

test('an INTERVAL may be added to a time', () => {
  expectExpression(
    'timestamp - INTERVAL 5 minute',
    "(timestamp#2 - interval(5, 'MINUTE'))",
    'TIMESTAMP',
  );
  expectExpression(
    'INTERVAL @n DAY + CURRENT_DATETIME()',
    "(interval(@n, 'DAY') + cast(now as DATETIME))",
    'DATETIME',
  );
  expectExpression(
    "timestamp + INTERVAL '1:30' HOUR TO MINUTE",
    "(timestamp#2 + interval '0-0 0 1:30:0')",
    'TIMESTAMP',
  );
  expectRefusal('SELECT ^1 + INTERVAL 1 DAY', 'got (INT64, INTERVAL)');
  expectRefusal("SELECT ^INTERVAL '1:x' HOUR TO MINUTE", 'written as HOUR:MINUTE; got "1:x"');
  expectRefusal('SELECT INTERVAL 1 ^ISOWEEK', 'got "ISOWEEK"');
});

test('branches are brought to one type', () => {
  expectExpression('IF(@flag, 1, 2.5)', 'case when @flag then 1 else 2.5 end', 'FLOAT64');
  expectExpression(
    'CASE WHEN @flag THEN m.x END',
    'case when @flag then m#7.x else null end',
    'DYNAMIC',
  );
  expectExpression(
    "CASE m.x WHEN 'a' THEN NULL WHEN 'b' THEN @project ELSE m.y END",
    "case when (read(m#7.x as STRING) = 'a') then null when (read(m#7.x as STRING) = 'b') then cast(@project as DYNAMIC) else m#7.y end",
    'DYNAMIC',
  );
  expectExpression(
    "IF(@flag, timestamp, '2026-01-15')",
    "case when @flag then timestamp#2 else timestamp '2026-01-15 00:00:00' end",
    'TIMESTAMP',
  );
  expectRefusal(
    "SELECT ^CASE WHEN true THEN 1 ELSE 'a' END",
    'CASE needs values of one type; got INT64, STRING',
  );
  expectRefusal('SELECT IF(^1, 2, 3)', 'the condition of IF takes BOOL; got INT64');
  expectRefusal('SELECT ^IF(true, 1)', 'got 2 arguments');
});

test('a field beside another type stays what it is', () => {
  expectExpression('COALESCE(m.x, m.y)', 'coalesce(m#7.x, m#7.y)', 'DYNAMIC');
  expectExpression("IFNULL(m.x, '')", "coalesce(m#7.x, '')", 'DYNAMIC');
  expectExpression('IFNULL(m.x, 0)', 'coalesce(m#7.x, 0)', 'DYNAMIC');
  expectExpression('IFNULL(m.x, @n)', 'coalesce(m#7.x, cast(@n as DYNAMIC))', 'DYNAMIC');
  expectExpression('IFNULL(m.x, [])', 'coalesce(m#7.x, cast([] as DYNAMIC))', 'DYNAMIC');
  expectExpression("COALESCE(['a'], [])", "coalesce(['a'], [])", 'ARRAY<STRING>');
  expectExpression('COALESCE([], metadata)', 'coalesce([], root#5.metadata)', 'ARRAY<DYNAMIC>');
  expectExpression(
    'ARRAY_CONCAT(m.x, [])',
    'array_concat(read(m#7.x as ARRAY<DYNAMIC>), [])',
    'ARRAY<DYNAMIC>',
  );
  expectRefusal('SELECT ^IFNULL(1)', 'IFNULL takes two arguments of one type; got 1');
  expectRefusal('SELECT ^COALESCE()', 'COALESCE takes at least one argument of one type; got 0');
});

test('lists have elements of one type', () => {
  expectExpression('[1, 2.5, NULL]', '[1, 2.5, null]', 'ARRAY<FLOAT64>');
  expectExpression("[m.x, 'a']", "[m#7.x, 'a']", 'ARRAY<DYNAMIC>');
  expectRefusal("SELECT ^[1, 'a']", 'a list needs values of one type; got INT64, STRING');
});

test('a cast to the type a value has is nothing', () => {
  expectExpression('CAST(timestamp AS TIMESTAMP)', 'timestamp#2', 'TIMESTAMP');
  expectExpression('CAST(@project AS timestamp)', 'cast(@project as TIMESTAMP)', 'TIMESTAMP');
  expectExpression('SAFE_CAST(m.x AS INT64)', 'safe_cast(m#7.x as INT64)', 'INT64');
  expectExpression('CAST(NULL AS INT64)', 'null', 'INT64');
  expectRefusal('SELECT ^CAST(true AS TIMESTAMP)', 'CAST cannot make TIMESTAMP of BOOL');
  expectRefusal('SELECT ^CAST(1 AS DATE)', 'CAST cannot make DATE of INT64');
  expectRefusal('SELECT CAST(1 AS ^NUMERIC)', 'type NUMERIC is not known');
});

test('a NULL of a known type stays NULL whatever it is coerced to', () => {
  expectExpression('CAST(NULL AS INT64) + 0.5', '(null + 0.5)', 'FLOAT64');
  expectExpression('-CAST(NULL AS FLOAT64)', 'neg(null)', 'FLOAT64');
});

test('a text that was cast is no literal any more, and no time', () => {
  expectExpression("CAST('a' AS STRING)", "cast('a' as STRING)", 'STRING');
  expectRefusal("SELECT ^timestamp > CAST('2026-01-15' AS STRING) FROM logs", 'cannot compare');
  expectRefusal('SELECT ^timestamp > CAST(NULL AS STRING) FROM logs', 'cannot compare');
});

test('operands that are written out twice count twice', () => {
  const text = `${'('.repeat(60)}true${' BETWEEN true AND true)'.repeat(60)}`;
  expectLimit(`SELECT ${text}`, 'too large');
});
