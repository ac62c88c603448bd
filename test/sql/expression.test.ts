import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { expectRefused } from './refused.ts';
import { mustSelect, sketchExpression } from './sketch.ts';

function expectGrouped(cases: Readonly<Record<string, string>>): void {
  for (const [text, sketch] of Object.entries(cases)) {
    assert.equal(sketchExpression(text), sketch, text);
  }
}

test('operators bind as tightly as GoogleSQL says', () => {
  expectGrouped({
    'a or b and c': '(or a (and b c))',
    'not a and b': '(and (not a) b)',
    'not a = b': '(not (= a b))',
    'a = b + c': '(= a (+ b c))',
    'a + b * c - d': '(- (+ a (* b c)) d)',
    'a || b + c': '(+ (|| a b) c)',
    '-a * b': '(* (- a) b)',
    '-a.b[0]': '(- ([plain] a.b 0n))',
    '(a + b) * c': '(* (+ a b) c)',
    'a < b and c >= d or e <> f': '(or (and (< a b) (>= c d)) (!= e f))',
  });
});

test('operators of one rank group from the left', () => {
  expectGrouped({
    'a - b - c': '(- (- a b) c)',
    'a / b * c || d': '(|| (* (/ a b) c) d)',
    'a and b and c': '(and (and a b) c)',
  });
});

test('NOT may stand before any operand and reaches as far as it can', () => {
  expectGrouped({
    'not not a': '(not (not a))',
    'a = not b': '(= a (not b))',
    'a = not b = c': '(= a (not (= b c)))',
    'a + not b and c': '(and (+ a (not b)) c)',
  });
});

test('comparisons cannot be chained', () => {
  const message = (got: string) =>
    `comparisons cannot be chained: put the one before "${got}" in parentheses`;
  expectRefused('SELECT a = b = c', message('='), '= c');
  expectRefused('SELECT a < b is true', message('is'), 'is true');
  expectRefused('SELECT a is null is null', message('is'), 'is null');
  expectRefused('SELECT a between 1 and 2 not in (3)', message('not'), 'not in');
  expectGrouped({ '(a = b) = c': '(= (= a b) c)' });
});

test('BETWEEN takes the first AND for itself', () => {
  expectGrouped({
    'a between 1 and 2 + 3 and b': '(and (between a 1n (+ 2n 3n)) b)',
    'a not between b and c or d': '(or (not between a b c) d)',
  });
});

test('IN takes a list or an array, LIKE a pattern, IS a constant', () => {
  expectGrouped({
    "a in ('x', b)": '(in a "x" b)',
    'a not in unnest(@list)': '(not in-unnest a @list)',
    "a not like 'x%' || b": '(not like a (|| "x%" b))',
    'a is null': '(is-null a)',
    'a + b is not true': '(not is-true (+ a b))',
    'a is false': '(is-false a)',
    'a is not unknown': '(not is-unknown a)',
    "a like any ('x%', b)": '(like-any a "x%" b)',
    'a not like all (b)': '(not like-all a b)',
  });
});

test('a sign before an integer belongs to it', () => {
  expectGrouped({
    '-5': '-5n',
    '- -5': '(- -5n)',
    '1 - 5': '(- 1n 5n)',
    '1 -5': '(- 1n 5n)',
    '-1.5': '(- 1.5)',
    '+5': '(+ 5n)',
  });
});

test('integers hold 64 bits with sign', () => {
  expectGrouped({
    '9223372036854775807': '9223372036854775807n',
    '-9223372036854775808': '-9223372036854775808n',
    '0x7FFFFFFFFFFFFFFF': '9223372036854775807n',
    '-0x8000000000000000': '-9223372036854775808n',
    '00000000000000000000000012': '12n',
  });
  const refused = (text: string) =>
    expectRefused(`SELECT ${text}`, `the integer ${text} does not fit into INT64`, text);
  refused('9223372036854775808');
  refused('-9223372036854775809');
  refused('0x8000000000000000');
  refused('0xFFFFFFFFFFFFFFFF');
  const nines = '9'.repeat(200_000);
  const message = `the integer ${nines.slice(0, 40)}… does not fit into INT64`;
  expectRefused(`SELECT ${nines}`, message, '999');
});

test('floats are read as FLOAT64, and refused beyond it', () => {
  expectGrouped({ '1.': '1', '.5': '0.5', '1e10': '10000000000', '2.5E-1': '0.25' });
  expectRefused('SELECT 1e999', 'the number 1e999 does not fit into FLOAT64', '1e999');
});

test('literals with a type and words for values', () => {
  expectGrouped({
    "timestamp '2026-01-15'": '(TIMESTAMP "2026-01-15")',
    'Datetime "2026-01-15"': '(DATETIME "2026-01-15")',
    null: 'null',
    TRUE: 'true',
    'interval 5 minute': '(interval 5n minute)',
    'interval -@n day': '(interval (- @n) day)',
    '[1, a, [ ]]': '[1n a []]',
    'array[a]': '[a]',
  });
});

test('words that are not reserved are names', () => {
  expectGrouped({
    timestamp: 'timestamp',
    't.timestamp': 't.timestamp',
    'timestamp_trunc(timestamp, minute)': 'timestamp_trunc(timestamp minute)',
    'timestamp(x)': 'timestamp(x)',
    date: 'date',
    'offset + level': '(+ offset level)',
    safe_cast: 'safe_cast',
    't.select.group.2xx': 't.select.group.2xx',
    '`select`.x': 'select.x',
    '`a.b`.c': 'a.b.c',
    '@p.x': '@p.x',
  });
});

test('subscripts may say how they count', () => {
  expectGrouped({
    'a[0].b': '([plain] a 0n).b',
    'a[offset(1)]': '([offset] a 1n)',
    'a[safe_offset(i + 1)]': '([safe_offset] a (+ i 1n))',
    'a[ORDINAL(1)]': '([ordinal] a 1n)',
    'a[safe_ordinal(1)]': '([safe_ordinal] a 1n)',
    'a[offset]': '([plain] a offset)',
    'f(x)[offset(95)]': '([offset] f(x) 95n)',
  });
});

test('calls have dotted names, a star, DISTINCT or nothing', () => {
  expectGrouped({
    'f()': 'f()',
    'count(*)': 'count(*)',
    'count(distinct a)': 'count(distinct a)',
    'if(a, 1, 2)': 'if(a 1n 2n)',
    'left(a, 2)': 'left(a 2n)',
    'net.host(url)': 'net.host(url)',
    '`my-project`.ds.f(1, "x")': 'my-project.ds.f(1n "x")',
    'f(a).b': 'f(a).b',
  });
});

test('CURRENT_TIMESTAMP is a call with and without parentheses', () => {
  expectGrouped({
    current_timestamp: 'current_timestamp()',
    'CURRENT_TIMESTAMP()': 'CURRENT_TIMESTAMP()',
    't.current_timestamp': 't.current_timestamp',
    '`current_timestamp`': 'current_timestamp',
  });
});

test('CASE with and without operand', () => {
  expectGrouped({
    'case when a then 1 when b then 2 end': '(case (a 1n) (b 2n))',
    'case a when 1 then 2 else 3 end + 1': '(+ (case a (1n 2n) 3n) 1n)',
  });
});

test('types of a CAST are upper case and have one name each', () => {
  expectGrouped({
    'cast(a as string)': '(cast a STRING)',
    'safe_cast(a + 1 as BigInt)': '(safe-cast (+ a 1n) INT64)',
    'cast(a as boolean)': '(cast a BOOL)',
    'cast(a as datetime)': '(cast a DATETIME)',
    'cast(a as geography)': '(cast a GEOGRAPHY)',
  });
  for (const name of ['int', 'smallint', 'integer', 'bigint', 'tinyint', 'byteint', 'int64']) {
    expectGrouped({ [`cast(a as ${name})`]: '(cast a INT64)' });
  }
});

test('EXTRACT takes a part and may name a zone', () => {
  expectGrouped({
    'extract(hour from t.timestamp)': '(extract hour t.timestamp)',
    "extract(DATE from a at time zone 'UTC')": '(extract DATE a "UTC")',
  });
});

test('a node spans its words, with the parentheses of its operands', () => {
  const text = 'SELECT (a + b) * c.d, f( x )';
  const [product, call] = mustSelect(parseQuery(text)).items;
  assert.ok(product !== undefined && call !== undefined);
  assert.equal(text.slice(product.span.start, product.span.end), '(a + b) * c.d');
  assert.equal(text.slice(call.span.start, call.span.end), 'f( x )');
  assert.deepEqual([call.span.line, call.span.column], [1, 23]);
});

test('bit operators stand between comparison and addition', () => {
  expectGrouped({
    'a | b ^ c & d << e + f': '(| a (^ b (& c (<< d (+ e f)))))',
    'a >> b >> c': '(>> (>> a b) c)',
    'a & b = c | d': '(= (& a b) (| c d))',
    '~a + -b': '(+ (~ a) (- b))',
    'a between b | c and d': '(between a (| b c) d)',
    'a || b * c || d': '(|| (|| a (* b c)) d)',
  });
});

test('IS DISTINCT FROM is a comparison', () => {
  expectGrouped({
    'a is distinct from b + 1 and c': '(and (distinct-from a (+ b 1n)) c)',
    'a is not distinct from null': '(not distinct-from a null)',
  });
});

test('a query in parentheses is a value, an array, a test or the list of IN', () => {
  expectGrouped({
    '(select a) + 1': '(+ (scalar (select a)) 1n)',
    '((select a))': '(scalar (select a))',
    '((select a) + 1)': '(+ (scalar (select a)) 1n)',
    '(with t as (select 1) select a from t limit 1)': '(scalar ((select a) (limit 1n)))',
    'array(select a)': '(array (select a))',
    'not exists (select a)': '(not (exists (select a)))',
    'a not in (select b)': '(not in a (select b))',
    'a in ((select b))': '(in a (scalar (select b)))',
    'a in ((select b), c)': '(in a (scalar (select b)) c)',
  });
});

test('structs are written with names, with a type or as a row', () => {
  expectGrouped({
    'struct(1 as a, b)': '(struct 1n=a b=b)',
    'struct()': '(struct)',
    '(1, a)': '(struct 1n a)',
    '((1, a), b)': '(struct (struct 1n a) b)',
    'struct<a int64, array<string>>(1, [])': '(struct STRUCT<a INT64, ARRAY<STRING>> 1n [])',
    'struct<>()': '(struct STRUCT<>)',
    'a in ((1, 2), b)': '(in a (struct 1n 2n) b)',
    'struct(1 as a).a': '(struct 1n=a).a',
  });
  expectRefused('SELECT STRUCT<INT64>(1 AS a)', 'expected "," or ")"; got "AS"', 'AS');
});

test('types are written with their parts', () => {
  expectGrouped({
    'array<int64>[1]': 'ARRAY<INT64>[1n]',
    'cast(a as array<struct<x int, y array<date>>>)':
      '(cast a ARRAY<STRUCT<x INT64, y ARRAY<DATE>>>)',
    'cast(a as interval)': '(cast a INTERVAL)',
    "cast(a as string format 'YYYY' at time zone 'UTC')": '(cast a STRING "YYYY" "UTC")',
  });
  expectRefused('SELECT CAST(a AS ARRAY)', 'expected "<"; got ")"', ')');
  expectRefused('SELECT CAST(a AS ARRAY<INT64)', 'expected ">"; got ")"', ')');
});

test('a cast by :: binds tighter than a sign and knows names of PostgreSQL', () => {
  expectGrouped({
    'a::text': '(cast a STRING)',
    'a.b[0]::int8 + 1': '(+ (cast ([plain] a.b 0n) INT64) 1n)',
    '-5::text': '(- (cast 5n STRING))',
    "'5'::int::double precision": '(cast (cast "5" INT64) FLOAT64)',
    "a::text like 'x%'": '(like (cast a STRING) "x%")',
    'a::array<int64> >= b': '(>= (cast a ARRAY<INT64>) b)',
  });
  assert.equal(sketchExpression('cast(a as text)'), '(cast a TEXT)');
});

test('dates, times and intervals have literals', () => {
  expectGrouped({
    "date '2026-01-15'": '(DATE "2026-01-15")',
    "TIME '11:55:00'": '(TIME "11:55:00")',
    "interval '1-2' year to month": '(interval "1-2" year month)',
    "b'a'": 'b"a"',
    'extract(week(monday) from a)': '(extract week(monday) a)',
  });
});

test('words that begin a form are names of functions and columns too', () => {
  expectGrouped({
    'left(a, 1) || right(a, 1)': '(|| left(a 1n) right(a 1n))',
    'if(a, b, c)': 'if(a b c)',
    'date(a)': 'date(a)',
    'time(a) < timestamp(b)': '(< time(a) timestamp(b))',
    'replace(a, b, c)': 'replace(a b c)',
    'offset + date': '(+ offset date)',
  });
});
