// In a process of its own: chDB has one folder open at a time.
import { deepEqual, equal } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { QueryError } from '../../engine/query-error.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { renderedAggregateNames } from '../../src/clickhouse/render/aggregate-sql.ts';
import { renderedFunctionNames } from '../../src/clickhouse/render/functions/registry.ts';
import { batchOf } from '../column/batch-of.ts';
import { type ConformanceCase, readCases } from '../conformance/case-file.ts';
import { NOT_RECORDED } from '../conformance/conformance-page.ts';
import { DATA_TABLES, NOW_US } from '../conformance/data-tables.ts';
import { readText } from '../support/source-files.ts';
import { BothStores } from './both-stores.ts';
import { missingChdb } from './chdb.ts';
import { areNear } from './near-answers.ts';
import { countedReasons, type Outcome, outcomeOf } from './store-outcome.ts';
import { supportPage } from './support-page.ts';

const skip = missingChdb();
const PAGE = 'test/clickhouse/SUPPORT.md';
const ROWS_MAX = 100_000;

/** Reasons of refusals that are printed. */
const REASONS_SHOWN = 40;

/** Functions that the cases call only beside what is refused. */
const MORE_CASES: readonly ConformanceCase[] = Object.entries({
  octet_length: "OCTET_LENGTH(x) AS x FROM UNNEST(['añb', '', NULL]) AS x",
  regexp_substr: "REGEXP_SUBSTR(x, r'b+(c?)') AS x FROM UNNEST(['abbc', 'ab', 'a', NULL]) AS x",
  timestamp: "TIMESTAMP(x) AS x FROM UNNEST([DATE '2026-01-15', NULL]) AS x",
  datetime: "DATETIME(x) AS x FROM UNNEST([TIMESTAMP '2026-01-15 12:00:00+00', NULL]) AS x",
  array_slice: 'ARRAY_SLICE([1, 2, 3], x, -1) AS x FROM UNNEST([0, 1, -2]) AS x',
  to_base32: "TO_BASE32(x) AS x FROM UNNEST([b'abc', b'', NULL]) AS x",
  from_base32: "FROM_BASE32(x) AS x FROM UNNEST(['MFRGG===', '', NULL]) AS x",
  timestamp_bucket:
    "TIMESTAMP_BUCKET(x, INTERVAL 1 DAY) AS x FROM UNNEST([TIMESTAMP '2026-01-15 12:00:00']) AS x",
  datetime_bucket:
    "DATETIME_BUCKET(x, INTERVAL 2 MONTH) AS x FROM UNNEST([DATETIME '2026-02-15']) AS x",
  date_bucket: "DATE_BUCKET(x, INTERVAL 7 DAY) AS x FROM UNNEST([DATE '2026-01-15', NULL]) AS x",
  ...Object.fromEntries(
    ['cot', 'csc', 'sec', 'coth', 'csch', 'sech'].map((name) => [
      name,
      `${name.toUpperCase()}(x) AS x FROM UNNEST([0.5, -2.0, NULL]) AS x`,
    ]),
  ),
}).map(([tag, sql]) => ({ place: 'here', tags: [tag], sql: `SELECT ${sql}`, parameters: [] }));

const CASES = [...readCases(), ...MORE_CASES];

let stores: BothStores;

before(async () => {
  if (skip !== false) return;
  stores = new BothStores(DATA_TABLES.map(({ name }) => ({ name, projectPath: ['project'] })));
  for (const { name, events } of DATA_TABLES) await stores.add(name, batchOf(events));
});

after(() => stores?.close());

/** What becomes of a case; `undefined` where the embedded engine refuses it before it runs. */
function caseOutcome({ sql, parameters, place }: ConformanceCase): Outcome | undefined {
  const call = {
    parameters: new Map(parameters.map(({ name, value }) => [name.toLowerCase(), value] as const)),
    nowUs: NOW_US,
    rowsMax: ROWS_MAX,
  };
  const bound = orRefused(() =>
    bindQuery(parseQuery(sql), { sources: stores.sources, parameters }),
  );
  if (bound instanceof QueryError) return undefined;
  const plan = orRefused(() => stores.unfolded(bound, call));
  if (plan instanceof QueryError) return undefined;
  const { output } = bound;
  const engine = stores.fromEngine(plan, output);
  const outcome = outcomeOf(stores, { plan, output }, engine, (one, other) =>
    areNear(one, other, sql),
  );
  if (outcome.kind !== 'differs' && outcome.kind !== 'breaks') return outcome;
  return { kind: 'differs', reason: `${place}: ${sql}\n  ${outcome.reason}` };
}

function orRefused<T>(work: () => T): T | QueryError {
  try {
    return work();
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
}

/**
 * Sums of fractions: the embedded engine rounds the exact sum once, and ClickHouse rounds at each step, by Kahan's
 * algorithm. They differ in the last digits, and in more where values cancel each other out.
 */
const INEXACT: ReadonlySet<string> = new Set([
  'SELECT SUM(x) AS s FROM UNNEST([1e16, 1, -1e16]) AS x',
]);

test('a conformance case has the same answer in both stores, or is refused', {
  skip,
}, (context) => {
  const outcomes = CASES.map((each) => [each, caseOutcome(each)] as const);
  const known = outcomes.flatMap(([, outcome]) => outcome ?? []);
  for (const reason of countedReasons(known).slice(0, REASONS_SHOWN)) context.diagnostic(reason);
  const page = supportPage(outcomes);
  if (process.env['WEIR_UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, page);
  const differing = outcomes.flatMap(([{ sql }, outcome]) =>
    outcome?.kind === 'differs' && !INEXACT.has(sql) ? [outcome.reason] : [],
  );
  deepEqual(differing, []);
  const shown = new Set(
    outcomes.flatMap(([{ tags }, outcome]) => (outcome?.kind === 'same' ? tags : [])),
  );
  const rendered = [...renderedFunctionNames(), ...renderedAggregateNames()];
  deepEqual(
    rendered.filter((name) => !shown.has(name) && !NOT_RECORDED.has(name)),
    [],
    'each function that is rendered has a case with the same answer',
  );
  equal(readText(PAGE), page);
});
