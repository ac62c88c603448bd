// In a process of its own: chDB has one folder open at a time.
import { deepEqual, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NOW_US } from '../../bench/workload/clock.ts';
import { prepareQuery } from '../../engine/plan/prepared-query.ts';
import { type Catalogue, loadCatalogue } from '../../src/definition/catalogue.ts';
import { pathInRepository } from '../support/source-files.ts';
import type { BothStores, StoreAnswer } from './both-stores.ts';
import { missingChdb } from './chdb.ts';
import { filledStores, HOT_PROJECT } from './fixture.ts';

const skip = missingChdb();

type Parameters = Readonly<Record<string, string>>;

const intervals = ['5min', '15min', '1hr', '1day', '7day'];

/** Each form that the plans of the three built-in texts have. */
const CALLS: Readonly<Record<string, readonly Parameters[]>> = {
  'logs.all': [
    { project: HOT_PROJECT },
    { project: HOT_PROJECT, project_tier: 'ENTERPRISE' },
    {
      project: HOT_PROJECT,
      project_tier: 'PRO',
      iso_timestamp_start: '2026-01-14T00:00:00Z',
      iso_timestamp_end: '2026-01-15T11:00:00Z',
    },
    { project: "it's \\ nobody" },
  ],
  'functions.invocation-stats': [
    { project: HOT_PROJECT },
    ...intervals.map((interval) => ({ project: HOT_PROJECT, interval })),
    { project: HOT_PROJECT, interval: '7day', function_id: 'f' },
    { project: 'nobody', interval: '7day' },
  ],
  'usage.api-counts': [
    ...['hourly', 'daily', 'minutely'].map((interval) => ({ project: HOT_PROJECT, interval })),
    { project: '^https://[a-m].*[.]', interval: 'daily' },
  ],
};

/** Texts that give nothing over these events show nothing. */
const EMPTY_CALLS_MAX = 2;

let stores: BothStores;
let catalogue: Catalogue;

before(async () => {
  if (skip !== false) return;
  stores = await filledStores();
  const { sources } = stores;
  catalogue = await loadCatalogue({
    folder: pathInRepository('bench/peers/definitions'),
    engine: {
      prepare: (text, parameters, within, views) =>
        prepareQuery(text, { sources, parameters, within, views }),
    },
  });
});

after(() => stores?.close());

/**
 * The answers of ClickHouse and of the embedded engine. Columns of fields must not change that of ClickHouse, nor that rows are
 * on several shards.
 */
function answersOf(name: string, parameters: Parameters): readonly [StoreAnswer, StoreAnswer] {
  const endpoint = catalogue.find(name);
  ok(endpoint !== undefined, name);
  const { query, definition } = endpoint;
  const texts = new Map(Object.entries(parameters).map(([key, text]) => [key, [text]]));
  const plan = stores.optimized(query.bound, {
    parameters: endpoint.parameters.parse(texts),
    nowUs: NOW_US,
    rowsMax: definition.rowsMax,
  });
  const { output } = query.bound;
  const findField = stores.addFieldColumns(plan, output);
  const [plain, quick] = [{}, { findField }].map((scanned) =>
    stores.fromClickHouse(plan, output, scanned),
  );
  deepEqual(quick, plain, 'columns of fields change no answer');
  const [inOne, inShards] = stores.fromTwice(plan, output);
  deepEqual(inShards, inOne, 'shards change no answer');
  return [plain!, stores.fromEngine(plan, output)];
}

for (const [name, calls] of Object.entries(CALLS)) {
  test(`${name} has the same rows in both stores`, { skip }, () => {
    let emptyCount = 0;
    for (const parameters of calls) {
      const [clickHouse, engine] = answersOf(name, parameters);
      deepEqual(clickHouse, engine, JSON.stringify(parameters));
      if (!('rows' in engine) || engine.rows.length === 0) emptyCount++;
    }
    ok(emptyCount <= EMPTY_CALLS_MAX, 'most calls have rows');
  });
}

test('the definitions of the benchmark have the same rows in both stores', { skip }, async (t) => {
  const names = catalogue
    .list()
    .map(({ definition }) => definition.name)
    .filter((name) => name.startsWith('bench.'));
  ok(names.length >= 11, 'there are definitions');
  for (const name of names) {
    await t.test(name, () => {
      const takes = catalogue.find(name)!.definition.parameters.length > 0;
      const [clickHouse, engine] = answersOf(name, takes ? { project: HOT_PROJECT } : {});
      deepEqual(clickHouse, engine);
      ok('rows' in engine && engine.rows.length > 0, 'there are rows');
    });
  }
});
