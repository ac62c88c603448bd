import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DISTINCT_FED_MAX } from '../../engine/aggregate/distinct.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import type { TestEvent } from '../column/batch-of.ts';
import { engineJson, fragmentedJson, segmentsOfEvents } from '../random-sql/engine-answer.ts';

/** More values than are handed on at a time. */
const EVENT_COUNT = 12_000;
const CHECKPOINTS_MAX = 10_000;
const GROUPS = ['a', 'b', 'c'];

type Row = { readonly k: string; readonly n: number | null; readonly t: string | null };

function randomRows(random: Random): readonly Row[] {
  return Array.from({ length: EVENT_COUNT }, () => ({
    k: GROUPS[random.below(GROUPS.length)]!,
    n: random.below(10) === 0 ? null : random.below(EVENT_COUNT),
    t: random.below(10) === 0 ? null : `text ${random.below(EVENT_COUNT)}`,
  }));
}

function eventsOf(rows: readonly Row[]): readonly TestEvent[] {
  return rows.map((metadata, row) => ({
    timestampUs: 1_768_478_400_000_000 + 1000 * row,
    metadata,
  }));
}

/** What each text is expected to give of the rows of one group, as plain loops have it. */
const TEXTS: readonly (readonly [sql: string, expected: (rows: readonly Row[]) => unknown])[] = [
  ['COUNT(DISTINCT m.n)', (rows) => numbersOf(rows).length],
  ['COUNT(DISTINCT m.t)', (rows) => textsOf(rows).length],
  [`COUNT(DISTINCT CONCAT(m.t, '!'))`, (rows) => textsOf(rows).length],
  ['SUM(DISTINCT m.n)', (rows) => sumOf(numbersOf(rows))],
  ['AVG(DISTINCT m.n)', (rows) => sumOf(numbersOf(rows)) / numbersOf(rows).length],
  ['COUNTIF(DISTINCT m.n > 5)', () => 1],
  [
    `STRING_AGG(DISTINCT CAST(m.t AS STRING), ',' ORDER BY CAST(m.t AS STRING))`,
    (rows) => textsOf(rows).toSorted().join(),
  ],
  [
    'ARRAY_AGG(DISTINCT m.n IGNORE NULLS ORDER BY m.n)',
    (rows) => numbersOf(rows).toSorted((left, right) => left - right),
  ],
];

test('aggregates of distinct values are the same open, sealed, by segments and by rows', () => {
  const rows = randomRows(new Random(11));
  assert.ok(numbersOf(rows).length > 0.5 * DISTINCT_FED_MAX);
  const events = eventsOf(rows);
  const forms = [0, EVENT_COUNT / 2, EVENT_COUNT].map((sealedCount) =>
    segmentsOfEvents(events, sealedCount),
  );
  const select = `SELECT m.k AS k, ${TEXTS.map(([sql], index) => `${sql} AS c${index}`).join(', ')}`;
  const sql = `${select} FROM logs, UNNEST(metadata) AS m GROUP BY k ORDER BY k`;
  const expected = GROUPS.map((k) => {
    const ofGroup = rows.filter((row) => row.k === k);
    return [k, ...TEXTS.map(([, of]) => of(ofGroup))];
  });
  for (const segments of forms) {
    for (const json of [
      engineJson(sql, segments, 'optimized', CHECKPOINTS_MAX),
      engineJson(sql, segments, 'plain', CHECKPOINTS_MAX),
      fragmentedJson(sql, segments, 'segments', CHECKPOINTS_MAX),
      fragmentedJson(sql, segments, 'rows', CHECKPOINTS_MAX),
    ]) {
      assert.ok(json !== undefined && json !== 'error', json);
      const found = (JSON.parse(json) as object[]).map((row) => Object.values(row));
      assert.deepEqual(found, expected);
    }
  }
});

function numbersOf(rows: readonly Row[]): readonly number[] {
  return [...new Set(rows.flatMap(({ n }) => n ?? []))];
}

function textsOf(rows: readonly Row[]): readonly string[] {
  return [...new Set(rows.flatMap(({ t }) => t ?? []))];
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
