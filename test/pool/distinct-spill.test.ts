import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { must } from '../../engine/assert.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import type { SegmentHandle } from '../../engine/column/segment.ts';
import { Engine } from '../../engine/engine.ts';
import { batchOf } from '../column/batch-of.ts';
import { listOpenFiles, OPEN_FILES_HIDDEN } from '../support/open-files.ts';

const NOW_US = Date.UTC(2026, 0, 15) * 1000;
const DAY_US = 86_400_000_000;
const MEBIBYTE = 1024 * 1024;

/** Bytes that all queries of an engine may hold: enough for everything here, and far too few. */
const ROOMY_BYTES = 1024 * MEBIBYTE;
const NARROW_BYTES = 12 * MEBIBYTE;
/** For a machine that is busy. */
const QUERY_MS_MAX = 300_000;

const root = mkdtempSync(join(tmpdir(), 'weir-distinct-'));
const engines: Engine[] = [];
after(async () => {
  await Promise.all(engines.map((engine) => engine.close()));
  rmSync(root, { recursive: true });
});

type Spilling = { readonly engine: Engine; readonly folder: string };

function engineWith(
  queriesBytesMax: number,
  {
    segments = [],
    workerCount = 1,
    spilledBytesMax = 1024 * MEBIBYTE,
    stopMsMax = QUERY_MS_MAX,
  }: {
    readonly segments?: readonly SegmentHandle[];
    readonly workerCount?: number;
    readonly spilledBytesMax?: number;
    readonly stopMsMax?: number;
  } = {},
): Spilling {
  const folder = join(root, String(engines.length));
  const engine = new Engine({
    sources: [{ name: 'logs', projectPath: ['project'] }],
    catalog: { segments: () => segments, dropped: () => ({ count: 0, ids: [] }) },
    workerCount,
    poolLimits: { queriesBytesMax, queryMsMax: QUERY_MS_MAX, spilledBytesMax, stopMsMax },
    inlineLimits: { rowsMax: 0 },
    spillFolder: folder,
  });
  engines.push(engine);
  return { engine, folder };
}

async function run({ engine }: Spilling, text: string, signal?: AbortSignal): Promise<string> {
  const options = { parameters: new Map(), nowUs: NOW_US, rowsMax: 1000, signal };
  const { json } = await engine.run(engine.prepare(text, []), options);
  return Buffer.from(json).toString();
}

/** Whether a query of the engine wrote to disk. What it wrote has no name, and is closed. */
function hasSpilled({ folder }: Spilling): boolean {
  if (!existsSync(folder)) return false;
  assert.deepEqual(readdirSync(folder), []);
  if (OPEN_FILES_HIDDEN === false) assert.deepEqual(listOpenFiles(folder), []);
  return true;
}

/** 420,000 rows, of as many numbers. */
const ROWS = 'UNNEST(GENERATE_ARRAY(1, 400)) AS a, UNNEST(GENERATE_ARRAY(0, 1049)) AS b';
const NUMBER = '1050 * a + b';
const COUNT = 420_000;

test('numbers that do not fit into memory are counted and summed exactly; those that fit open no file', async () => {
  const narrow = engineWith(NARROW_BYTES);
  const few = `SELECT COUNT(DISTINCT MOD(b, 1000)) AS n FROM ${ROWS}`;
  assert.equal(await run(narrow, few), '[{"n":1000}]');
  assert.equal(hasSpilled(narrow), false);
  const roomy = engineWith(ROOMY_BYTES);
  const select = `SELECT COUNT(DISTINCT ${NUMBER}) AS n, SUM(DISTINCT ${NUMBER}) AS s, COUNT(*) AS c
    FROM ${ROWS}`;
  const expected = JSON.stringify([{ n: COUNT, s: (COUNT * (1050 + 421_049)) / 2, c: COUNT }]);
  assert.equal(await run(roomy, select), expected);
  assert.equal(hasSpilled(roomy), false);
  assert.equal(await run(narrow, select), expected);
  assert.equal(hasSpilled(narrow), true);
});

test('numbers that do not fit are counted by group, in which they come again', async () => {
  const narrow = engineWith(NARROW_BYTES);
  const text = `SELECT MOD(a, 3) AS k, COUNT(DISTINCT ${NUMBER}) AS n, COUNT(DISTINCT b) AS m
    FROM ${ROWS}, UNNEST([1, 2]) AS twice WHERE a <= 300 GROUP BY k ORDER BY k`;
  const row = (k: number) => ({ k, n: 100 * 1050, m: 1050 });
  assert.equal(await run(narrow, text), JSON.stringify([0, 1, 2].map(row)));
  assert.equal(hasSpilled(narrow), true);
});

const EVENT_COUNT = 100_000;
const GROUP_COUNT = 3;

/** Event `index` has a text of its own, of random letters, and those of one group out of three have the text of another. */
const TEXTS = Array.from({ length: EVENT_COUNT }, (_, index) => {
  const own = index % GROUP_COUNT === 0 ? Math.floor(index / 6) : index;
  const digest = (part: number) => createHash('sha256').update(`${part} ${own}`).digest('base64');
  return [0, 1, 2].map(digest).join('');
});

let segmentId = 710_000_000;

function openWith(start: number, end: number): OpenSegment {
  const open = new OpenSegment({ id: ++segmentId, arrivalBase: start });
  const events = Array.from({ length: end - start }, (_, index) => ({
    timestampUs: NOW_US + start + index,
    metadata: {
      k: (start + index) % GROUP_COUNT,
      t: (start + index) % 10 === 9 ? null : TEXTS[start + index]!,
    },
  }));
  open.append(batchOf(events), 0, events.length);
  open.publish();
  return open;
}

function sealedWith(start: number, end: number): readonly SegmentHandle[] {
  const buffers = sealSegment(openWith(start, end).handle(), { partitionUs: DAY_US });
  return buffers.map((buffer) => ({ kind: 'sealed', id: ++segmentId, buffer }));
}

test('texts of logs that do not fit are counted: open, sealed and mixed, with one worker and two', async () => {
  const half = EVENT_COUNT / 2;
  const forms = {
    open: [openWith(0, half).handle(), openWith(half, EVENT_COUNT).handle()],
    sealed: [...sealedWith(0, half), ...sealedWith(half, EVENT_COUNT)],
    mixed: [...sealedWith(0, half), openWith(half, EVENT_COUNT).handle()],
  };
  const present = Array.from({ length: EVENT_COUNT }, (_, index) => index).filter(
    (index) => index % 10 !== 9,
  );
  const all = new Set(present.map((index) => TEXTS[index])).size;
  const groups = [0, 1, 2].map((k) => {
    const own = present.filter((index) => index % GROUP_COUNT === k);
    return { k, n: new Set(own.map((index) => TEXTS[index])).size };
  });
  const count = "COUNT(DISTINCT CONCAT(m.t, '!')) AS n FROM logs, UNNEST(metadata) AS m";
  const whole = { text: `SELECT ${count}`, expected: [{ n: all }] };
  const grouped = { text: `SELECT m.k AS k, ${count} GROUP BY k ORDER BY k`, expected: groups };
  for (const [form, workerCount, query] of [
    ['open', 1, grouped],
    ['open', 2, whole],
    ['sealed', 1, whole],
    ['sealed', 2, grouped],
    ['mixed', 1, grouped],
    ['mixed', 2, whole],
  ] as const) {
    // Threads of its own: what others left is not counted as held.
    const narrow = engineWith(NARROW_BYTES, { segments: forms[form], workerCount });
    assert.equal(await run(narrow, query.text), JSON.stringify(query.expected), form);
    assert.equal(hasSpilled(narrow), true, `${form}, ${workerCount} workers`);
    await narrow.engine.close();
  }
});

test('a query that would write too much to disk is refused with both numbers', async () => {
  const bytesMax = 2 * MEBIBYTE;
  const narrow = engineWith(NARROW_BYTES, { spilledBytesMax: bytesMax });
  const text = `SELECT COUNT(DISTINCT ${NUMBER}) AS n FROM ${ROWS}`;
  await assert.rejects(run(narrow, text), (error: Error & { code?: string }) => {
    const pattern = /may write (\d+) bytes to disk \(SPILLED_BYTES_MAX\); .* write (\d+) or more$/;
    const [, allowed, written] = must(pattern.exec(error.message) ?? undefined, error.message);
    assert.equal(error.code, 'query_limit');
    assert.equal(Number(allowed), bytesMax);
    assert.ok(Number(written) > bytesMax);
    return true;
  });
  assert.equal(hasSpilled(narrow), true);
  assert.equal(await run(narrow, 'SELECT 1 AS n'), '[{"n":1}]');
});

/** Cancels a query as soon as it has begun to write. */
async function cancelSpilling(narrow: Spilling): Promise<void> {
  const cancelled = new AbortController();
  // The folder is made with the first byte.
  const timer = setInterval(() => {
    if (existsSync(narrow.folder)) cancelled.abort();
  }, 1);
  const text = `SELECT COUNT(DISTINCT ${NUMBER} * 8 + c) AS n FROM ${ROWS}, UNNEST([1, 2, 3, 4]) AS c`;
  await assert.rejects(run(narrow, text, cancelled.signal), { code: 'query_cancelled' });
  clearInterval(timer);
}

test('a query that is cancelled while it writes leaves nothing, and its thread goes on', async () => {
  const narrow = engineWith(NARROW_BYTES);
  await cancelSpilling(narrow);
  assert.equal(hasSpilled(narrow), true);
  assert.equal(await run(narrow, `SELECT COUNT(*) AS n FROM ${ROWS}`), `[{"n":${COUNT}}]`);
});

test('a thread that is ended while it writes leaves no byte', async () => {
  const narrow = engineWith(NARROW_BYTES, { stopMsMax: 0 });
  await cancelSpilling(narrow);
  await narrow.engine.close();
  // It may end between the two calls that make a file and take away its name: nothing has been written then, and the next
  // start empties the folder.
  const sizes = readdirSync(narrow.folder).map((name) => statSync(join(narrow.folder, name)).size);
  assert.ok(sizes.length <= 1 && sizes.every((size) => size === 0), `${sizes}`);
  if (OPEN_FILES_HIDDEN === false) assert.deepEqual(listOpenFiles(narrow.folder), []);
});
