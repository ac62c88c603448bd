import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Engine, type EngineOptions, type RunOptions } from '../../engine/engine.ts';
import {
  INLINE_RUNS_APART_MAX,
  type InlineLimits,
  InlineRuns,
} from '../../engine/pool/inline-runs.ts';
import { QueryError } from '../../engine/query-error.ts';
import { LogStore } from '../../ingest/log-store.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import { batchOf } from '../column/batch-of.ts';

const NOW_US = Date.UTC(2026, 0, 15, 12) * 1000;
const SOURCE = 'logs';
const SOURCES = [{ name: SOURCE, projectPath: ['project'] }];
const ROWS = 300;

let store: LogStore;
const engines: Engine[] = [];

/** The first runs of a process are slow, and are to be run here all the same. */
function engineWith(
  limits: Partial<InlineLimits> = {},
  more: Partial<Pick<EngineOptions, 'catalog' | 'memoLimits'>> = {},
): Engine {
  const inlineLimits = { runMsMax: 10_000, turnMsMax: 10_000, ...limits };
  const options = { sources: SOURCES, catalog: store, workerCount: 1, inlineLimits };
  const engine = new Engine({ ...options, ...more });
  engines.push(engine);
  return engine;
}

function newStore(): LogStore {
  return new LogStore({
    sources: [SOURCE],
    retentionUs: 1000 * PARTITION_US,
    summarize: summarizeSegment,
    seal: (handle) => engines[0]!.seal(handle, PARTITION_US),
  });
}

before(async () => {
  store = newStore();
  engineWith();
  const events = Array.from({ length: ROWS }, (_, index) => ({
    id: `e${index}`,
    timestampUs: NOW_US - index * 1_000_000,
    project: index % 3 === 0 ? 'third' : 'other',
    root: { metadata: [{ text: 'x'.repeat(index) }] },
  }));
  await store.append(SOURCE, batchOf(events.slice(0, ROWS / 2)));
  await store.flush();
  await store.append(SOURCE, batchOf(events.slice(ROWS / 2)));
});

after(async () => {
  await store.close();
  for (const engine of engines) await engine.close();
});

async function textOf(engine: Engine, text: string, more: Partial<RunOptions> = {}) {
  const query = engine.prepare(text, []);
  const options = { parameters: new Map(), nowUs: NOW_US, rowsMax: 1000, ...more };
  const answer = await engine.run(query, options);
  const json = Buffer.from(answer.json).toString();
  answer.release();
  answer.release();
  return { json };
}

const COUNT = `SELECT COUNT(*) AS n, MAX(t.id) AS id FROM ${SOURCE} AS t WHERE t.project = 'third'`;

test('a query over few rows is run on the thread that asks, with the bytes of a worker', async () => {
  const engine = engineWith();
  const apart = engineWith({ rowsMax: 0 });
  const here = await textOf(engine, COUNT);
  deepEqual(here, await textOf(apart, COUNT));
  equal(here.json, '[{"n":100,"id":"e99"}]');
  deepEqual(
    [engine, apart].map((each) => each.stats().queriesInline),
    [1, 0],
  );
  deepEqual(
    [engine, apart].map((each) => each.stats().queriesSucceeded),
    [1, 1],
  );
  deepEqual(engine.stats().scans, apart.stats().scans);
});

test('rows of the project in the window are counted, both sides of the bound', async () => {
  const engine = engineWith({ rowsMax: 10 });
  const within = (seconds: number) =>
    `${COUNT} AND t.timestamp >= TIMESTAMP_SUB(TIMESTAMP '2026-01-15 12:00:00', INTERVAL ${seconds} SECOND)`;
  equal((await textOf(engine, within(29))).json, '[{"n":10,"id":"e9"}]');
  equal(engine.stats().queriesInline, 1);
  equal((await textOf(engine, within(30))).json, '[{"n":11,"id":"e9"}]');
  equal(engine.stats().queriesInline, 1, 'a worker has run the second');
});

test('fewer rows may be counted where regular expressions with operators are tried on them', async () => {
  const engine = engineWith({ expressionRowsMax: 10 });
  const inlineRuns = async (pattern: string, seconds: number) => {
    const before = engine.stats().queriesInline;
    const start = `TIMESTAMP_SUB(TIMESTAMP '2026-01-15 12:00:00', INTERVAL ${seconds} SECOND)`;
    const text = `${COUNT} AND t.timestamp >= ${start} AND REGEXP_CONTAINS(t.id, r'${pattern}')`;
    const rowCount = Math.floor(seconds / 3) + 1;
    equal((await textOf(engine, text)).json, `[{"n":${rowCount},"id":"e9"}]`);
    return engine.stats().queriesInline - before;
  };
  equal(await inlineRuns('^e[0-9]+$', 29), 1);
  equal(await inlineRuns('^e[0-9]+$', 30), 0, 'a worker has run it');
  equal(await inlineRuns('e', 30), 1, 'a text is none');
});

test('states made by workers are combined here or there, with the same answer', async (t) => {
  const finish = t.mock.method(InlineRuns.prototype, 'finish');
  const text = `SELECT t.project, COUNT(*) AS n, MAX(t.id) AS id FROM ${SOURCE} AS t
    WHERE REGEXP_CONTAINS(t.id, r'^e[0-9]+$') GROUP BY t.project ORDER BY n DESC`;
  const memoLimits = { rowsMin: 20, bytesPerRowMax: 1000 };
  const answersOf = async (inlineLimits: Partial<InlineLimits>) => {
    const engine = engineWith(inlineLimits, { memoLimits });
    const query = engine.prepare(text, []);
    const answers = [];
    for (let call = 0; call < 3; call++) {
      const options = { parameters: new Map(), nowUs: NOW_US, rowsMax: 1000 };
      const { json, stats, release } = await engine.run(query, options);
      answers.push(Buffer.from(json).toString());
      equal(stats.rowsScanned + stats.rowsFromMemo, ROWS);
      release();
    }
    const isHere = finish.mock.calls.map(({ result }) => result !== undefined);
    finish.mock.resetCalls();
    return { answers, isHere };
  };
  const apart = await answersOf({ rowsMax: 0 });
  const here = await answersOf({ expressionRowsMax: 10 });
  const begunHere = await answersOf({ expressionRowsMax: 10, runMsMax: -1 });
  equal(new Set([...apart.answers, ...here.answers, ...begunHere.answers]).size, 1);
  deepEqual(apart.isHere, [false, false, false]);
  deepEqual([...new Set(here.isHere)], [true]);
  deepEqual([...new Set(begunHere.isHere)], [false], 'all of it took too long here');
});

test('a run whose segments have states of their own is not tried as one over few rows', async (t) => {
  const tried = t.mock.method(InlineRuns.prototype, 'run');
  const memoLimits = { rowsMin: 20, bytesPerRowMax: 1000 };
  const engine = engineWith({ rowsMax: 10 }, { memoLimits });
  const query = engine.prepare(`${COUNT} AND t.timestamp <= CURRENT_TIMESTAMP()`, []);
  const howTried = [];
  for (let call = 0; call < 4; call++) {
    const options = { parameters: new Map(), nowUs: NOW_US, rowsMax: 1000 };
    const { json, release } = await engine.run(query, options);
    equal(Buffer.from(json).toString(), '[{"n":100,"id":"e99"}]');
    release();
    const isOwn = tried.mock.calls.map(({ arguments: [{ covered }] }) =>
      covered === undefined ? false : covered.coverage.small === undefined,
    );
    howTried.push(isOwn);
    tried.mock.resetCalls();
  }
  deepEqual(howTried.at(-1), [true], JSON.stringify(howTried));
});

test('calls that come again take in one state of sealed segments, and see what has come since', async () => {
  const engine = engineWith();
  const apart = engineWith({ rowsMax: 0 });
  const other = 'state';
  const rows = (from: number) =>
    batchOf(
      Array.from({ length: 10 }, (_, index) => ({
        id: `s${from + index}`,
        timestampUs: NOW_US - (from + index) * 1_000_000,
        project: other,
        root: { metadata: [] },
      })),
    );
  for (const from of [0, 10]) {
    await store.append(SOURCE, rows(from));
    await store.flush();
  }
  const text = COUNT.replace('third', other);
  const query = `${text} AND t.timestamp <= CURRENT_TIMESTAMP()`;
  const prepared = engine.prepare(query, []);
  const options = { parameters: new Map(), nowUs: NOW_US, rowsMax: 1000 };
  const counts = [];
  for (let call = 0; call < 4; call++) {
    if (call === 3) await store.append(SOURCE, rows(20));
    const answer = await engine.run(prepared, options);
    counts.push([answer.stats.rowsScanned, answer.stats.rowsFromMemo]);
    equal(Buffer.from(answer.json).toString(), (await textOf(apart, query)).json);
    answer.release();
  }
  deepEqual(counts, [
    [20, 0],
    [20, 0],
    [0, 20],
    [10, 20],
  ]);
});

test('a run that turns out too large is begun anew by a worker, and its next ones too', async () => {
  const engine = engineWith({ rowsMax: 100 });
  // The newest come first, and none is found before all have been looked at.
  const rare = `SELECT t.id FROM ${SOURCE} AS t WHERE t.event_message = 'none' OR t.id = 'e299' ORDER BY t.timestamp DESC LIMIT 1`;
  const query = engine.prepare(rare, []);
  const options = { parameters: new Map(), nowUs: NOW_US, rowsMax: 1000 };
  for (let run = 0; run < INLINE_RUNS_APART_MAX; run++) {
    const answer = await engine.run(query, options);
    equal(Buffer.from(answer.json).toString(), '[{"id":"e299"}]');
    answer.release();
  }
  equal(engine.stats().queriesInline, 0);
  equal(engine.stats().queriesSucceeded, INLINE_RUNS_APART_MAX);
});

test('a run whose rows would take long to count is left to a worker before all are counted', async () => {
  const engine = engineWith({ runMsMax: 0 }, { memoLimits: { bytesMax: 0 } });
  equal((await textOf(engine, COUNT)).json, '[{"n":100,"id":"e99"}]');
  equal(engine.stats().queriesInline, 0);
  equal(engine.stats().queriesSucceeded, 1);
});

test('a plan whose runs take little is let to end here, however long its first runs would be', async () => {
  const engine = engineWith({ runMsMax: 0 });
  const query = engine.prepare(`${COUNT} AND t.timestamp <= CURRENT_TIMESTAMP()`, []);
  const options = { parameters: new Map(), nowUs: NOW_US, rowsMax: 1000 };
  for (let run = 0; run < 5000 && engine.stats().queriesInline === 0; run++) {
    const answer = await engine.run(query, options);
    equal(Buffer.from(answer.json).toString(), '[{"n":100,"id":"e99"}]');
    answer.release();
  }
  equal(engine.stats().queriesInline, 1);
});

test('more rows that take little are looked at here where this thread has little else to do', async (context) => {
  // The clock of this thread: a run takes no time by it, so that a busy machine changes nothing.
  let nowMs = 0;
  context.mock.method(performance, 'now', () => nowMs);
  const many = newStore();
  const rowCount = 3000;
  const event = { timestampUs: NOW_US, project: 'other', root: {} };
  const events = Array.from({ length: rowCount }, (_, index) => ({ ...event, id: `e${index}` }));
  await many.append(SOURCE, batchOf(events));
  const limits = { rowsMax: 10, knownRowsMax: 20, quietRowsMax: rowCount };
  const engine = engineWith(limits, { catalog: many, memoLimits: { bytesMax: 0 } });
  const query = engine.prepare(`SELECT COUNT(*) AS n FROM ${SOURCE} WHERE project = 'other'`, []);
  /** How many of some runs are made here, in turns that take so long beside. */
  const countHere = async (runs: number, otherMs: number): Promise<number> => {
    const before = engine.stats().queriesInline;
    for (let run = 0; run < runs; run++) {
      await new Promise((resolve) => setImmediate(resolve));
      const options = { parameters: new Map(), nowUs: NOW_US, rowsMax: 1000 };
      const answer = engine.run(query, options);
      nowMs += otherMs;
      const { json, release } = await answer;
      equal(Buffer.from(json).toString(), `[{"n":${rowCount}}]`);
      release();
    }
    return engine.stats().queriesInline - before;
  };
  equal(await countHere(1, 0), 0, 'nothing is known yet of plan and thread');
  ok((await countHere(400, 0.1)) > 0);
  await countHere(40, 5);
  equal(await countHere(40, 5), 0);
  ok((await countHere(400, 0.1)) > 0);
  await many.close();
});

test('the work of functions is bounded, not only rows', async () => {
  const engine = engineWith({ runMsMax: 0 });
  const text = `SELECT SUM(LENGTH(REPEAT(t.id, 10000))) AS n FROM ${SOURCE} AS t`;
  const { json } = await textOf(engine, text);
  deepEqual(json, (await textOf(engineWith({ rowsMax: 0 }), text)).json);
  equal(engine.stats().queriesInline, 0);
});

test('no more is done in one turn of the event loop than may be', async () => {
  const engine = engineWith({ turnMsMax: 1e-6 });
  const run = () => textOf(engine, COUNT);
  await Promise.all([run(), run(), run()]);
  equal(engine.stats().queriesInline, 1);
  await new Promise((resolve) => setImmediate(resolve));
  await run();
  equal(engine.stats().queriesInline, 2);
});

test('what fails, fails as in a worker, and is counted', async () => {
  const text = `SELECT 1 / (LENGTH(t.id) - LENGTH(t.id)) AS x FROM ${SOURCE} AS t`;
  for (const engine of [engineWith(), engineWith({ rowsMax: 0 })]) {
    await rejects(
      textOf(engine, text),
      (error) => error instanceof QueryError && error.code === 'query_failed',
    );
    deepEqual([...engine.stats().queriesFailed], [['query_failed', 1]]);
  }
});

test('joins, windows and what has no rows of a source are left to workers', async () => {
  const engine = engineWith();
  for (const text of [
    `SELECT COUNT(*) AS n FROM ${SOURCE} AS a JOIN ${SOURCE} AS b ON a.id = b.id`,
    `SELECT t.id, ROW_NUMBER() OVER (ORDER BY t.id) AS n FROM ${SOURCE} AS t`,
    `SELECT COUNT(*) AS n FROM UNNEST(GENERATE_ARRAY(1, 100000)) AS x`,
    `SELECT (SELECT MAX(b.id) FROM ${SOURCE} AS b WHERE b.id < a.id) AS x FROM ${SOURCE} AS a`,
  ]) {
    ok((await textOf(engine, text)).json.length > 2);
  }
  equal(engine.stats().queriesInline, 0);
});

test('a caller who has gone gets no answer', async () => {
  const engine = engineWith();
  await rejects(
    textOf(engine, COUNT, { signal: AbortSignal.abort() }),
    (error) => error instanceof QueryError && error.code === 'query_cancelled',
  );
  equal(engine.stats().queriesInline, 0);
});

test('an answer stays as it is until it is released', async () => {
  const engine = engineWith();
  const options = { parameters: new Map(), nowUs: NOW_US, rowsMax: 1000 };
  const run = (text: string) => engine.run(engine.prepare(text, []), options);
  const first = await run(COUNT);
  const wanted = Buffer.from(first.json).toString();
  for (let other = 0; other < 5; other++) (await run(COUNT.replace('third', 'other'))).release();
  equal(Buffer.from(first.json).toString(), wanted);
});
