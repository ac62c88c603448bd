import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SqlValue } from '../../engine/column/value.ts';
import {
  booleanVector,
  constantVector,
  dictionaryVector,
  numberVector,
  type Vector,
  valueAt,
} from '../../engine/column/vector.ts';
import type { ScalarOverload } from '../../engine/function/scalar-function.ts';
import { BlockDictionary } from '../operator/harness.ts';
import { callOverload, overloadOf } from './call.ts';

const COUNT = 5;

const integers = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.maxSafeInteger(),
  fc.constantFrom(2 ** 53 - 1, -(2 ** 53) + 1, 2 ** 27, 1_768_478_142_123_456),
);
const floats = fc.oneof(
  fc.double(),
  fc.constantFrom(0, -0, 1, Number.NaN, 1e308, -1e308, Number.POSITIVE_INFINITY, 0.1),
);

/** A column with or without NULLs; under a NULL lies anything, as in a segment. */
function numbers(element: fc.Arbitrary<number>): fc.Arbitrary<Vector> {
  const entries = fc.array(element, { minLength: COUNT, maxLength: COUNT + 2 });
  const flags = fc.array(fc.constantFrom(0, 1), { minLength: COUNT, maxLength: COUNT });
  const underNull = fc.constantFrom(0, Number.NaN, Number.POSITIVE_INFINITY);
  return fc.tuple(entries, fc.option(flags), underNull).map(([values, nulls, under]) => {
    const filled = values.map((value, index) => (nulls?.[index] === 1 ? under : value));
    return numberVector(
      Float64Array.from(filled),
      COUNT,
      nulls === null ? undefined : Uint8Array.from(nulls),
    );
  });
}

const constants = (element: fc.Arbitrary<SqlValue>): fc.Arbitrary<Vector> =>
  fc.oneof(element, fc.constant(null)).map((value) => constantVector(value, COUNT));

const truths: fc.Arbitrary<Vector> = fc
  .array(fc.constantFrom(0, 1, 2), { minLength: COUNT, maxLength: COUNT })
  .map((values) => booleanVector(Uint8Array.from(values), COUNT));

const words = new BlockDictionary(['a', 'b']);
const codes: fc.Arbitrary<Vector> = fc
  .array(fc.constantFrom(-1, 0, 1), { minLength: COUNT, maxLength: COUNT })
  .map((values) => dictionaryVector(Int32Array.from(values), COUNT, words));

/** Runs both forms; the kernel may decline, and must where `evaluate` throws for a row. */
function expectAgreement(overload: ScalarOverload, vectors: readonly Vector[]): boolean {
  const computed = overload.kernel?.(vectors, COUNT);
  if (computed === undefined) return false;
  assert.equal(computed.count, COUNT);
  for (let row = 0; row < COUNT; row++) {
    const values = vectors.map((vector) => valueAt(vector, row));
    const wanted = callOverload(overload, values);
    const got = valueAt(computed, row);
    assert.ok(
      Object.is(got, wanted),
      `row ${row}: ${values.map(String)} gave ${got}, not ${wanted}`,
    );
  }
  return true;
}

function checkBinary(overload: ScalarOverload, element: fc.Arbitrary<number>): void {
  const column = numbers(element);
  const operands = fc.oneof(
    fc.tuple(column, column),
    fc.tuple(column, constants(element)),
    fc.tuple(constants(element), column),
  );
  let agreed = 0;
  fc.assert(
    fc.property(operands, (vectors) => {
      if (expectAgreement(overload, vectors)) agreed++;
    }),
    { numRuns: 1500 },
  );
  assert.ok(agreed > 100, `the kernel took ${agreed} of 1500 calls`);
}

test('arithmetic of columns of integers agrees with that of rows', () => {
  for (const sign of ['+', '-', '*']) checkBinary(overloadOf(sign, 'INT64,INT64'), integers);
});

test('arithmetic of columns of floats agrees with that of rows', () => {
  for (const sign of ['+', '-', '*']) checkBinary(overloadOf(sign, 'FLOAT64,FLOAT64'), floats);
  for (const name of ['/', 'safe_divide']) {
    checkBinary(overloadOf(name), floats);
    checkBinary(overloadOf(name), integers);
  }
});

test('comparisons of columns agree with those of rows', () => {
  for (const sign of ['=', '!=', '<', '<=', '>', '>=']) {
    checkBinary(overloadOf(sign), integers);
    checkBinary(overloadOf(sign), floats);
  }
});

test('truncation of a column agrees with that of rows', () => {
  const parts = fc.constantFrom('SECOND', 'MINUTE', 'HOUR', 'DAY', 'MILLISECOND', 'MICROSECOND');
  // Around starts of days, where a rounded quotient would be one too many.
  const starts = fc
    .tuple(fc.integer({ min: -104_248, max: 104_248 }), fc.constantFrom(-1, 0, 1))
    .map(([day, shift]) => day * 86_400_000_000 + shift);
  const zones = fc.constantFrom<readonly string[]>([], ['UTC'], ['+01:00']);
  let agreed = 0;
  fc.assert(
    fc.property(numbers(fc.oneof(starts, integers)), parts, zones, (times, part, zone) => {
      const others = [part, ...zone].map((value) => constantVector(value, COUNT));
      const took = expectAgreement(overloadOf('timestamp_trunc'), [times, ...others]);
      assert.ok(!took || zone[0] !== '+01:00');
      if (took) agreed++;
    }),
    { numRuns: 3000 },
  );
  assert.ok(agreed > 500);
});

test('truths of columns agree with those of rows', () => {
  fc.assert(
    fc.property(truths, truths, truths, (a, b, c) => {
      for (const name of ['and', 'or']) {
        assert.ok(expectAgreement(overloadOf(name), [a, b, c]));
        assert.ok(expectAgreement(overloadOf(name), [a]));
      }
      for (const name of ['not', 'is_true', 'is_false', 'is_null']) {
        assert.ok(expectAgreement(overloadOf(name), [a]));
      }
    }),
  );
});

test('IS NULL of columns of every form agrees with that of rows', () => {
  fc.assert(
    fc.property(fc.oneof(numbers(floats), codes, truths, constants(fc.constant('a'))), (vector) => {
      assert.ok(expectAgreement(overloadOf('is_null'), [vector]));
    }),
  );
});

test('a division leaves a column with a zero to the rows, unless the zero lies under a NULL', () => {
  const kernel = overloadOf('/').kernel!;
  const ones = numberVector(Float64Array.of(1, 1), 2);
  assert.equal(kernel([ones, numberVector(Float64Array.of(1, 0), 2)], 2), undefined);
  const hidden = numberVector(Float64Array.of(1, 0), 2, Uint8Array.of(0, 1));
  assert.equal(valueAt(kernel([ones, hidden], 2)!, 1), null);
});
