import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import type { SealedSegmentHandle } from '../../engine/column/segment.ts';
import { Engine } from '../../engine/engine.ts';
import type { InlineLimits } from '../../engine/pool/inline-runs.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';
import { sealedHandle } from './sealed-handle.ts';

const DAY_US = 86_400_000_000;
const START_US = Date.parse('2026-01-10T00:00:00Z') * 1000;
const ROWS_OF_FEW = 12;

/** Ids that no other segment of this process has: what is known of a segment is kept by its id. */
const OPEN_ID = 7_000_000;
const SEALED_ID = OPEN_ID + 10;

/** A day's events: so many of one project, and twelve of another. */
function eventsOf(day: number, rowCount: number): readonly TestEvent[] {
  return Array.from({ length: rowCount + ROWS_OF_FEW }, (_, n) => ({
    id: `${day} ${n}`,
    timestampUs: START_US + day * DAY_US + n,
    project: n < ROWS_OF_FEW ? 'few' : 'many',
  }));
}

/** One for each day, the first of them known so far. */
let handles: readonly SealedSegmentHandle[];
let knownCount = 3;

function engineWith(inlineLimits: Partial<InlineLimits>): Engine {
  return new Engine({
    sources: [{ name: 'logs', projectPath: ['project'] }],
    catalog: {
      segments: () => handles.slice(0, knownCount),
      dropped: () => ({ count: 0, ids: [] }),
    },
    workerCount: 1,
    inlineLimits,
    memoLimits: { rowsMin: ROWS_OF_FEW + 1, bytesPerRowMax: 1_000 },
  });
}

let engine: Engine;
let inline: Engine;
before(() => {
  const open = new OpenSegment({ id: OPEN_ID, arrivalBase: 0 });
  // Each day more: threads look at the largest first.
  const rows = [100, 400, 900, 1000].flatMap((rowCount, day) => eventsOf(day, rowCount));
  open.append(batchOf(rows), 0, rows.length);
  open.publish();
  const sealed = sealSegment(open.handle(), { partitionUs: DAY_US });
  handles = sealed.map((buffer, index) => sealedHandle(buffer, SEALED_ID + index));
  engine = engineWith({ rowsMax: 0 });
  inline = engineWith({ runMsMax: 1e6, turnMsMax: 1e6 });
});
after(() => Promise.all([engine?.close(), inline?.close()]));

test('the state of all segments with few rows is found again, in whatever order they were looked at', async () => {
  const sql = `SELECT COUNT(*) AS n FROM logs AS t WHERE t.project = 'few'`;
  const query = engine.prepare(sql, []);
  const options = { parameters: new Map(), nowUs: START_US + 3 * DAY_US, rowsMax: 10 };
  for (const rowsFromMemo of [0, 3 * ROWS_OF_FEW]) {
    const { json, stats } = await engine.run(query, options);
    assert.equal(Buffer.from(json).toString(), `[{"n":${3 * ROWS_OF_FEW}}]`);
    assert.equal(stats.rowsFromMemo, rowsFromMemo, 'rows whose state was remembered');
    assert.equal(stats.rowsScanned, 3 * ROWS_OF_FEW - rowsFromMemo, 'rows looked at');
    assert.equal(engine.stats().memo.entries, 1, 'the state tells of which segments it is');
  }
});

test('a segment that is new is looked at beside the state of all others, once', async () => {
  const sql = 'SELECT COUNT(*) AS n FROM logs AS t WHERE t.project = @project';
  const query = inline.prepare(sql, [{ name: 'project', type: { kind: 'STRING' } }]);
  const counts = [];
  for (let call = 0; call < 6; call++) {
    knownCount = call < 4 ? 3 : 4;
    const parameters = new Map([['project', 'few']]);
    const options = { parameters, nowUs: START_US + 4 * DAY_US, rowsMax: 10 };
    const { json, stats, release } = await inline.run(query, options);
    assert.equal(Buffer.from(json).toString(), `[{"n":${knownCount * ROWS_OF_FEW}}]`);
    counts.push([stats.rowsScanned, stats.rowsFromMemo].map((rows) => rows / ROWS_OF_FEW));
    release();
  }
  assert.deepEqual(counts.slice(-3), [
    [0, 3],
    [1, 3],
    [0, 4],
  ]);
});
