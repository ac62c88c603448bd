import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeSegments } from '../../engine/column/merge-segments.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import type { Segment } from '../../engine/column/segment.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { batchOf, type EventValue, type TestEvent } from '../column/batch-of.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { areSame } from '../random-sql/answer.ts';
import { checkCases } from '../random-sql/check-cases.ts';
import {
  engineAnswer,
  engineJson,
  type SegmentsOf,
  segmentsOfEvents,
} from '../random-sql/engine-answer.ts';
import { TIMES } from '../random-sql/events.ts';
import { PlainSegment } from '../random-sql/plain-segment.ts';
import { isOrdered, type Query } from '../random-sql/query.ts';
import { render } from '../random-sql/render.ts';
import { budgetOf, runsOf } from '../support/budget.ts';

/** Segments of which none can be skipped, nor any of their rows, nor the work of any value. */
function plainly(segmentsOf: SegmentsOf): SegmentsOf {
  return (scan) => segmentsOf(scan).map((segment) => new PlainSegment(segment));
}

/** Whether some text compares the time or the project of events with a constant. */
function isBounded(query: Query): boolean {
  return /\.timestamp [<>=]+ TIMESTAMP|' [<>=]+ \w+\.timestamp|\.project = '/.test(render(query));
}

for (const sealedCount of [0, 3, 9]) {
  const title = `${sealedCount} events sealed and the rest open`;
  test(`law 4: skipping never changes an answer, ${title}`, async (context) => {
    await checkCases(
      context,
      { count: runsOf(100), isMixed: true, filter: isBounded },
      ({ query, events }) => {
        const sql = render(query);
        const segments = segmentsOfEvents(events, Math.min(sealedCount, events.length));
        const wanted = engineAnswer(sql, plainly(segments), 'plain');
        // What is not computed cannot fail.
        if (wanted === 'error') return { rowCount: 0 };
        const others = [
          engineAnswer(sql, segments, 'optimized'),
          engineAnswer(sql, plainly(segments), 'optimized'),
          engineAnswer(sql, segments, 'plain'),
        ];
        const wrong = others.find((other) => !areSame(other, wanted, isOrdered(query)));
        if (wrong === undefined) return { rowCount: wanted.length };
        return { wrong: `${JSON.stringify(wrong)}; plainly ${JSON.stringify(wanted)}` };
      },
    );
  });
}

const ROWS = 2800;
const CUT = 2400;

/** A URL of its own for each event; one in `rarity` has a text that is looked for. */
function urlOf(random: Random, n: number, rarity = 400): string {
  const isRare = random.below(rarity) === 0;
  const part = isRare ? random.pick(['needle', 'needle', 'NEEDLE', 'nadel', 'é🦊ü']) : 'todos';
  return `https://project.example.com/rest/v1/${part}?select=*&order=created.desc&id=eq.${n}`;
}

/** What may stand where a request is looked for, now and then. */
function requestOf(random: Random, n: number): EventValue {
  const url = () => urlOf(random, n, 1);
  const odd: readonly (() => EventValue)[] = [
    () => [{ url: url() }, { url: url() }],
    () => ({ URL: url() }),
    () => ({ Url: url(), url: url(), n }),
    () => ({ url: [url(), 1] }),
    () => ({ url: { url: url() } }),
    () => [{ url: n }, { url: url() }],
    () => [[{ url: url() }], { url: url() }],
    () => url(),
    () => null,
  ];
  return random.below(200) === 0 ? random.pick(odd)() : { url: urlOf(random, n) };
}

function longEvents(random: Random): readonly TestEvent[] {
  return Array.from({ length: ROWS }, (_, n) => {
    const metadata = { request: requestOf(random, n), n };
    const isList = random.below(100) === 0;
    return {
      id: `e${n}`,
      timestampUs: Number(TIMES[1]) + n,
      project: random.pick(['p', 'q', null]),
      metadata: isList ? [metadata, { request: requestOf(random, n) }] : metadata,
    };
  });
}

/** The events sealed in two segments, in one, and in one that was merged of two. */
function forms(events: readonly TestEvent[]): readonly Segment[][] {
  const sealed = (from: number, to: number): SharedArrayBuffer => {
    const open = new OpenSegment({ id: 1, arrivalBase: from });
    open.append(batchOf(events.slice(from, to)), 0, to - from);
    open.publish();
    return sealSegment(open.handle(), { partitionUs: 1e17 })[0]!;
  };
  const parts = [sealed(0, CUT), sealed(CUT, ROWS)];
  return [parts, [sealed(0, ROWS)], [mergeSegments(parts)]].map((buffers) =>
    buffers.map((buffer) => SealedSegmentReader.open(buffer)),
  );
}

const FROM = 'FROM logs AS t CROSS JOIN UNNEST(t.metadata) AS m';
const WHERE: readonly string[] = [
  "REGEXP_CONTAINS(r.url, 'needle')",
  "r.url LIKE '%é🦊%'",
  "STRPOS(r.url, 'nadel') > 0 AND t.project = 'p'",
  "STARTS_WITH(r.url, 'https://project.example.com/rest/v1/NEEDLE')",
  "r.url LIKE '%needle%' AND m.n > 700",
  "r.url LIKE '%needle%' AND r.url LIKE '%nadel%'",
  "r.url LIKE '%absent%'",
  "r.url LIKE '%nee_le%'",
  "REGEXP_CONTAINS(r.url, '(needle|nadel|absent)')",
  "REGEXP_CONTAINS(r.url, '^https://[a-z.]+/rest/v1/.*(?:needle|é🦊)')",
  "REGEXP_CONTAINS(r.url, 'nee[a-d]le') AND r.n > 100",
  "r.url LIKE '%needle%' OR r.n > 2700",
];
/** A window of so few rows of a segment that these are asked for by themselves. */
const FEW_ROWS = 600;

const within = (from: number): string =>
  `t.timestamp >= TIMESTAMP_MICROS(${Number(TIMES[1]) + from}) AND ` +
  `t.timestamp < TIMESTAMP_MICROS(${Number(TIMES[1]) + from + FEW_ROWS})`;

const QUERIES: readonly string[] = [
  ...WHERE.flatMap((where) => [
    `SELECT t.id, r.url ${FROM} CROSS JOIN UNNEST(m.request) AS r WHERE ${where}`,
    `SELECT t.id, r.url ${FROM} LEFT JOIN UNNEST(m.request) AS r WHERE ${where}`,
  ]),
  ...WHERE.flatMap((where) =>
    [0, 900, ROWS - FEW_ROWS].map(
      (from) =>
        `SELECT t.id, r.url ${FROM} CROSS JOIN UNNEST(m.request) AS r WHERE (${where}) AND ${within(from)}`,
    ),
  ),
  `SELECT t.id ${FROM} WHERE m.request.url LIKE '%needle%' ORDER BY t.timestamp DESC LIMIT 5`,
  `SELECT t.id ${FROM} WHERE m.REQUEST.Url LIKE '%needle%'`,
  `SELECT t.id ${FROM} CROSS JOIN UNNEST(m.request.url) AS u WHERE u LIKE '%needle%'`,
];

const ROUNDS = runsOf(4);

/** Each query is run over one form in so many. */
const FORM_STEP = budgetOf('WEIR_SKIPPING_FORM_STEP', { fast: 3, all: 1 });

test('law 4: blocks of rows skipped for a text never change an answer', (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  let tellingCount = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const random = new Random(seed + round);
    for (const [form, segments] of forms(longEvents(random)).entries()) {
      const absent = { path: ['metadata', 'request', 'url'], text: 'absent' };
      tellingCount += segments.filter((segment) => segment.rowsWith(absent) !== undefined).length;
      for (const [number, sql] of QUERIES.entries()) {
        if ((number + form + seed) % FORM_STEP !== 0) continue;
        const wanted = engineJson(
          sql,
          plainly(() => segments),
          'plain',
        );
        assert.notEqual(wanted, 'error', sql);
        assert.deepEqual(
          rowsInOrder(
            engineJson(sql, () => segments, 'optimized'),
            sql,
          ),
          rowsInOrder(wanted, sql),
          `seed ${seed + round}: ${sql}`,
        );
      }
    }
  }
  assert.equal(tellingCount, ROUNDS * 3, 'each large segment tells where a text cannot be');
});

/** Rows in the order asked for, or else in any one order. */
function rowsInOrder(json: string, sql: string): readonly string[] {
  const rows = (JSON.parse(json) as object[]).map((row) => JSON.stringify(row));
  return sql.includes('ORDER BY') ? rows : rows.toSorted();
}
