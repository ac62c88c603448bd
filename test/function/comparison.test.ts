import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  arrayOf,
  BOOL,
  DYNAMIC,
  FLOAT64,
  INT64,
  STRING,
  TIMESTAMP,
} from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import {
  compareText,
  compareValues,
  equalValues,
  isLess,
} from '../../engine/function/comparison.ts';
import { dynamicKey, readAs } from '../../engine/function/dynamic.ts';
import { canonicalInteger } from '../../engine/function/number/int64.ts';
import { anyCodePoint } from '../support/code-point.ts';
import { jsonNested } from './nested.ts';

const value: fc.Arbitrary<SqlValue> = fc.letrec<{ value: SqlValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom<SqlValue>(
      null,
      true,
      false,
      0,
      -0,
      Number.NaN,
      2 ** 53,
      2n ** 53n,
      1e300,
      's',
      '',
    ),
    fc.double(),
    fc.integer(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(canonicalInteger),
    fc.string({ unit: anyCodePoint, maxLength: 3 }),
    fc.constantFrom<SqlValue>(jsonNested({ a: 1 }), jsonNested([1, 'x']), jsonNested({ a: 2 })),
    fc.array(tie('value'), { maxLength: 2 }),
  ),
})).value;

test('compareValues is a total order over all kinds of values', () => {
  fc.assert(
    fc.property(value, value, value, (a, b, c) => {
      assert.equal(compareValues(a, a), 0);
      assert.equal(Math.sign(compareValues(a, b)), -Math.sign(compareValues(b, a)) + 0);
      if (compareValues(a, b) <= 0 && compareValues(b, c) <= 0) assert.ok(compareValues(a, c) <= 0);
    }),
    { numRuns: 3000 },
  );
});

test('two values share a key exactly when they compare as equal', () => {
  fc.assert(
    fc.property(value, value, (a, b) => {
      assert.equal(dynamicKey(a) === dynamicKey(b), compareValues(a, b) === 0);
    }),
    { numRuns: 3000 },
  );
  assert.equal(dynamicKey(2 ** 53), dynamicKey(2n ** 53n));
  assert.notEqual(dynamicKey('1'), dynamicKey(1));
  assert.equal(dynamicKey(-0), dynamicKey(0));
});

test('strings compare as their UTF-8 bytes do, not as UTF-16 units', () => {
  assert.ok(compareText('\uff5e', '😀') < 0);
  assert.ok('\uff5e' > '😀');
  assert.ok(compareText('a', 'ab') < 0);
  assert.ok(compareText('\ud83d', '😀') < 0);
  fc.assert(
    fc.property(fc.string({ unit: anyCodePoint }), fc.string({ unit: anyCodePoint }), (a, b) => {
      assert.equal(Math.sign(compareText(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

test('lone surrogates compare by code point, below all pairs', () => {
  const units = fc.array(fc.constantFrom('\ud83d', '\ude00', '\ue000', 'a'), { maxLength: 4 });
  fc.assert(
    fc.property(units, units, (left, right) => {
      const [a, b] = [left.join(''), right.join('')];
      const points = (text: string) => Array.from(text, (each) => each.codePointAt(0) as number);
      assert.equal(Math.sign(compareText(a, b)), Math.sign(compareLists(points(a), points(b))));
    }),
    { numRuns: 2000 },
  );
});

function compareLists(left: readonly number[], right: readonly number[]): number {
  const index = left.findIndex((point, at) => point !== right[at]);
  if (index < 0) return left.length - right.length;
  return index < right.length ? (left[index] as number) - (right[index] as number) : 1;
}

test('kinds stand in the order NULL, booleans, numbers, strings, lists, records', () => {
  const ascending: readonly SqlValue[] = [
    null,
    false,
    true,
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    -(2n ** 60n),
    1,
    1.5,
    2 ** 53,
    2n ** 53n + 1n,
    '',
    'a',
    [1],
    [1, null],
    jsonNested([1]),
  ];
  for (let index = 1; index < ascending.length; index++) {
    const [before, after] = [ascending[index - 1] as SqlValue, ascending[index] as SqlValue];
    assert.ok(compareValues(before, after) < 0, `${String(before)} < ${String(after)}`);
  }
});

test('NaN equals nothing and is less than nothing, though it sorts first', () => {
  assert.equal(equalValues(Number.NaN, Number.NaN), false);
  assert.equal(equalValues(Number.NaN, 2n ** 60n), false);
  assert.equal(equalValues(2n ** 60n, Number.NaN), false);
  assert.equal(isLess(Number.NaN, 1), false);
  assert.equal(isLess(Number.NaN, 2n ** 60n), false);
});

test('integers beyond doubles compare exactly with doubles', () => {
  assert.equal(equalValues(2 ** 53, 2n ** 53n), true);
  assert.equal(equalValues(2 ** 53, 2n ** 53n + 1n), false);
  assert.equal(isLess(2 ** 53, 2n ** 53n + 1n), true);
});

test('records with a NULL inside may be neither equal nor different', () => {
  assert.equal(equalValues([1, null], [1, 2]), null);
  assert.equal(equalValues([1, null], [2, null]), false);
  assert.equal(equalValues([1, 'a'], [1, 'a']), true);
});

test('a DYNAMIC value of another kind than wanted is NULL', () => {
  assert.equal(readAs('200', INT64), null);
  assert.equal(readAs('true', BOOL), null);
  assert.equal(readAs(1.5, INT64), null);
  assert.equal(readAs(1e3, INT64), 1000);
  assert.equal(readAs(1e18, INT64), 10n ** 18n);
  assert.equal(readAs(2 ** 63, INT64), null);
  assert.equal(readAs(2n ** 63n, INT64), null);
  assert.equal(readAs(2n ** 63n, FLOAT64), 2 ** 63);
  assert.equal(readAs(2n ** 63n, DYNAMIC), 2n ** 63n);
  assert.ok(Object.is(readAs(-0, INT64), 0));
  assert.equal(readAs('1970-01-01T00:00:01Z', TIMESTAMP), 1_000_000);
  assert.equal(readAs('yesterday', TIMESTAMP), null);
  assert.equal(readAs(5, TIMESTAMP), null);
  assert.deepEqual(readAs(jsonNested([1, 'a', 2]), arrayOf(INT64)), [1, null, 2]);
  assert.equal(readAs('a', arrayOf(STRING)), null);
});
