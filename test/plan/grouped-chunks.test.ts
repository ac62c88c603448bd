import assert from 'node:assert/strict';
import { test } from 'node:test';
import { must } from '../../engine/assert.ts';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { readSegment } from '../../engine/column/segment-reader.ts';
import { executeQuery, GROUPED_CHUNK_ROWS_MAX } from '../../engine/plan/execute.ts';
import { optimize } from '../../engine/plan/optimize/optimize.ts';
import { physicalPlanOf } from '../../engine/plan/physical-plan.ts';
import { prepareQuery } from '../../engine/plan/prepared-query.ts';
import { EVERYTHING } from '../../engine/plan/reach.ts';
import { RowWriter } from '../../engine/plan/row-writer.ts';
import { batchOf } from '../column/batch-of.ts';

const ROW_COUNT = 2 * GROUPED_CHUNK_ROWS_MAX + 1000;
/** The end of the first chunk is amid a group, and so is that of the second. */
const ROWS_PER_GROUP = 20_000;

const SQL = `
  SELECT UNIX_MICROS(TIMESTAMP_TRUNC(t.timestamp, HOUR)) AS hour, COUNT(*) AS n, SUM(m.took) AS total,
    MIN(m.took) AS least, MAX(m.took) AS greatest,
    APPROX_QUANTILES(m.took, 100)[OFFSET(5)] AS p5, APPROX_QUANTILES(m.took, 100)[OFFSET(95)] AS p95,
    COUNTIF(m.status >= 500) AS errors
  FROM \`events\` t CROSS JOIN UNNEST(t.metadata) m
  GROUP BY hour ORDER BY hour`;

const HOUR_US = 3.6e9;
const took = (row: number) => (row * 7919) % 4801;
const status = (row: number) => [200, 201, 404, 500][row % 4]!;

test('groups of rows that lie in several chunks are as an exact loop has them', () => {
  const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
  for (let first = 0; first < ROW_COUNT; first += 10_000) {
    const count = Math.min(10_000, ROW_COUNT - first);
    const events = Array.from({ length: count }, (_, index) => eventAt(first + index));
    segment.append(batchOf(events), 0, count);
  }
  segment.publish();
  const [buffer] = sealSegment(segment.handle(), { partitionUs: 1e17 });
  const sealed = readSegment({ kind: 'sealed', id: 2, buffer: must(buffer) });
  assert.equal(sealed.rowCount, ROW_COUNT);
  const rows = answerOf(sealed);
  assert.deepEqual(rows, expectedRows());
});

function eventAt(row: number) {
  return {
    project: 'alpha',
    timestampUs: HOUR_US * Math.floor(row / ROWS_PER_GROUP) + (row % ROWS_PER_GROUP),
    metadata: [{ took: took(row), status: status(row) }],
  };
}

function answerOf(sealed: ReturnType<typeof readSegment>): unknown {
  const sources = [{ name: 'events', projectPath: ['project'] }];
  const { bound } = prepareQuery(SQL, { sources, parameters: [] });
  const call = { parameters: new Map(), nowUs: 0 };
  const plan = physicalPlanOf(optimize(bound, { ...call, rowsMax: 1000, sources }), EVERYTHING);
  const out = new JsonBuffer();
  const rows = new RowWriter(bound.output, plan, out);
  executeQuery(plan, { segments: [[sealed]], checkpoint: () => {} }, rows);
  return JSON.parse(Buffer.from(rows.finish().json).toString());
}

function expectedRows(): unknown {
  return Array.from({ length: Math.ceil(ROW_COUNT / ROWS_PER_GROUP) }, (_, hour) => {
    const start = hour * ROWS_PER_GROUP;
    const length = Math.min(ROWS_PER_GROUP, ROW_COUNT - start);
    const all = Array.from({ length }, (_, index) => took(start + index));
    const sorted = all.toSorted((left, right) => left - right);
    const ranked = (percent: number) => sorted[Math.ceil((percent * length) / 100) - 1];
    return {
      hour: HOUR_US * hour,
      n: length,
      total: all.reduce((sum, one) => sum + one, 0),
      least: sorted[0],
      greatest: sorted.at(-1),
      p5: ranked(5),
      p95: ranked(95),
      errors: all.filter((_, index) => status(start + index) >= 500).length,
    };
  });
}
