import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GroupTable, selectedKeys } from '../../engine/aggregate/group-table.ts';
import { KnownKeys } from '../../engine/aggregate/known-keys.ts';
import { DYNAMIC } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { dictionaryVector, type Vector, valueVector } from '../../engine/column/vector.ts';
import { compareNumbers } from '../../engine/function/comparison.ts';
import { splitColumn } from '../column/split-column.ts';
import { bestVector } from '../operator/harness.ts';
import { runsOf } from '../support/budget.ts';
import { asDictionary } from './rows-of-groups.ts';

/** As GROUP BY has it: 0 and -0 are one, and numbers of one value, whatever their form. */
function isAmong(known: readonly SqlValue[], value: SqlValue): boolean {
  return known.some((each) =>
    isNumber(each) && isNumber(value) ? compareNumbers(each, value) === 0 : each === value,
  );
}

function isNumber(value: SqlValue): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** The values alone, of a table that has met others, too. */
function knownKeys(
  known: readonly SqlValue[],
  form: (values: readonly SqlValue[]) => Vector,
): KnownKeys {
  const table = new GroupTable([DYNAMIC]);
  const met = ['/other/1', 4711, ...known, 'other', null];
  const groups = table.assign([form(met)], met.length).slice(0, met.length);
  const marks = new Uint8Array(table.size);
  for (let index = 0; index < known.length; index++) marks[groups[index + 2]!] = 1;
  return new KnownKeys(selectedKeys(table.keys(), marks).columns[0]!.values);
}

function retained(keys: KnownKeys, vector: Vector, rows: readonly number[]): readonly number[] {
  const places = Int32Array.from(rows);
  return [...places.subarray(0, keys.retain(vector, places, rows.length))];
}

const anyValue = fc.constantFrom<SqlValue>(
  ...[
    null,
    true,
    0,
    -0,
    1,
    0.5,
    Number.NaN,
    2 ** 40,
    2 ** 60,
    2n ** 60n,
    '',
    'a',
    '/7',
    '/7/34359738368',
    '1-2-3-4-5',
  ],
  ...['0d2f9a3c-1b4e-4f5a-8c6d-7e8f90a1b2c3', '0d2f9a3c-1b4e-4f5a-8c6d-7e8f90a1b2c4', 'é'],
);

test('rows of known values stay, in whatever form values are and come', () => {
  const forms = [valueVector, bestVector, asDictionary];
  const anyForm = fc.constantFrom(...forms);
  const anyValues = fc.array(anyValue, { maxLength: 20 });
  fc.assert(
    fc.property(anyValues, anyForm, anyValues, anyForm, (known, knownForm, values, form) => {
      const keys = knownKeys(known, knownForm);
      const rows = [...values.keys()].filter((row) => row % 3 !== 1);
      const kept = retained(keys, form(values), rows);
      assert.ok(kept.every((row) => rows.includes(row)));
      for (const row of rows) if (isAmong(known, values[row]!)) assert.ok(kept.includes(row));
    }),
    { numRuns: runsOf(500) },
  );
});

test('rows of other numbers and strings go', () => {
  const keys = knownKeys([5, '/7', 'a'], valueVector);
  const numbers = bestVector([4, 5, null, 6, Number.NaN]);
  assert.deepEqual(retained(keys, numbers, [0, 1, 2, 3, 4]), [1]);
  const strings = bestVector(['b', 'a', null, '/8', '/7', 'b']);
  assert.deepEqual(retained(keys, strings, [0, 1, 2, 3, 4, 5]), [1, 4]);
});

const anyPath = fc.oneof(
  fc
    .tuple(fc.constantFrom('a', 'b'), fc.nat(200))
    .map(([name, id]) => `/o/${name}/${id % 5}/${id}`),
  fc.nat(70_000).map((id) => `/${id}/3/x.png`),
  fc.uuid().map((id) => `/u/${id}`),
  fc.constantFrom('/health', '/o/1.png', '/007', '/n/34359738368', '/n/1/2/3/4/5/6'),
);

test('of strings taken apart those that are known stay alone', () => {
  let keptCount = 0;
  let goneCount = 0;
  fc.assert(
    fc.property(
      fc.array(anyPath, { minLength: 300, maxLength: 500 }),
      fc.array(fc.nat(299), { maxLength: 12 }),
      fc.constantFrom('', 'https://1.example'),
      (paths, chosen, head) => {
        const records = paths.map((path) => ({ url: `${head}${path}`, path }));
        for (const { split, values } of splitColumn(records)) {
          const known = [...chosen.map((index) => values[index % values.length]!), '/nowhere/5'];
          const codes = Int32Array.from({ length: values.length + 1 }, (_, row) => row - 1);
          const value = (code: number): SqlValue => values[code]!;
          const dictionary = { size: values.length, isDistinct: false, value, split };
          const vector = dictionaryVector(codes, codes.length, dictionary);
          const rows = [...codes.keys()].filter((row) => row % 7 !== 3);
          const kept = retained(knownKeys(known, valueVector), vector, rows);
          const expected = rows.filter((row) => row > 0 && known.includes(values[row - 1]!));
          assert.deepEqual(kept, expected);
          keptCount += kept.length;
          goneCount += rows.length - kept.length;
        }
      },
    ),
    { numRuns: 10 },
  );
  assert.ok(keptCount > 0 && goneCount > 0);
});
