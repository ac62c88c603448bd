import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { doubled, ENDLESS, rows, STOPPED } from '../../bench/workload/query-bombs.ts';
import type { SegmentCatalog } from '../../engine/column/segment.ts';
import { Engine, type QueryAnswer } from '../../engine/engine.ts';
import { QueryError } from '../../engine/query-error.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';

/** Queries over constants need no source. */
const NO_SOURCES: SegmentCatalog = {
  segments: () => [],
  dropped: () => ({ count: 0, ids: [] }),
};

/** Long enough for a thread that gets little time to come to its next checkpoint, and to a limit that is not that of time. */
const STOP_MS_MAX = 60_000;
const QUERY_MS_MAX = 600_000;

/** One bomb in so many is tried; of the next commit others. */
const BOMB_STEP = budgetOf('WEIR_BOMB_STEP', { fast: 2, all: 1 });
const SEED = fuzzSeed();

let engine: Engine;
before(() => {
  engine = new Engine({
    sources: [],
    catalog: NO_SOURCES,
    workerCount: 1,
    poolLimits: { queryMsMax: QUERY_MS_MAX, stopMsMax: STOP_MS_MAX },
  });
});
after(() => engine.close());

async function run(text: string, signal?: AbortSignal): Promise<QueryAnswer> {
  const options = { parameters: new Map(), nowUs: 0, rowsMax: 1000, signal };
  return engine.run(engine.prepare(text, []), options);
}

for (const [index, { name, text, code, tells }] of STOPPED.entries()) {
  if ((index + SEED) % BOMB_STEP !== 0) continue;
  test(`stopped at a named limit: ${name}`, async () => {
    await assert.rejects(run(text), (error: unknown) => {
      assert.ok(error instanceof QueryError, String(error));
      assert.equal(error.code, code, error.message);
      assert.ok(error.message.includes(tells), error.message);
      return true;
    });
    await expectWell();
  });
}

test('conditions and keys that are not pushed down further are still applied', async (context) => {
  context.diagnostic(`seed ${SEED}: WEIR_FUZZ_SEED=${SEED} repeats the choice of bombs`);
  const long = Array.from({ length: 900 }, (_, index) => `a = '${index}'`).join(' OR ');
  const chain = Array.from(
    { length: 200 },
    (_, index) => `, c${index + 1} AS (SELECT a FROM c${index})`,
  );
  const from = `WITH c0 AS (SELECT CAST(x AS STRING) AS a FROM ${rows(1000)} AS x)${chain.join('')}`;
  const { json } = await run(
    `${from} SELECT a FROM c200 WHERE ${long} ORDER BY LENGTH(a), a LIMIT 2`,
  );
  assert.equal(Buffer.from(json).toString(), '[{"a":"1"},{"a":"2"}]');
  const { json: counted } = await run(`${from} SELECT COUNT(*) AS n FROM c200 WHERE ${long}`);
  assert.equal(Buffer.from(counted).toString(), '[{"n":899}]');
  const united = Array.from({ length: 200 }, () => 'SELECT a FROM c0').join(' UNION ALL ');
  const { json: all } = await run(
    `WITH c0 AS (SELECT CAST(x AS STRING) AS a FROM ${rows(5)} AS x) SELECT COUNT(*) AS n FROM (${united}) WHERE a != '3' AND (${long})`,
  );
  assert.equal(Buffer.from(all).toString(), '[{"n":800}]');
  // `a` is "x" 2^12 times: conditions, keys and groups stay above where they would grow too large.
  const grown = doubled(12, `SELECT 'x' AS a FROM ${rows(5)} AS b`);
  const texts = `SELECT LENGTH(a) AS n, COUNT(*) AS m FROM (${grown}) WHERE a LIKE 'x%' AND a != 'x' GROUP BY a ORDER BY a`;
  assert.equal(Buffer.from((await run(texts)).json).toString(), '[{"n":4096,"m":5}]');
});

for (const [name, text] of ENDLESS) {
  test(`the caller of an endless query can leave: ${name}`, async () => {
    const caller = new AbortController();
    const asked = run(text, caller.signal);
    let isOver = false;
    const refused = assert.rejects(asked, { code: 'query_cancelled' }).finally(() => {
      isOver = true;
    });
    while (!isOver && engine.stats().work.call.running === 0) await nextTurn();
    caller.abort();
    await refused;
    await expectWell();
  });
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The thread that there was answers, and none was lost or had to be ended. */
async function expectWell(): Promise<void> {
  const { json } = await run(`SELECT COUNT(*) AS n FROM ${rows(100_000)}`);
  assert.equal(Buffer.from(json).toString(), '[{"n":100000}]');
  const { workersLost, workersEnded } = engine.stats();
  assert.deepEqual({ workersLost, workersEnded }, { workersLost: 0, workersEnded: 0 });
}
