import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MIXED_PROJECTS } from '../../engine/column/batch.ts';
import type { EventValue, TestEvent } from '../column/batch-of.ts';
import { engineJson, fragmentedJson, segmentsOfEvents } from '../random-sql/engine-answer.ts';
import { runsOf } from '../support/budget.ts';

const START_US = Date.parse('2026-01-15T10:58:00Z') * 1000;
const MINUTE_US = 60_000_000;

/** Rows enough for whatever is done by code rather than by row. */
const EVENTS = { minLength: 150, maxLength: 400 };

/** Mostly one shape, as the events of one service have, and now and then another. */
const event = fc.record({
  afterUs: fc.oneof(
    fc.nat(4 * MINUTE_US),
    fc.nat(240).map((second) => second * 1_000_000),
  ),
  project: fc.constantFrom<string | typeof MIXED_PROJECTS>('a', 'a', 'a', 'b', MIXED_PROJECTS),
  ms: fc.oneof({ weight: 9, arbitrary: fc.nat(30) }, fc.constantFrom(0, 4000, 70_000)),
  status: fc.constantFrom(200, 200, 200, 204, 404, 500),
  name: fc.constantFrom('x', 'y', 'z'),
});

const ODD_FIELDS: readonly { readonly [key: string]: EventValue }[] = [
  { ms: null },
  { ms: '12' },
  { ms: 2.5 },
  { ms: -3 },
  { response: [] },
  { response: [{ status: 200 }, { status: 500 }] },
  { response: { status: 301 } },
  { response: [{ status: '404' }] },
  { name: 7 },
];

/** Events, of which some at `oddAt` differ from the others in shape. */
const data = fc
  .tuple(
    fc.array(event, EVENTS),
    fc.array(fc.tuple(fc.nat(EVENTS.maxLength), fc.constantFrom(...ODD_FIELDS)), { maxLength: 4 }),
  )
  .map(([events, oddities]) => {
    const odd = new Map(oddities.map(([at, fields]) => [at % events.length, fields]));
    return events.map(({ afterUs, project, ms, status, name }, index): TestEvent => {
      const metadata = { ms, name, response: [{ status }], ...odd.get(index) };
      return {
        id: `id-${index}`,
        timestampUs: START_US + afterUs,
        project: typeof project === 'string' ? project : null,
        projectKey: project,
        metadata: [metadata],
      };
    });
  });

const RECORDS = 'logs t CROSS JOIN UNNEST(t.metadata) m CROSS JOIN UNNEST(m.response) r';

const KEYS = [
  'TIMESTAMP_TRUNC(t.timestamp, MINUTE)',
  'TIMESTAMP_TRUNC(t.timestamp, SECOND)',
  'TIMESTAMP_TRUNC(t.timestamp, DAY)',
  'TIMESTAMP_TRUNC(t.timestamp, HOUR), r.status',
  'TIMESTAMP_TRUNC(t.timestamp, MINUTE), m.name',
  "m.name, 'constant'",
  'm.ms',
  'm.name, DIV(r.status, 100) * 100',
  'm.name, ABS(m.ms + 0), MOD(r.status, 7)',
];

const AGGREGATES = [
  'COUNT(*), COUNT(t.id), COUNT(m.name), COUNT(m.ms)',
  'COUNTIF(r.status >= 400), COUNTIF(r.status = 200 OR m.ms > 10), COUNTIF(r.status IN (404, 500))',
  'MIN(m.ms), MAX(m.ms), SUM(m.ms + 0), AVG(m.ms), APPROX_QUANTILES(m.ms, 4)',
  'MIN(m.ms - 5), MAX(m.ms + 2), AVG(m.ms + 0.5), APPROX_QUANTILES(m.ms + 65000, 4)',
  'SUM(CAST(m.ms AS INT64)), MIN(t.timestamp), MAX(m.name), COUNT(DISTINCT r.status)',
  'SUM(DIV(r.status, 100)), AVG(LN(m.ms + 5)), MAX(SAFE_DIVIDE(60, m.ms + 0))',
  'COUNTIF(MOD(r.status, 100) = 4), COUNT(NULLIF(ABS(m.ms + 0), 3)), SUM(IFNULL(m.ms + 0, 1))',
  'ANY_VALUE(m.name), APPROX_COUNT_DISTINCT(m.ms), LOGICAL_OR(r.status >= 500)',
];

const CONDITIONS = [
  'TRUE',
  "t.project = 'a'",
  "t.project = 'b' AND t.timestamp >= '2026-01-15 10:59:30'",
  "t.project = 'a' AND m.name = 'x'",
  'r.status < 400',
];

const queries = fc
  .tuple(fc.constantFrom(...KEYS), fc.constantFrom(...AGGREGATES), fc.constantFrom(...CONDITIONS))
  .map(([keys, aggregates, condition]) => {
    const columns = [...splitAtTop(keys), ...splitAtTop(aggregates)];
    const list = columns.map((column, index) => `${column} AS c${index}`).join(', ');
    const groupBy = splitAtTop(keys).map((_, index) => `c${index}`);
    return `SELECT ${list} FROM ${RECORDS} WHERE ${condition} GROUP BY ${groupBy.join(', ')}`;
  });

/** Parts between commas that are in no brackets. */
function splitAtTop(text: string): string[] {
  const parts: string[] = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}

test('law 5: groupings over columns where they lie give what rows one by one do', () => {
  fc.assert(
    fc.property(data, fc.array(queries, { minLength: 4, maxLength: 4 }), (events, texts) => {
      const open = segmentsOfEvents(events, 0);
      const sealed = segmentsOfEvents(events, events.length);
      for (const sql of texts) {
        const wanted = engineJson(sql, open, 'optimized');
        equal(engineJson(sql, sealed, 'optimized'), wanted, sql);
        equal(fragmentedJson(sql, segmentsOfEvents(events, events.length >> 1)), wanted, sql);
      }
    }),
    { numRuns: runsOf(20) },
  );
});

test('each of these queries can be run', () => {
  for (const keys of KEYS) {
    for (const aggregates of AGGREGATES) {
      const columns = [...splitAtTop(keys), ...splitAtTop(aggregates)];
      const list = columns.map((column, index) => `${column} AS c${index}`).join(', ');
      const sql = `SELECT ${list} FROM ${RECORDS} GROUP BY ${splitAtTop(keys).map((_, i) => `c${i}`)}`;
      equal(engineJson(sql, segmentsOfEvents([], 0), 'optimized'), '[]', sql);
    }
  }
});
