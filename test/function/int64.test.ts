import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  absoluteInt64,
  addInt64,
  canonicalInteger,
  divideInt64,
  INT64_MAX,
  INT64_MIN,
  type Int64,
  multiplyInt64,
  negateInt64,
  remainderInt64,
  subtractInt64,
} from '../../engine/function/number/int64.ts';

const SAFE_MAX = 2 ** 53 - 1;

test('an integer is a number up to 2^53 - 1 and a bigint beyond', () => {
  assert.equal(canonicalInteger(2n ** 53n - 1n), SAFE_MAX);
  assert.equal(canonicalInteger(2n ** 53n), 2n ** 53n);
  assert.equal(canonicalInteger(-(2n ** 53n) + 1n), -SAFE_MAX);
  assert.equal(canonicalInteger(-(2n ** 53n)), -(2n ** 53n));
});

test('sums go over to bigint at 2^53 and come back', () => {
  assert.equal(addInt64(SAFE_MAX, 1), 2n ** 53n);
  assert.equal(addInt64(2n ** 53n, -1), SAFE_MAX);
  assert.equal(subtractInt64(-SAFE_MAX, 1), -(2n ** 53n));
  assert.equal(multiplyInt64(2 ** 27, 2 ** 26), 2n ** 53n);
});

test('a result beyond 64 bits is an error that shows the computation', () => {
  assert.equal(addInt64(INT64_MAX - 1n, 1), INT64_MAX);
  assert.throws(() => addInt64(INT64_MAX, 1), {
    code: 'query_failed',
    message: /^integer overflow: 9223372036854775807 \+ 1 /,
  });
  assert.throws(() => subtractInt64(INT64_MIN, 1), /integer overflow/);
  assert.throws(() => multiplyInt64(INT64_MIN, -1), /integer overflow/);
  assert.throws(() => negateInt64(INT64_MIN), /integer overflow/);
  assert.throws(() => absoluteInt64(INT64_MIN), /integer overflow/);
  assert.throws(() => divideInt64(INT64_MIN, -1), /integer overflow/);
});

test('no result is -0', () => {
  for (const zero of [
    multiplyInt64(0, -5),
    negateInt64(0),
    divideInt64(-1, 2),
    remainderInt64(-4, 2),
  ]) {
    assert.ok(Object.is(zero, 0));
  }
});

test('DIV and MOD round toward zero and refuse a divisor of 0', () => {
  assert.equal(divideInt64(-7, 2), -3);
  assert.equal(remainderInt64(-7, 2), -1);
  assert.throws(() => divideInt64(1, 0), /^QueryError: division by zero: DIV\(1, 0\)$/);
  assert.throws(() => remainderInt64(1, 0), /division by zero/);
});

test('arithmetic agrees with that of bigints', () => {
  const edges = [0n, 1n, -1n, 2n ** 53n, 2n ** 53n - 1n, 2n ** 26n + 1n, INT64_MAX, INT64_MIN];
  const integer = fc.oneof(
    fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
    fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }),
    fc.constantFrom(...edges),
  );
  const pairs: readonly [(left: Int64, right: Int64) => Int64, (l: bigint, r: bigint) => bigint][] =
    [
      [addInt64, (left, right) => left + right],
      [subtractInt64, (left, right) => left - right],
      [multiplyInt64, (left, right) => left * right],
      [divideInt64, (left, right) => left / right],
      [remainderInt64, (left, right) => left % right],
    ];
  fc.assert(
    fc.property(integer, integer, fc.constantFrom(...pairs), (left, right, [compute, exact]) => {
      const isDivision = compute === divideInt64 || compute === remainderInt64;
      if (isDivision && right === 0n) return;
      const wanted = exact(left, right);
      const run = () => compute(canonicalInteger(left), canonicalInteger(right));
      if (wanted < INT64_MIN || wanted > INT64_MAX) assert.throws(run, /integer overflow/);
      else assert.ok(Object.is(run(), canonicalInteger(wanted)));
    }),
    { numRuns: 2000 },
  );
});
