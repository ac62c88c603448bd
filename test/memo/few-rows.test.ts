import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { Engine } from '../../engine/engine.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';
import { sealedHandle } from './sealed-handle.ts';

const DAY_US = 86_400_000_000;
const START_US = Date.parse('2026-01-10T00:00:00Z') * 1000;
const ROWS_OF_FEW = 12;

/** A day's events: so many of one project, and twelve of another. */
function eventsOf(day: number, rowCount: number): readonly TestEvent[] {
  return Array.from({ length: rowCount + ROWS_OF_FEW }, (_, n) => ({
    id: `${day} ${n}`,
    timestampUs: START_US + day * DAY_US + n,
    project: n < ROWS_OF_FEW ? 'few' : 'many',
  }));
}

let engine: Engine;
before(() => {
  const open = new OpenSegment({ id: 1, arrivalBase: 0 });
  // Each day more: threads look at the largest first.
  const rows = [100, 400, 900].flatMap((rowCount, day) => eventsOf(day, rowCount));
  open.append(batchOf(rows), 0, rows.length);
  open.publish();
  const sealed = sealSegment(open.handle(), { partitionUs: DAY_US });
  const handles = sealed.map((buffer, index) => sealedHandle(buffer, 10 + index));
  engine = new Engine({
    sources: [{ name: 'logs', projectPath: ['project'] }],
    catalog: { segments: () => handles, dropped: () => ({ count: 0, ids: [] }) },
    workerCount: 1,
    inlineLimits: { rowsMax: 0 },
    memoLimits: { rowsMin: ROWS_OF_FEW + 1, bytesPerRowMax: 1_000 },
  });
});
after(() => engine?.close());

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
