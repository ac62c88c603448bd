import { equal, ok, rejects } from 'node:assert/strict';
import { after, test } from 'node:test';
import { must } from '../../engine/assert.ts';
import { Engine } from '../../engine/engine.ts';

const NOW_US = Date.UTC(2026, 0, 15) * 1000;
const MEBIBYTE = 1024 * 1024;

/** Bytes that all queries of an engine may hold: some are enough for the values below, and some are not. */
const ROOMY_BYTES = 1024 * MEBIBYTE;
const NARROW_BYTES = 64 * MEBIBYTE;
/** Part of them that may be in use once garbage is gone. */
const USED_PART = 9 / 16;

/** 2,100,000 rows. */
const ROWS = 'UNNEST(GENERATE_ARRAY(1, 700000)) AS a, UNNEST([0, 1, 2]) AS b';
const NUMBER = '3 * a + b';

const engines: Engine[] = [];
after(() => Promise.all(engines.map((engine) => engine.close())));

function engineWith(queriesBytesMax: number): Engine {
  const catalog = { segments: () => [], dropped: () => ({ count: 0, ids: [] }) };
  const options = { sources: [], catalog, workerCount: 1, poolLimits: { queriesBytesMax } };
  const engine = new Engine(options);
  engines.push(engine);
  return engine;
}

async function run(engine: Engine, text: string): Promise<string> {
  const options = { parameters: new Map(), nowUs: NOW_US, rowsMax: 1000 };
  const { json } = await engine.run(engine.prepare(text, []), options);
  return Buffer.from(json).toString();
}

test('distinct values are bounded by the bytes that a query may hold, and by no count', async () => {
  const [roomy, narrow] = [engineWith(ROOMY_BYTES), engineWith(NARROW_BYTES)];
  const text = `SELECT COUNT(DISTINCT ${NUMBER}) AS n FROM ${ROWS}`;
  equal(await run(roomy, text), '[{"n":2100000}]');
  await rejects(run(narrow, text), (error: Error & { code?: string }) => {
    const pattern = /^a query may hold about (\d+) MiB .*; this one held (\d+) MiB$/;
    const [, allowed, held] = must(pattern.exec(error.message) ?? undefined, error.message);
    equal(error.code, 'query_limit');
    equal(Number(allowed), (USED_PART * NARROW_BYTES) / MEBIBYTE);
    ok(Number(held) > Number(allowed), error.message);
    return true;
  });
  const few = `SELECT COUNT(DISTINCT MOD(a, 1000)) AS n FROM UNNEST(GENERATE_ARRAY(1, 100000)) AS a`;
  equal(await run(narrow, few), '[{"n":1000}]');
});
