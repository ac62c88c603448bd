import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ScalarKind, SqlType } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { canCast, castValue } from '../../engine/function/cast.ts';
import { formatFloat64 } from '../../engine/function/number/float64.ts';
import { canonicalInteger, INT64_MAX, INT64_MIN } from '../../engine/function/number/int64.ts';
import { parseTimestamp } from '../../engine/function/time/timestamp-text.ts';
import { jsonNested } from './nested.ts';

const KINDS: readonly ScalarKind[] = [
  'BOOL',
  'INT64',
  'FLOAT64',
  'STRING',
  'TIMESTAMP',
  'DATETIME',
];

function cast(value: SqlValue, from: SqlType['kind'], to: SqlType['kind']): SqlValue {
  return castValue(value, { kind: from } as SqlType, { kind: to } as SqlType, false);
}

function safeCast(value: SqlValue, from: SqlType['kind'], to: SqlType['kind']): SqlValue {
  return castValue(value, { kind: from } as SqlType, { kind: to } as SqlType, true);
}

test('CAST knows the pairs of GoogleSQL and no others', () => {
  const table: Readonly<Record<string, string>> = {
    BOOL: 'BOOL INT64 STRING',
    INT64: 'BOOL INT64 FLOAT64 STRING',
    FLOAT64: 'INT64 FLOAT64 STRING',
    STRING: 'BOOL INT64 FLOAT64 STRING TIMESTAMP DATETIME',
    TIMESTAMP: 'STRING TIMESTAMP DATETIME',
    DATETIME: 'STRING TIMESTAMP DATETIME',
    DYNAMIC: 'BOOL INT64 FLOAT64 STRING TIMESTAMP DATETIME',
    NULL: 'BOOL INT64 FLOAT64 STRING TIMESTAMP DATETIME',
  };
  for (const [from, wanted] of Object.entries(table)) {
    const known = KINDS.filter((kind) => canCast({ kind: from } as SqlType, { kind }));
    assert.equal(known.join(' '), wanted, from);
  }
});

test('FLOAT64 becomes INT64 by rounding half away from zero', () => {
  const table: readonly [number, SqlValue][] = [
    [2.5, 3],
    [-2.5, -3],
    [0.49999999999999994, 0],
    [-0.4, 0],
    [9e15, 9e15],
    [2 ** 53, 2n ** 53n],
    [-(2 ** 63), INT64_MIN],
  ];
  for (const [value, wanted] of table)
    assert.ok(Object.is(cast(value, 'FLOAT64', 'INT64'), wanted));
  for (const value of [2 ** 63, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => cast(value, 'FLOAT64', 'INT64'), /cannot cast FLOAT64 .* to INT64/);
    assert.equal(safeCast(value, 'FLOAT64', 'INT64'), null);
  }
});

test('text becomes INT64 when it is decimal or hexadecimal and fits', () => {
  const table: readonly [string, SqlValue][] = [
    ['12', 12],
    [' -12\n', -12],
    ['+0x1F', 31],
    ['-0xff', -255],
    ['00000000000000000000000007', 7],
    ['9223372036854775807', INT64_MAX],
    ['-9223372036854775808', INT64_MIN],
    ['9007199254740993', 9007199254740993n],
  ];
  for (const [text, wanted] of table) assert.equal(cast(text, 'STRING', 'INT64'), wanted, text);
  for (const text of [
    '',
    'a',
    '1.0',
    '1e3',
    '0x',
    '--1',
    '1 2',
    '9223372036854775808',
    '9'.repeat(5000),
  ]) {
    assert.throws(() => cast(text, 'STRING', 'INT64'), { code: 'query_failed' }, text);
  }
});

test('text becomes FLOAT64 when it is a decimal, a hexadecimal, inf or nan', () => {
  const table: readonly [string, number][] = [
    ['1', 1],
    ['-1.5e3', -1500],
    ['.5', 0.5],
    ['5.', 5],
    ['0x10', 16],
    ['-0X1f', -31],
    ['0x1.8p1', 3],
    ['0x.8', 0.5],
    ['0x20000000000001', 2 ** 53],
    ['1e999', Number.POSITIVE_INFINITY],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    ['+inf', Number.POSITIVE_INFINITY],
    ['NaN', Number.NaN],
  ];
  for (const [text, wanted] of table)
    assert.ok(Object.is(cast(text, 'STRING', 'FLOAT64'), wanted), text);
  for (const text of ['', '.', 'e5', '0x', '0x.p1', '0x1p', '1_000', 'infin']) {
    assert.equal(safeCast(text, 'STRING', 'FLOAT64'), null, text);
  }
});

test('FLOAT64 prints with 15 digits, or 17 where those do not read back', () => {
  const table: readonly [number, string][] = [
    [1, '1'],
    [-0, '0'],
    [0.1, '0.1'],
    [0.1 + 0.2, '0.30000000000000004'],
    [1e14, '100000000000000'],
    [1e15, '1e+15'],
    [1e20, '1e+20'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-1.5e-300, '-1.5e-300'],
    [Number.NaN, 'nan'],
    [Number.NEGATIVE_INFINITY, '-inf'],
  ];
  for (const [value, text] of table) assert.equal(cast(value, 'FLOAT64', 'STRING'), text);
});

test('values survive being cast to STRING and back', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true }), (value) => {
      assert.equal(cast(formatFloat64(value), 'STRING', 'FLOAT64'), value + 0);
    }),
  );
  fc.assert(
    fc.property(fc.bigInt({ min: INT64_MIN, max: INT64_MAX }), (exact) => {
      const value = canonicalInteger(exact);
      assert.equal(cast(cast(value, 'INT64', 'STRING'), 'STRING', 'INT64'), value);
    }),
  );
  for (const value of [true, false]) {
    assert.equal(cast(cast(value, 'BOOL', 'STRING'), 'STRING', 'BOOL'), value);
    assert.equal(cast(cast(value, 'BOOL', 'INT64'), 'INT64', 'BOOL'), value);
  }
});

test('booleans are true and false in any case, and numbers other than 0', () => {
  assert.equal(cast('TRUE', 'STRING', 'BOOL'), true);
  assert.equal(cast(-5, 'INT64', 'BOOL'), true);
  assert.equal(cast(0, 'INT64', 'BOOL'), false);
  assert.throws(() => cast('yes', 'STRING', 'BOOL'), /cannot cast STRING "yes" to BOOL/);
});

test('times become text and text times', () => {
  const us = parseTimestamp('2026-01-15 11:55:00.123');
  assert.equal(cast(us, 'TIMESTAMP', 'STRING'), '2026-01-15 11:55:00.123+00');
  assert.equal(cast(us, 'DATETIME', 'STRING'), '2026-01-15 11:55:00.123');
  assert.equal(cast(us, 'TIMESTAMP', 'DATETIME'), us);
  assert.equal(cast('2026-01-15T11:55:00.123Z', 'STRING', 'TIMESTAMP'), us);
  assert.equal(safeCast('soon', 'STRING', 'TIMESTAMP'), null);
});

test('a DYNAMIC value is cast by its own kind', () => {
  const table: readonly [SqlValue, ScalarKind, SqlValue][] = [
    [200, 'STRING', '200'],
    [1.5, 'STRING', '1.5'],
    [2n ** 70n, 'STRING', '1180591620717411303424'],
    [true, 'STRING', 'true'],
    ['200', 'INT64', 200],
    [1.5, 'INT64', 2],
    [true, 'INT64', 1],
    [2n ** 53n, 'FLOAT64', 2 ** 53],
    ['2026-01-15', 'TIMESTAMP', parseTimestamp('2026-01-15')],
    [jsonNested({ a: [1] }), 'STRING', '[{"a":[1]}]'],
    [jsonNested([{ a: [1] }]), 'STRING', '[{"a":[1]}]'],
  ];
  for (const [value, to, wanted] of table) assert.equal(cast(value, 'DYNAMIC', to), wanted);
  const wrong: readonly [SqlValue, ScalarKind][] = [
    [true, 'FLOAT64'],
    [1.5, 'BOOL'],
    [5, 'TIMESTAMP'],
    [2n ** 70n, 'INT64'],
    [jsonNested({ a: 1 }), 'INT64'],
    [jsonNested([1]), 'BOOL'],
  ];
  for (const [value, to] of wrong) {
    assert.throws(() => cast(value, 'DYNAMIC', to), {
      code: 'query_failed',
      message: /^cannot cast/,
    });
    assert.equal(safeCast(value, 'DYNAMIC', to), null);
  }
});

test('a list is cast element by element, and NULL to NULL', () => {
  const from: SqlType = { kind: 'ARRAY', element: { kind: 'STRING' } };
  const to: SqlType = { kind: 'ARRAY', element: { kind: 'INT64' } };
  assert.deepEqual(castValue(['1', null], from, to, false), [1, null]);
  assert.equal(cast(null, 'STRING', 'INT64'), null);
});
