import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  arrayOf,
  DYNAMIC,
  elementTypeOf,
  FLOAT64,
  INT64,
  STRING,
} from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { INT64_MAX, INT64_MIN } from '../../engine/function/number/int64.ts';
import { findScalarFunction, scalarFunctionNames } from '../../engine/function/registry.ts';
import { call, callAs, overloadOf } from './call.ts';
import { jsonNested } from './nested.ts';

test('functions are found in any case, and unknown ones are not', () => {
  assert.equal(findScalarFunction('Regexp_Contains')?.name, 'regexp_contains');
  assert.equal(findScalarFunction('current_timestamp'), undefined);
  assert.equal(findScalarFunction('toString'), undefined);
  const names = scalarFunctionNames();
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.every((name) => name === name.toLowerCase()));
});

test('every name that is promised is there', () => {
  const promised =
    '+ - * / || = != < <= > >= not neg is_null is_true is_false like in in_array and or nullif concat ' +
    'lower upper length char_length character_length byte_length starts_with ends_with strpos ' +
    'regexp_contains round trunc ceil ceiling floor abs sign mod div safe_divide greatest least ' +
    'array_length array_offset array_safe_offset array_ordinal array_safe_ordinal timestamp datetime ' +
    'timestamp_trunc datetime_trunc timestamp_add timestamp_sub datetime_add datetime_sub ' +
    'timestamp_diff datetime_diff extract generate_timestamp_array generate_timestamp_trunc_array ' +
    'unix_micros unix_millis unix_seconds timestamp_micros timestamp_millis timestamp_seconds';
  for (const name of promised.split(' ')) assert.ok(findScalarFunction(name), name);
});

test('arithmetic of integers is exact and of floats has no infinities', () => {
  assert.equal(callAs('+', 'INT64,INT64', 2 ** 53 - 1, 1), 2n ** 53n);
  assert.equal(callAs('+', 'FLOAT64,FLOAT64', 2 ** 53, 1), 2 ** 53);
  assert.equal(callAs('*', 'FLOAT64,INT64', 0.5, 2n ** 60n), 2 ** 59);
  assert.throws(() => callAs('*', 'FLOAT64,FLOAT64', 1e308, 10), {
    code: 'query_failed',
    message: 'floating point overflow: 1e+308 * 10 does not fit FLOAT64',
  });
  assert.equal(
    callAs('+', 'FLOAT64,FLOAT64', Number.POSITIVE_INFINITY, 1),
    Number.POSITIVE_INFINITY,
  );
  assert.throws(() => callAs('+', 'INT64,INT64', INT64_MAX, 1), /integer overflow/);
  assert.throws(() => callAs('neg', 'INT64', INT64_MIN), /integer overflow/);
  assert.equal(callAs('abs', 'INT64', -(2n ** 53n)), 2n ** 53n);
  assert.equal(callAs('sign', 'FLOAT64', -0.5), -1);
  assert.ok(Object.is(callAs('sign', 'FLOAT64', -0), 0));
});

test('division gives FLOAT64 and refuses 0, which SAFE_DIVIDE makes NULL', () => {
  assert.equal(call('/', 7, 2), 3.5);
  assert.throws(() => call('/', 1, 0), {
    code: 'query_failed',
    message: 'division by zero: 1 / 0',
  });
  assert.throws(() => call('/', 0, 0), /division by zero/);
  assert.equal(call('safe_divide', 1, 0), null);
  assert.equal(call('safe_divide', 1e308, 1e-10), null);
  assert.equal(callAs('safe_add', 'INT64,INT64', INT64_MAX, 1), null);
});

test('a DYNAMIC operand reads as FLOAT64: its overloads come first', () => {
  const { overloads } = findScalarFunction('+')!;
  assert.deepEqual(overloads[0]!.parameters, [FLOAT64, FLOAT64]);
  assert.deepEqual(overloads[3]!.parameters, [INT64, INT64]);
  assert.equal(overloads[3]!.result, INT64);
});

test('rounding goes half away from zero by the exact value', () => {
  const table: readonly [string, number, number | undefined, number][] = [
    ['round', 2.5, undefined, 3],
    ['round', -2.5, undefined, -3],
    ['round', 0.49999999999999994, undefined, 0],
    ['round', 1.115, 2, 1.11],
    ['round', 1.125, 2, 1.13],
    ['round', 123.456, -1, 120],
    ['round', 125, -1, 130],
    ['round', 5, -400, 0],
    ['round', 1e300, 2, 1e300],
    ['round', 1.5, 400, 1.5],
    ['trunc', -2.9, undefined, -2],
    // The double nearest to 0.3 lies below it.
    ['trunc', 0.3, 1, 0.2],
    ['trunc', 0.5, 1, 0.5],
    ['trunc', -304280.854, 4, -304280.8539],
    ['trunc', 1.999, 2, 1.99],
    ['trunc', 0.09, 1, 0],
    ['trunc', 199, -2, 100],
  ];
  for (const [name, value, digits, wanted] of table) {
    const values = digits === undefined ? [value] : [value, digits];
    assert.equal((call(name, ...values) as number) + 0, wanted, `${name}(${values.join(', ')})`);
  }
  assert.ok(Number.isNaN(call('round', Number.NaN)));
  assert.equal(call('floor', -0.5), -1);
  assert.equal(call('ceiling', 2n ** 60n), 2 ** 60);
});

test('IN has three answers', () => {
  assert.equal(call('in', 1, 2, 1), true);
  assert.equal(call('in', 1, 2, 3), false);
  assert.equal(call('in', 1, 2, null), null);
  assert.equal(call('in', 1, null, 1), true);
  assert.equal(call('in', null, 1), null);
  assert.equal(call('in_array', 'a', ['b', 'a']), true);
  assert.equal(call('in_array', 'a', ['b', null]), null);
  assert.equal(call('in_array', null, []), false);
  assert.equal(call('in_array', 'a', null), false);
  assert.equal(call('in_array', 'a', jsonNested(['a'])), true);
});

test('AND and OR are decided by one side, else NULL spreads', () => {
  const values: readonly SqlValue[] = [false, true, null];
  const table = (name: string) =>
    values.flatMap((left) => values.map((right) => call(name, left, right)));
  assert.deepEqual(table('and'), [false, false, false, false, true, null, false, null, null]);
  assert.deepEqual(table('or'), [false, true, null, true, true, true, null, true, null]);
});

test('comparisons of NULL are NULL, and tests of NULL are not', () => {
  assert.equal(call('=', null, 1), null);
  assert.equal(call('!=', 'a', 'b'), true);
  assert.equal(call('<', '\uff5e', '😀'), true);
  assert.equal(call('is_null', null), true);
  assert.equal(call('is_true', null), false);
  assert.equal(call('is_false', false), true);
  assert.equal(call('nullif', 1, 1), null);
  assert.equal(call('nullif', 1, null), 1);
  assert.equal(call('greatest', 1, null, 2), null);
  assert.equal(call('greatest', 1, 2n ** 60n, 2), 2n ** 60n);
  assert.ok(Number.isNaN(call('least', 1, Number.NaN)));
});

test('text is measured in code points', () => {
  assert.equal(call('length', 'a😀é'), 3);
  assert.equal(call('byte_length', 'a😀é'), 7);
  assert.equal(call('strpos', '😀😀b', 'b'), 3);
  assert.equal(call('strpos', 'abc', 'x'), 0);
  assert.equal(call('strpos', 'abc', ''), 1);
  assert.equal(call('substr', 'a😀bc', 2, 2), '😀b');
  assert.equal(call('substr', 'abc', -2), 'bc');
  assert.equal(call('substr', 'abc', 0, 1), 'a');
  assert.throws(() => call('substr', 'abc', 1, -1), /length of at least 0; got -1/);
});

test('text functions do what they are called', () => {
  assert.equal(call('||', 'a', 'b'), 'ab');
  assert.equal(call('concat', 'a', 'b', 'c'), 'abc');
  assert.equal(call('concat', 'a', null), null);
  assert.equal(call('lower', 'ÀB'), 'àb');
  assert.equal(call('upper', 'straße'), 'STRASSE');
  assert.equal(call('starts_with', '/rest/v1', '/rest'), true);
  assert.equal(call('ends_with', '/rest/v1', 'v2'), false);
  assert.equal(call('replace', 'a.b.c', '.', '$&'), 'a$&b$&c');
  assert.equal(call('replace', 'abc', '', 'x'), 'abc');
  assert.equal(call('trim', '  a '), 'a');
  assert.equal(call('trim', '\u0085\u2003a\u3000\n'), 'a');
  assert.equal(call('trim', '\ufeffa\u200b'), '\ufeffa\u200b');
  assert.equal(call('ltrim', 'xyxa', 'xy'), 'a');
  assert.equal(call('rtrim', 'axx', 'x'), 'a');
  assert.equal(call('trim', 'xx', 'x'), '');
  assert.equal(call('regexp_contains', 'GET /rest', 'GET|POST'), true);
  assert.equal(call('regexp_extract', '/v1/users', '/v(\\d+)/'), '1');
  assert.equal(call('regexp_extract', '/v1/users', '[a-z]{5}'), 'users');
  assert.equal(call('regexp_extract', 'a', 'b'), null);
  assert.throws(() => call('regexp_extract', 'a', '(a)(b)'), /at most one group; got 2/);
});

test('elements are counted from 0 or 1, and a record is a list of itself', () => {
  const list = ['a', 'b'];
  assert.equal(call('array_offset', list, 1), 'b');
  assert.equal(call('array_ordinal', list, 1), 'a');
  assert.equal(call('array_safe_offset', list, 2), null);
  assert.equal(call('array_safe_ordinal', list, 0), null);
  assert.throws(() => call('array_offset', list, 2), /out of bounds: OFFSET\(2\) of an array of 2/);
  assert.throws(() => call('array_offset', list, -1), { code: 'query_failed' });
  assert.throws(() => call('array_ordinal', list, 3), /ORDINAL\(3\)/);
  const record = jsonNested({ path: '/' });
  assert.equal(call('array_offset', record, 0), record);
  assert.equal(call('array_offset', 'text', 0), null);
  assert.equal(call('array_length', list), 2);
  assert.equal(call('array_length', jsonNested([])), 0);
  assert.equal(call('array_length', record), 1);
  assert.equal(call('array_length', 7), null);
  const { result } = overloadOf('array_offset');
  assert.ok(typeof result === 'function');
  assert.equal(result([arrayOf(STRING), INT64]), STRING);
  assert.deepEqual(result([DYNAMIC, INT64]), elementTypeOf(DYNAMIC));
});

test('JSON text is read by path, integers digit for digit', () => {
  const json =
    ' { "a" : { "b c": [1, 9007199254740993, "x\\n"], "n": null } , "t":true, "a\\u0062": 1.50 } ';
  const table: readonly [string, SqlValue, SqlValue][] = [
    ['$.a."b c"[1]', '9007199254740993', '9007199254740993'],
    ['$.a."b c"[2]', 'x\n', '"x\\n"'],
    ["$['a'].n", null, null],
    ['$.a', null, '{"b c":[1,9007199254740993,"x\\n"],"n":null}'],
    ['$.a."b c"[3]', null, null],
    ['$.t', 'true', 'true'],
    ['$.t.x', null, null],
    ['$.ab', '1.50', '1.50'],
    ['$.z', null, null],
  ];
  for (const [path, scalar, text] of table) {
    assert.equal(call('json_value', json, path), scalar, path);
    assert.equal(call('json_query', json, path), text, path);
  }
  assert.equal(call('json_value', 'not JSON', '$.a'), null);
  assert.equal(call('json_value', '"s"'), 's');
  assert.equal(call('json_value', '[]', '$[0]'), null);
  assert.throws(
    () => call('json_value', '{}', 'a.b'),
    /JSON path must be written like .* got "a.b"/,
  );
  assert.throws(() => call('json_value', '{}', '$.a['), /JSON path/);
});

test('the prefix SAFE makes NULL of an error', () => {
  assert.equal(call('safe.div', 1, 0), null);
  assert.equal(call('SAFE.timestamp', 'soon'), null);
  assert.equal(findScalarFunction('safe.+'), undefined);
});
