import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { endReading } from '../../engine/column/segment-reader.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { engineJson, fragmentedJson, segmentsOfEvents } from '../random-sql/engine-answer.ts';
import { randomEvents } from '../random-sql/events.ts';
import { runsOf } from '../support/budget.ts';
import { segmentForms } from './segment-forms.ts';

/** Aggregates whose answer hangs on the order of rows, or on much that they keep of them. */
const TEXTS = [
  'SELECT project, ARRAY_AGG(id) AS ids FROM logs GROUP BY project',
  'SELECT ARRAY_AGG(id ORDER BY timestamp DESC LIMIT 3) AS ids FROM logs',
  "SELECT STRING_AGG(project, '' LIMIT 4) AS s, STRING_AGG(id, '-' ORDER BY project) AS t FROM logs",
  'SELECT ARRAY_AGG(m.s IGNORE NULLS) AS s FROM logs, UNNEST(metadata) AS m',
  'SELECT ARRAY_AGG(m.o IGNORE NULLS ORDER BY m.n) AS o FROM logs, UNNEST(metadata) AS m',
  'SELECT ARRAY_AGG(DISTINCT m.n IGNORE NULLS) AS n FROM logs, UNNEST(metadata) AS m',
  'SELECT ARRAY_CONCAT_AGG(m.t) IS NULL AS t FROM logs, UNNEST(metadata) AS m',
  'SELECT ARRAY_AGG(STRUCT(id, m.k AS k, timestamp)) AS a FROM logs, UNNEST(metadata) AS l, UNNEST(l.r) AS m',
  "SELECT STRING_AGG(a.id || b.id, ' ' ORDER BY a.project) AS s FROM logs AS a JOIN logs AS b ON a.project = b.project",
  'SELECT ARRAY_AGG(id) AS ids FROM (SELECT id FROM logs ORDER BY timestamp DESC)',
  'SELECT ARRAY_AGG(id) AS ids FROM (SELECT id FROM logs ORDER BY event_message LIMIT 3)',
  'SELECT ANY_VALUE(id HAVING MAX timestamp) AS a, ARRAY_AGG(id HAVING MIN timestamp) AS b FROM logs',
  'SELECT ANY_VALUE(metadata) AS m, ANY_VALUE(m.r) AS r FROM logs, UNNEST(metadata) AS m',
  'SELECT STDDEV(m.f) AS s, CORR(m.f, m.n) AS c, VAR_POP(m.n) AS v FROM logs, UNNEST(metadata) AS m',
  'SELECT BIT_XOR(m.n) AS x, LOGICAL_OR(m.b) AS o FROM logs, UNNEST(metadata) AS m',
  'SELECT APPROX_COUNT_DISTINCT(m.s) AS n, APPROX_TOP_COUNT(m.s, 3) AS t, APPROX_TOP_SUM(m.s, ABS(m.n), 2) AS u FROM logs, UNNEST(metadata) AS m',
  'SELECT metadata, COUNT(*) AS n, ARRAY_AGG(id) AS ids FROM logs GROUP BY metadata',
  'SELECT DISTINCT STRUCT(project, timestamp) AS s FROM logs',
];

const SEEDS = runsOf(3);

test('law 5: what aggregates take in an order is the same bytes in every form of segments', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-order-'));
  let answered = 0;
  try {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = new Random(seed);
      const events = randomEvents(random, { count: 9, isMixed: true });
      const forms = await segmentForms(events, folder);
      for (const sql of TEXTS) {
        const wanted = engineJson(sql, segmentsOfEvents(events, 0), 'optimized');
        if (wanted.startsWith('[')) answered++;
        for (const [name, segments] of forms) {
          assert.equal(engineJson(sql, segments, 'optimized'), wanted, `${name}: ${sql}`);
          endReading();
          const cut = fragmentedJson(sql, segments) ?? wanted;
          endReading();
          assert.equal(cut, wanted, `${name}, in fragments: ${sql}`);
        }
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  assert.ok(
    answered > (2 / 3) * SEEDS * TEXTS.length,
    `${answered} answers, the others are refusals`,
  );
});
