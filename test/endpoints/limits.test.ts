import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { SegmentCatalog } from '../../engine/column/segment.ts';
import { Engine, type QueryAnswer, type RunOptions } from '../../engine/engine.ts';
import { ANSWER_BYTES_MAX } from '../../engine/limits.ts';
import type { QueryError } from '../../engine/query-error.ts';

/** Queries over constants need no source. */
const NO_SOURCES: SegmentCatalog = {
  segments: () => [],
  dropped: () => ({ count: 0, ids: [] }),
};

let engine: Engine;
before(() => {
  engine = new Engine({ sources: [], catalog: NO_SOURCES, workerCount: 2 });
});
after(() => engine.close());

function run(text: string, more: Partial<RunOptions> = {}): Promise<QueryAnswer> {
  const options = { parameters: new Map(), nowUs: 0, rowsMax: 1000, ...more };
  return engine.run(engine.prepare(text, []), options);
}

/** An array of `count` seconds: more than planning computes, so a worker makes it. */
function seconds(count: number): string {
  return `GENERATE_TIMESTAMP_ARRAY(TIMESTAMP '2026-01-01', TIMESTAMP_ADD(TIMESTAMP '2026-01-01', INTERVAL ${count - 1} SECOND), INTERVAL 1 SECOND)`;
}

test('a long constant array is made by a worker and counts correctly', async () => {
  const { json } = await run(`SELECT COUNT(*) AS n FROM UNNEST(${seconds(100_000)})`);
  assert.equal(Buffer.from(json).toString(), '[{"n":100000}]');
});

test('an answer of too many bytes is refused with the limit and its size', async () => {
  const text = `SELECT ${seconds(20_000)} AS a FROM UNNEST(${seconds(1000)})`;
  await assert.rejects(run(text), (error: QueryError) => {
    assert.equal(error.code, 'answer_too_large');
    assert.match(
      error.message,
      new RegExp(`at most ${ANSWER_BYTES_MAX} bytes; its first \\d+ rows`),
    );
    return true;
  });
});

test('the runs of a caller that has gone end, running or waiting', async () => {
  const endless = `SELECT COUNT(*) AS n FROM UNNEST(${seconds(100_000)}) AS a, UNNEST(${seconds(1_000_000)}) AS b`;
  const caller = new AbortController();
  const first = run(endless, { signal: caller.signal });
  // While the other worker answers this, the first has begun.
  await run('SELECT 1 AS one');
  const others = [endless, endless].map((text) => run(text, { signal: caller.signal }));
  const refusals = [first, ...others].map((each) =>
    assert.rejects(each, { code: 'query_cancelled' }),
  );
  caller.abort();
  await Promise.all(refusals);
  assert.equal(Buffer.from((await run('SELECT 1 AS one')).json).toString(), '[{"one":1}]');
});

test('an integer of 2^53 is a number, and a larger one is a string', async () => {
  const { json } = await run(
    'SELECT 9007199254740992 AS a, 9007199254740993 AS b, -9007199254740993 AS c',
  );
  assert.equal(
    Buffer.from(json).toString(),
    '[{"a":9007199254740992,"b":"9007199254740993","c":"-9007199254740993"}]',
  );
});
