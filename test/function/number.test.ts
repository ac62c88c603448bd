import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SqlValue } from '../../engine/column/value.ts';
import { canonicalInteger } from '../../engine/function/number/int64.ts';
import { call, callAs } from './call.ts';

const int64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(canonicalInteger);
const pair = 'INT64,INT64';

test('cotangent and its kin are the reciprocals of the functions they are called after', () => {
  const table: readonly [string, (value: number) => number][] = [
    ['cot', Math.tan],
    ['csc', Math.sin],
    ['sec', Math.cos],
    ['coth', Math.tanh],
    ['csch', Math.sinh],
    ['sech', Math.cosh],
  ];
  for (const [name, of] of table) assert.equal(call(name, 0.5), 1 / of(0.5), name);
  for (const name of ['cot', 'csc', 'coth', 'csch']) {
    assert.throws(() => call(name, 0), /takes a number other than 0; got 0/);
  }
  assert.equal(call('sech', 1000), 0);
});

test('bits obey the laws of sets', () => {
  fc.assert(
    fc.property(int64, int64, (left, right) => {
      const both = callAs('&', pair, left, right);
      const either = callAs('|', pair, left, right);
      const difference = callAs('^', pair, left, right);
      assert.equal(callAs('&', pair, either, callAs('~', 'INT64', both)), difference);
      assert.equal(callAs('~', 'INT64', callAs('~', 'INT64', left)), left);
      const countOf = (value: SqlValue) => callAs('bit_count', 'INT64', value) as number;
      assert.equal(countOf(both) + countOf(either), countOf(left) + countOf(right));
    }),
  );
});

test('bytes are shifted as one long number', () => {
  const bytes = fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  });
  const numberOf = (value: string) => BigInt(`0x0${Buffer.from(value, 'latin1').toString('hex')}`);
  fc.assert(
    fc.property(bytes, fc.nat(40), (value, count) => {
      const shift = BigInt(count);
      const size = BigInt(value.length * 8);
      const left = callAs('<<', 'BYTES,INT64', value, count) as string;
      const right = callAs('>>', 'BYTES,INT64', value, count) as string;
      assert.equal(numberOf(left), BigInt.asUintN(Number(size), numberOf(value) << shift));
      assert.equal(numberOf(right), numberOf(value) >> shift);
      assert.equal(left.length, value.length);
    }),
  );
});

test('a generated array is bounded, and told of before it is made', () => {
  assert.throws(() => callAs('generate_array', 'INT64', 1, 2n ** 62n), {
    code: 'query_limit',
    message: /at most 1048575 elements; got 4611686018427387904/,
  });
  assert.throws(() => callAs('generate_array', 'FLOAT64', 0, 1, 1e-300), { code: 'query_limit' });
  assert.throws(() => callAs('generate_array', 'FLOAT64', 0, Number.POSITIVE_INFINITY), /finite/);
  fc.assert(
    fc.property(
      fc.integer({ min: -50, max: 50 }),
      fc.integer({ min: -50, max: 50 }),
      fc.integer({ min: -9, max: 9 }),
      (start, end, step) => {
        fc.pre(step !== 0);
        const wanted: number[] = [];
        for (let at = start; step > 0 ? at <= end : at >= end; at += step) wanted.push(at);
        assert.deepEqual(callAs('generate_array', 'INT64', start, end, step), wanted);
      },
    ),
  );
});
