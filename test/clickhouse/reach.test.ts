// In a process of its own: chDB has one folder open at a time.
import { deepEqual, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { must } from '../../engine/assert.ts';
import { optimize } from '../../engine/plan/optimize/optimize.ts';
import { prepareQuery } from '../../engine/plan/prepared-query.ts';
import type { Reach } from '../../engine/plan/reach.ts';
import { QueryError } from '../../engine/query-error.ts';
import { SourceDirectory, sourcesFrom } from '../../ingest/source.ts';
import { renderQuery } from '../../src/clickhouse/render/query-sql.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { HostileCalls } from '../isolation/tenant-calls.ts';
import { LOGS, type Tenant, tenantEvents, tenantsOf } from '../isolation/tenant-events.ts';
import { us } from '../scripts/script.ts';
import { budgetOf } from '../support/budget.ts';
import { jsonText } from '../support/json-text.ts';
import { filesBelow } from '../support/source-files.ts';
import { BothStores } from './both-stores.ts';
import { missingChdb } from './chdb.ts';

const skip = missingChdb();

/** After all events of tenants. */
const NOW_US = us('2026-01-17T00:00:00Z');

const TEXTS = budgetOf('WEIR_ISOLATION_CALLS', { fast: 60, all: 300 });
const TENANTS = 8;

const seed = fuzzSeed();
const random = new Random(seed);
const tenants = tenantsOf(TENANTS);
const directory = new SourceDirectory(sourcesFrom(LOGS).sources);
let stores: BothStores;

before(async () => {
  if (skip !== false) return;
  stores = new BothStores(directory.sources);
  for (const { source, event } of tenantEvents(random, tenants)) {
    await stores.post(must(directory.findByName(source)), jsonText([event]), NOW_US);
  }
});

after(() => stores?.close());

/** Texts that select from whole sources, without a word about projects. */
function* hostileTexts(): Generator<string> {
  const calls = new HostileCalls(random, tenants);
  for (;;) {
    const { sql, isExplored } = calls.next(random.pick(tenants));
    if (isExplored === true && sql?.startsWith('WITH') === true) yield sql;
  }
}

function boundTo(owners: readonly Tenant[]): Reach {
  return { projects: owners.map(({ key }) => key), sources: 'all' };
}

function chosenOwners(): readonly Tenant[] {
  const count = random.pick([0, 1, 1, 2, 3]);
  return [...new Set(Array.from({ length: count }, () => random.pick(tenants)))];
}

test('a bound token gets what the embedded engine gives it, and nothing of others', {
  skip,
}, (context) => {
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  const { sources } = stores;
  const counts = { rows: 0, refused: 0, failed: 0 };
  let left = TEXTS;
  for (const text of hostileTexts()) {
    if (left-- === 0) break;
    const owners = chosenOwners();
    const reach = boundTo(owners);
    const { bound } = prepareQuery(text, { sources, parameters: [] });
    const call = { parameters: new Map(), nowUs: NOW_US, rowsMax: 10_000 };
    const plan = stores.optimized(bound, call);
    const what = `${text} of ${JSON.stringify(reach.projects)}`;
    try {
      // Every other text reads columns of fields.
      const findField = left % 2 === 0 ? undefined : stores.addFieldColumns(plan, bound.output);
      const answer = stores.fromClickHouse(plan, bound.output, { reach, findField });
      const foreign = tenants.filter((tenant) => !owners.includes(tenant));
      const shown = JSON.stringify(answer);
      deepEqual(
        foreign.filter(({ mark }) => shown.includes(mark)),
        [],
        what,
      );
      const expected = stores.fromEngine(plan, bound.output, () => {}, reach);
      if ('rows' in answer && 'rows' in expected) {
        deepEqual(answer.rows, expected.rows, what);
        counts.rows += answer.rows.length;
      } else counts.failed += 1;
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      counts.refused += 1;
    }
  }
  context.diagnostic(JSON.stringify(counts));
  ok(counts.rows > TEXTS / 4 && counts.refused < TEXTS / 2, 'texts have rows');
});

test('every scan of a statement has the condition of the reach', () => {
  const sources = directory.sources;
  const reach: Reach = { projects: ['its own', 'other'], sources: 'all' };
  let scanCount = 0;
  let left = TEXTS;
  for (const text of hostileTexts()) {
    if (left-- === 0) break;
    const { bound } = prepareQuery(text, { sources, parameters: [] });
    const call = { parameters: new Map(), nowUs: NOW_US, rowsMax: 10_000 };
    const plan = optimize(bound, { ...call, sources });
    let statement: ReturnType<typeof renderQuery>;
    try {
      const findField = left % 2 === 0 ? undefined : () => 'field';
      statement = renderQuery(plan, bound.output, { reach, findField });
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      continue;
    }
    const { sql, parameters } = statement;
    const [, ...scans] = sql.split('FROM events');
    for (const scan of scans) {
      const [, condition] = /^ WHERE source = \{\w+:String\} AND (.*)$/s.exec(scan) ?? [];
      // Of a project out of reach no row is read.
      if (condition?.startsWith('0') === true) continue;
      const [, keys = ''] =
        /^NOT is_mixed AND project IN \(((?:\{\w+:String\}(?:, )?)+)\)/.exec(condition ?? '') ?? [];
      const names = Array.from(keys.matchAll(/\w+(?=:String)/g), ([name]) => parameters[name]);
      ok(names.length > 0, sql);
      ok(
        names.every((name) => name !== undefined && reach.projects.includes(name)),
        sql,
      );
      scanCount += 1;
    }
  }
  ok(scanCount > TEXTS / 4, 'there are scans');
});

test('only the scan of a plan names the table of events', () => {
  const files = filesBelow('src/clickhouse/render', '.ts');
  const named = files.flatMap(({ path, text }) =>
    Array.from(text.matchAll(/\bEVENTS_TABLE\b|\bevents\b(?=`| WHERE)/g), () => path),
  );
  deepEqual([...new Set(named)], ['src/clickhouse/render/plan-sql.ts']);
});
