import { equal, ok, rejects } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { must } from '../../engine/assert.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import type { SegmentHandle } from '../../engine/column/segment.ts';
import { Engine, type QueryAnswer } from '../../engine/engine.ts';
import { FRAGMENT_BYTES_MIN } from '../../engine/limits.ts';
import { batchOf } from '../column/batch-of.ts';

const NOW_US = Date.UTC(2026, 0, 15) * 1000;
const MEBIBYTE = 1024 * 1024;

/** Bytes that all queries of an engine may hold: some are enough for the values below, and some are not. */
const ROOMY_BYTES = 1024 * MEBIBYTE;
const NARROW_BYTES = 32 * MEBIBYTE;
/** Part of them that may be in use once garbage is gone. */
const USED_PART = 9 / 16;
/** For a machine that is busy. */
const QUERY_MS_MAX = 300_000;

/** 2,100,000 rows. */
const ROWS = 'UNNEST(GENERATE_ARRAY(1, 2000)) AS a, UNNEST(GENERATE_ARRAY(0, 1049)) AS b';
const NUMBER = '1050 * a + b';

const engines: Engine[] = [];
after(() => Promise.all(engines.map((engine) => engine.close())));

function engineWith(
  queriesBytesMax: number,
  segments: readonly SegmentHandle[] = [],
  workerCount = 1,
): Engine {
  const catalog = { segments: () => segments, dropped: () => ({ count: 0, ids: [] }) };
  const engine = new Engine({
    sources: [{ name: 'logs', projectPath: ['project'] }],
    catalog,
    workerCount,
    poolLimits: { queriesBytesMax, queryMsMax: QUERY_MS_MAX },
    inlineLimits: { rowsMax: 0 },
  });
  engines.push(engine);
  return engine;
}

async function answerOf(engine: Engine, text: string): Promise<QueryAnswer> {
  const options = { parameters: new Map(), nowUs: NOW_US, rowsMax: 1000 };
  return engine.run(engine.prepare(text, []), options);
}

async function run(engine: Engine, text: string): Promise<string> {
  return Buffer.from((await answerOf(engine, text)).json).toString();
}

test('distinct values are bounded by no count, and those that do not fit into memory are counted in passes', async () => {
  const [roomy, narrow] = [engineWith(ROOMY_BYTES), engineWith(NARROW_BYTES)];
  const select = `SELECT COUNT(DISTINCT ${NUMBER}) AS n, COUNT(*) AS c, SUM(b) AS s FROM ${ROWS}`;
  equal(await run(roomy, select), '[{"n":2100000,"c":2100000,"s":1101450000}]');
  const part = `${select} WHERE a <= 600`;
  equal(await run(narrow, part), '[{"n":630000,"c":630000,"s":330435000}]');
});

test('values that an aggregate has to keep are refused where they do not fit', async () => {
  const narrow = engineWith(NARROW_BYTES);
  const text = `SELECT ARRAY_LENGTH(ARRAY_AGG(DISTINCT ${NUMBER})) AS n FROM ${ROWS}`;
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

const EVENT_COUNT = 120_000;
const GROUP_COUNT = 3;
/** No multiple of the number of groups: each group has all numbers. */
const NUMBER_COUNT = 1_000;

/** Event `index` has a text of its own, of random letters, and those of one group out of three have the text of another. */
function textOf(index: number): string {
  const own = index % GROUP_COUNT === 0 ? Math.floor(index / 6) : index;
  const digest = (part: number) => createHash('sha256').update(`${part} ${own}`).digest('base64');
  return Array.from({ length: 6 }, (_, part) => digest(part)).join('');
}

function sealedEvents(): readonly SegmentHandle[] {
  const open = new OpenSegment({ id: 700_000_001, arrivalBase: 0 });
  const events = Array.from({ length: EVENT_COUNT }, (_, index) => ({
    timestampUs: NOW_US + index,
    metadata: { k: index % GROUP_COUNT, n: index % NUMBER_COUNT, t: textOf(index) },
  }));
  open.append(batchOf(events), 0, events.length);
  open.publish();
  return sealSegment(open.handle(), { partitionUs: 86_400_000_000 }).map((buffer, index) => ({
    kind: 'sealed',
    id: 700_000_002 + index,
    buffer,
  }));
}

test('logs whose distinct values do not fit are counted in passes, by group, with one worker or several', async () => {
  const segments = sealedEvents();
  const byteSize = segments.reduce(
    (sum, handle) => sum + (handle.kind === 'sealed' ? handle.buffer.byteLength : 0),
    0,
  );
  ok(byteSize >= FRAGMENT_BYTES_MIN, 'several workers have a part each');
  const text = `SELECT m.k AS k, COUNT(DISTINCT m.t) AS t, COUNT(*) AS c, SUM(DISTINCT m.n) AS n
    FROM logs, UNNEST(metadata) AS m GROUP BY k ORDER BY k`;
  const expected = JSON.stringify(
    Array.from({ length: GROUP_COUNT }, (_, k) => {
      const own = Array.from({ length: EVENT_COUNT / 3 }, (_each, index) => textOf(3 * index + k));
      const n = (NUMBER_COUNT * (NUMBER_COUNT - 1)) / 2;
      return { k, t: new Set(own).size, c: own.length, n };
    }),
  );
  for (const workerCount of [1, 2]) {
    equal(await run(engineWith(ROOMY_BYTES, segments, workerCount), text), expected);
    const { json, stats } = await answerOf(engineWith(NARROW_BYTES, segments, workerCount), text);
    equal(Buffer.from(json).toString(), expected);
    // With several workers, what a part that was too large has left as garbage is not counted in the whole.
    ok(workerCount > 1 || stats.rowsScanned > 2 * EVENT_COUNT, `${stats.rowsScanned} rows`);
  }
});
