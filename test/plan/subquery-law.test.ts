import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { arrayOf, INT64 } from '../../engine/column/type.ts';
import { type DataTable, NOW_US, record } from '../conformance/data-tables.ts';
import { WEIR_WAYS, WeirUnderTest } from '../conformance/weir-answer.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { runsOf } from '../support/budget.ts';

/**
 * What a subquery gives, against loops: for each row of `outside` the rows of `inside` are gone
 * through one by one, in their order.
 */
type Outside = { readonly a: number | null; readonly xs: readonly (number | null)[] };
type Inside = { readonly k: number | null; readonly v: number | null };

const small = fc.option(fc.integer({ min: 0, max: 3 }));
const outsideRows = fc.array(
  fc.record({ a: small, xs: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 }) }),
  { maxLength: 6 },
);
const insideRows = fc.array(fc.record({ k: small, v: small }), { maxLength: 6 });

type Value = number | boolean | null | readonly (number | null)[] | 'several rows';

type Form = {
  /** Over a row `o` outside. */
  readonly sql: string;
  readonly value: (row: Outside, inside: readonly Inside[]) => Value;
};

const INSIDE = '(SELECT i.k AS k, i.v AS v FROM inside, UNNEST(metadata) AS i)';

const FORMS: readonly Form[] = [
  {
    sql: `EXISTS(SELECT 1 FROM ${INSIDE} AS i WHERE i.k = o.a)`,
    value: (row, inside) => inside.some(({ k }) => equal(k, row.a) === true),
  },
  {
    sql: `NOT EXISTS(SELECT 1 FROM ${INSIDE} AS i WHERE i.k = o.a AND i.v > o.a)`,
    value: (row, inside) => !inside.some(({ k, v }) => equal(k, row.a) && greater(v, row.a)),
  },
  {
    sql: `EXISTS(SELECT 1 FROM ${INSIDE} AS i WHERE i.v > 2)`,
    value: (_, inside) => inside.some(({ v }) => greater(v, 2)),
  },
  {
    sql: `(SELECT COUNT(*) FROM ${INSIDE} AS i WHERE i.k > o.a)`,
    value: (row, inside) => inside.filter(({ k }) => greater(k, row.a)).length,
  },
  {
    sql: `(SELECT SUM(i.v) FROM ${INSIDE} AS i WHERE i.k = o.a)`,
    value: (row, inside) => sum(inside.filter(({ k }) => equal(k, row.a)).map(({ v }) => v)),
  },
  {
    sql: `(SELECT i.v FROM ${INSIDE} AS i WHERE i.k = o.a)`,
    value: (row, inside) => only(inside.filter(({ k }) => equal(k, row.a)).map(({ v }) => v)),
  },
  {
    sql: `(SELECT i.v FROM ${INSIDE} AS i WHERE i.v IS NOT NULL AND i.k <= o.a ORDER BY i.v DESC LIMIT 1)`,
    value: (row, inside) =>
      present(inside.filter(({ k }) => k !== null && row.a !== null && k <= row.a)).at(-1) ?? null,
  },
  {
    sql: `o.a IN (SELECT i.v FROM ${INSIDE} AS i)`,
    value: (row, inside) =>
      isIn(
        row.a,
        inside.map(({ v }) => v),
      ),
  },
  {
    sql: `o.a NOT IN (SELECT i.v FROM ${INSIDE} AS i WHERE i.k = o.a)`,
    value: (row, inside) =>
      not(
        isIn(
          row.a,
          inside.filter(({ k }) => equal(k, row.a)).map(({ v }) => v),
        ),
      ),
  },
  {
    sql: `ARRAY(SELECT i.v FROM ${INSIDE} AS i WHERE i.k = o.a AND i.v IS NOT NULL ORDER BY i.v)`,
    value: (row, inside) => present(inside.filter(({ k }) => equal(k, row.a))),
  },
  {
    sql: 'ARRAY(SELECT x FROM UNNEST(o.xs) AS x WHERE x > 1)',
    value: ({ xs }) => xs.filter((x) => greater(x, 1)),
  },
  {
    sql: '(SELECT COUNT(*) FROM UNNEST(o.xs) AS x WHERE x = o.a)',
    value: ({ xs, a }) => xs.filter((x) => equal(x, a)).length,
  },
  {
    sql: `(SELECT COUNT(*) FROM UNNEST(o.xs) AS x WHERE EXISTS(SELECT 1 FROM ${INSIDE} AS i WHERE i.k = x AND i.v = o.a))`,
    value: ({ xs, a }, inside) =>
      xs.filter((x) => inside.some(({ k, v }) => equal(k, x) && equal(v, a))).length,
  },
  {
    sql: `ARRAY(SELECT DISTINCT x FROM UNNEST(o.xs) AS x WHERE x IN (SELECT i.k FROM ${INSIDE} AS i) ORDER BY x LIMIT 2)`,
    value: ({ xs }, inside) =>
      [...new Set(xs.filter((x) => inside.some(({ k }) => equal(k, x))))].sort().slice(0, 2),
  },
  {
    sql: `(SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM ${INSIDE} AS i WHERE i.v >= o.a GROUP BY i.k))`,
    value: (row, inside) => {
      const kept = inside.filter(({ v }) => v !== null && row.a !== null && v >= row.a);
      const counts = new Map<number | null, number>();
      for (const { k } of kept) counts.set(k, (counts.get(k) ?? 0) + 1);
      return kept.length === 0 ? null : Math.max(...counts.values());
    },
  },
];

for (const form of FORMS) {
  test(`for each row as in loops: ${form.sql.replace(INSIDE, 'inside')}`, () => {
    fc.assert(
      fc.property(outsideRows, insideRows, (outside, inside) => {
        const weir = new WeirUnderTest([outsideTable(outside), insideTable(inside)]);
        const values = outside.map((row) => form.value(row, inside));
        const sql = `SELECT o.id AS id, ${form.sql} AS x FROM
          (SELECT id, m.a AS a, m.xs AS xs FROM outside, UNNEST(metadata) AS m) AS o ORDER BY id`;
        for (const way of WEIR_WAYS) {
          const answer = weir.answer({ sql, parameters: [], nowUs: NOW_US }, way);
          if (answer.error !== undefined) {
            if (values.includes('several rows')) continue;
            throw answer.error;
          }
          const got = answer.rows.map((row) => (JSON.parse(row) as readonly Value[])[1]);
          deepEqual(got, values);
        }
      }),
      { numRuns: runsOf(40), seed: fuzzSeed() },
    );
  });
}

function equal(left: number | null, right: number | null): boolean | null {
  return left === null || right === null ? null : left === right;
}

function greater(left: number | null, right: number | null): boolean | null {
  return left === null || right === null ? null : left > right;
}

function not(truth: boolean | null): boolean | null {
  return truth === null ? null : !truth;
}

function isIn(value: number | null, values: readonly (number | null)[]): boolean | null {
  const truths = values.map((each) => equal(value, each));
  return truths.includes(true) ? true : truths.includes(null) ? null : false;
}

function sum(values: readonly (number | null)[]): number | null {
  const numbers = values.filter((value) => value !== null);
  return numbers.length === 0 ? null : numbers.reduce((total, value) => total + value, 0);
}

function only(values: readonly (number | null)[]): Value {
  return values.length > 1 ? 'several rows' : (values[0] ?? null);
}

/** The values `v` that are there, ascending. */
function present(rows: readonly Inside[]): readonly number[] {
  return rows.flatMap(({ v }) => v ?? []).sort();
}

function outsideTable(rows: readonly Outside[]): DataTable {
  return tableOf('outside', { a: INT64, xs: arrayOf(INT64) }, rows);
}

function insideTable(rows: readonly Inside[]): DataTable {
  return tableOf('inside', { k: INT64, v: INT64 }, rows);
}

function tableOf(
  name: string,
  fields: Parameters<typeof record>[0],
  rows: readonly object[],
): DataTable {
  const events = rows.map((row, index) => ({
    id: `r${index}`,
    timestampUs: NOW_US + index,
    metadata: [row as never],
  }));
  return { name, element: record(fields), events };
}
