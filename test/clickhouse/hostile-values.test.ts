// In a process of its own: chDB has one folder open at a time.
import { deepEqual } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { NOW_US } from '../conformance/data-tables.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';
import { BothStores } from './both-stores.ts';
import { missingChdb } from './chdb.ts';
import { CALLS, VALUES } from './hostile-calls.ts';
import { areNear } from './near-answers.ts';
import { outcomeOf } from './store-outcome.ts';

const skip = missingChdb();
const ROWS_MAX = 1_000;

/** One call in so many is made, each with all of its values; a step of 1 makes all. */
const CALL_STEP = budgetOf('WEIR_STORE_CALL_STEP', { fast: 8, all: 8 });
const FIRST_CALL = fuzzSeed() % CALL_STEP;

let stores: BothStores;

before(() => {
  if (skip === false) stores = new BothStores([{ name: 'logs', projectPath: ['project'] }]);
});

after(() => stores?.close());

/** What is wrong with a call over some values and NULL. Where it fails, of which values is looked for by halves. */
function differencesOf(call: string, values: readonly string[]): readonly string[] {
  const sql = `SELECT ${call} AS r FROM UNNEST([${[...values, 'NULL'].join(', ')}]) AS x`;
  const { output, ...query } = bindQuery(parseQuery(sql), {
    sources: stores.sources,
    parameters: [],
  });
  const settled = { parameters: new Map(), nowUs: NOW_US, rowsMax: ROWS_MAX };
  const plan = stores.unfolded({ ...query, output }, settled);
  const engine = stores.fromEngine(plan, output);
  const outcome = outcomeOf(stores, { plan, output }, engine, (one, other) =>
    areNear(one, other, call),
  );
  const isSplit = 'error' in engine || outcome.kind === 'refused';
  if (isSplit && values.length > 1) {
    const middle = values.length >> 1;
    return [values.slice(0, middle), values.slice(middle)].flatMap((half) =>
      differencesOf(call, half),
    );
  }
  return outcome.kind === 'differs' ? [`${call} of ${values.join(', ')}\n  ${outcome.reason}`] : [];
}

for (const [kind, calls] of Object.entries(CALLS)) {
  test(`functions of ${kind} give the same in both stores over hostile values`, { skip }, () => {
    const values = VALUES[kind as keyof typeof CALLS];
    deepEqual(
      calls
        .filter((_, index) => index % CALL_STEP === FIRST_CALL)
        .flatMap((call) => differencesOf(call, values)),
      [],
    );
  });
}
