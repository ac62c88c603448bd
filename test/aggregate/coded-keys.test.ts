import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GroupTable } from '../../engine/aggregate/group-table.ts';
import { CodedNumbers, IntegerCoding, PackedNumbers } from '../../engine/column/number-vectors.ts';
import { StringRange } from '../../engine/column/string-values.ts';
import { DYNAMIC } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { constantVector, type Vector, valueAt, valueVector } from '../../engine/column/vector.ts';
import { valueDictionary } from '../operator/harness.ts';

const CODES_MAX = 4;
const STARTS_MAX = 3;

const anyWidth = fc.constantFrom(Uint8Array, Uint16Array, Uint32Array);
/** More codes than are read: a range seldom begins where its column does. */
const anyCodes = (count: number) =>
  fc.array(fc.nat(CODES_MAX), { minLength: count + STARTS_MAX, maxLength: count + STARTS_MAX });

function anyKey(count: number): fc.Arbitrary<Vector> {
  const lying = fc.record({ codes: anyCodes(count), Width: anyWidth, start: fc.nat(STARTS_MAX) });
  const packed = fc
    .tuple(lying, fc.integer({ min: -2, max: 2 }), fc.constantFrom(1, 1000))
    .map(([{ codes, Width, start }, base, step]) => {
      const range = { start, count, isAscending: false };
      return new PackedNumbers(
        Width.from(codes),
        range,
        IntegerCoding.inSteps(base, step, CODES_MAX),
      );
    });
  const perCode = { minLength: CODES_MAX + 1, maxLength: CODES_MAX + 1 };
  const computed = fc
    .tuple(packed, fc.array(fc.constantFrom(0, -0, 1, 2.5, Number.NaN), perCode))
    .map(([numbers, results]) => new CodedNumbers(numbers, Float64Array.from(results)));
  const strings = fc
    .tuple(lying, fc.array(fc.constantFrom('', 'a', 'b', '1'), perCode))
    .map(([{ codes, Width, start }, values]): Vector => {
      const column = {
        entries: valueDictionary(values),
        hasEntryEach: false,
        codes: Width.from(codes),
        codesOf: (from: number, to: number) => Int32Array.from(codes.slice(from, from + to)),
      };
      return new StringRange(() => column, start, count);
    });
  const constant = fc
    .constantFrom<SqlValue>(null, 1, 'a', true)
    .map((value) => constantVector(value, count));
  return fc.oneof(packed, computed, strings, constant);
}

const anyChunk = (keyCount: number) =>
  fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 300, max: 900 })).chain((count) =>
    fc.record({
      count: fc.constant(count),
      keys: fc.tuple(...Array(keyCount).fill(anyKey(count))),
    }),
  );

test('keys by their codes are in the groups that their values are in, one by one', () => {
  const anyChunks = fc
    .integer({ min: 1, max: 3 })
    .chain((keyCount) => fc.array(anyChunk(keyCount), { minLength: 1, maxLength: 3 }));
  fc.assert(
    fc.property(anyChunks, (chunks) => {
      const types = chunks[0]!.keys.map(() => DYNAMIC);
      const table = new GroupTable(types);
      const plain = new GroupTable(types);
      for (const { count, keys } of chunks) {
        const groups = table.assign(keys as Vector[], count).slice(0, count);
        for (let row = 0; row < count; row++) {
          const values = (keys as Vector[]).map((key) => valueVector([valueAt(key, row)]));
          assert.equal(groups[row], plain.assign(values, 1)[0]);
        }
      }
      assert.equal(table.size, plain.size);
    }),
    { numRuns: 60 },
  );
});
