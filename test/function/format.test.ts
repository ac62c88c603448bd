import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SqlValue } from '../../engine/column/value.ts';
import { call } from './call.ts';
import { jsonNested } from './nested.ts';

const format = (...values: readonly SqlValue[]) => call('format', ...values);

test('a value of an event is written by its kind', () => {
  const record = jsonNested({ a: { b: 1 } });
  assert.equal(format('%s %d %.1f %t', 'a', 5, 5, true), 'a 5 5.0 true');
  assert.equal(format('%d', 2n ** 60n), '1152921504606846976');
  assert.equal(format('%p', record), '[{"a":{"b":1}}]');
  assert.equal(format('%P', record), '[\n  {\n    "a": {\n      "b": 1\n    }\n  }\n]');
  assert.throws(() => format('%d', 'x'), /FORMAT wants INT64 at %d/);
  assert.throws(() => format('%d', 1.5), /FORMAT wants INT64 at %d/);
});

test('digits are those of the double, and of two as near the even one', () => {
  assert.equal(format('%.0f %.0f', 0.5, 1.5), '0 2');
  assert.equal(format('%.2f', 1.005), '1.00');
  assert.equal(format('%.1e', 1.25), '1.2e+00');
  assert.equal(format('%.55f', 0.1), '0.1000000000000000055511151231257827021181583404541015625');
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      assert.equal(Number(format('%.17g', value)), value);
      assert.equal(Number(format('%.16e', value)), value);
    }),
  );
});

test('a pattern makes no text beyond the limit', () => {
  assert.throws(() => format('%2000000d', 1), { code: 'query_limit' });
  assert.throws(() => format('%*d', 2 ** 40, 1), { code: 'query_limit' });
  assert.throws(() => format('%.2000000f', 1), { code: 'query_limit' });
  const long = 'a'.repeat(1_000_000);
  assert.throws(() => format('%s%s', long, long), { code: 'query_limit' });
});

test('a pattern that is none is told from where it goes wrong', () => {
  assert.throws(() => format('a %y b', 1), /and %% for a percent sign; got "%y b"/);
  assert.throws(() => format('%d %d', 1), /no argument for the specifier %d/);
  assert.throws(() => format('%d', 1, 2), /more arguments than/);
});
