import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comesInRuns } from '../../engine/aggregate/chunk-runs.ts';
import { FLOAT64, INT64 } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import type { Row } from './rows-of-groups.ts';
import { asNumbers, feed, maker } from './rows-of-groups.ts';

const ROW_COUNT = 1000;
const GROUP_COUNT = 10;

/** Rows in ten runs of a hundred; a group comes twice, apart from itself. */
function rowsInRuns(valueAt: (row: number) => SqlValue): Row[] {
  return Array.from({ length: ROW_COUNT }, (_, row) => [((row % 500) / 100) | 0, valueAt(row)]);
}

/** The same rows such that no two neighbours are of one group. */
function scattered(rows: readonly Row[]): Row[] {
  return rows.map((_, index) => rows[(index * 101) % ROW_COUNT]!);
}

test('runs are told from scattered rows by a sample', () => {
  const groups = (rows: readonly Row[]): Int32Array => Int32Array.from(rows, ([group]) => group);
  const rows = rowsInRuns(() => 0);
  assert.equal(comesInRuns(groups(rows), ROW_COUNT), true);
  assert.equal(comesInRuns(groups(scattered(rows)), ROW_COUNT), false);
  assert.equal(comesInRuns(groups(rows), 20), false);
});

const COLUMNS: Record<string, (row: number) => SqlValue> = {
  integers: (row) => (row * 7919) % 300,
  'integers with NULLs': (row) => (row % 3 === 0 ? null : (row * 7919) % 300),
  'fractions with NULLs': (row) => (row % 7 === 0 ? null : ((row * 7919) % 300) / 7),
  'integers and one NaN': (row) => (row === 250 ? Number.NaN : row),
  'integers with sums beyond 2^53': (row) => 2 ** 52 + 2 * row,
  'NULLs alone in a group': (row) => (row % 500 < 100 ? null : -row),
  'values beyond histograms': (row) => (row % 5) * 20_000,
};

for (const [title, valueAt] of Object.entries(COLUMNS)) {
  test(`rows in runs and scattered ones give the same answers: ${title}`, () => {
    const rows = rowsInRuns(valueAt);
    const isFloat = rows.some(([, value]) => value !== null && !Number.isInteger(value));
    const type = isFloat ? FLOAT64 : INT64;
    const makers = [
      ...['count', 'sum', 'avg', 'min', 'max'].map((name) => maker(name, type)),
      maker('approx_quantiles', type, [10]),
    ];
    for (const make of makers) {
      const all = [rows, scattered(rows)].map((given) => {
        const state = feed(make(), given, GROUP_COUNT, asNumbers);
        return Array.from({ length: GROUP_COUNT }, (_, group) => state.finalize(group));
      });
      const slow = make();
      for (const row of rows) feed(slow, [row], GROUP_COUNT, asNumbers);
      const expected = all[0]!.map((_, group) => slow.finalize(group));
      assert.deepEqual(all, [expected, expected]);
    }
  });
}
