import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { mergeSegments } from '../../engine/column/merge-segments.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import type { SegmentHandle } from '../../engine/column/segment.ts';
import { readSegment } from '../../engine/column/segment-reader.ts';
import { MemoRuns } from '../../engine/memo/memo-runs.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { sealedHandle } from '../memo/sealed-handle.ts';
import { checkCases } from '../random-sql/check-cases.ts';
import {
  engineJson,
  type HandlesOf,
  rememberingJson,
  type SegmentsOf,
} from '../random-sql/engine-answer.ts';
import type { Query } from '../random-sql/query.ts';
import { render } from '../random-sql/render.ts';
import { budgetOf } from '../support/budget.ts';
import { assertCovered } from '../support/covered-property.ts';

const DAY_US = 86_400_000_000;
const START_US = Date.parse('2026-01-10T00:00:00Z') * 1000;

let segmentCount = 2_000_000_000;

/** Events in some sealed segments, each of a part of them, and the last part open. */
function handlesOf(events: readonly TestEvent[], cuts: readonly number[]): HandlesOf {
  const bounds = [0, ...cuts.toSorted((a, b) => a - b), events.length];
  const parts = bounds.slice(1).map((to, part) => {
    const segment = new OpenSegment({ id: ++segmentCount, arrivalBase: bounds[part]! });
    const rows = events.slice(bounds[part]!, to);
    segment.append(batchOf(rows), 0, rows.length);
    segment.publish();
    return segment;
  });
  const sealed: SegmentHandle[] = parts
    .slice(0, -1)
    .flatMap((part) => sealSegment(part.handle(), { partitionUs: DAY_US }).map(newHandle));
  return (scan) => [...sealed, parts.at(-1)!.handle(scan.projectKey)];
}

function newHandle(buffer: SharedArrayBuffer) {
  return sealedHandle(buffer, ++segmentCount);
}

function readersOf(handles: HandlesOf): SegmentsOf {
  return (scan) => handles(scan).map(readSegment);
}

/** Times on edges of buckets, and beside them. */
const TIME = fc
  .tuple(
    fc.integer({ min: 0, max: 4 * 24 }),
    fc.constantFrom(-1, 0, 0, 1, 1_800_000_000, 3_599_999_999),
  )
  .map(([hour, more]) => START_US + hour * 3_600_000_000 + more);

const EVENT: fc.Arbitrary<TestEvent> = fc.record({
  id: fc.uuid(),
  timestampUs: TIME,
  project: fc.constantFrom('p', 'p', 'q', null),
  metadata: fc.record({
    n: fc.constantFrom(0, 1, 1, 7, 70_000, 0.5, 'x', true, null, 2n ** 60n),
    s: fc.constantFrom('a', 'b', 'c', 'd', null),
  }),
});

const KEYS: readonly (readonly string[])[] = [
  ['TIMESTAMP_TRUNC(t.timestamp, HOUR)'],
  ['TIMESTAMP_TRUNC(t.timestamp, DAY)'],
  ['TIMESTAMP_TRUNC(t.timestamp, WEEK)'],
  ["TIMESTAMP_TRUNC(t.timestamp, DAY, 'Europe/Berlin')"],
  ['DATE(t.timestamp)'],
  ['t.timestamp'],
  ['m.s', 'TIMESTAMP_TRUNC(t.timestamp, HOUR)'],
  ["IF(m.s = 'a', TIMESTAMP_TRUNC(t.timestamp, HOUR), TIMESTAMP_TRUNC(t.timestamp, DAY))"],
  ['m.s'],
  ['t.project'],
];

const CALLS: readonly string[] = [
  'COUNT(*), COUNTIF(m.s IS NULL), COUNT(DISTINCT m.s)',
  'MIN(m.n), MAX(m.n), ANY_VALUE(m.s), MIN(t.timestamp)',
  'SUM(m.n + 0), AVG(m.n + 0), STDDEV(m.n + 0), SUM(LENGTH(m.s))',
  'APPROX_QUANTILES(m.n, 4), APPROX_COUNT_DISTINCT(m.s), APPROX_TOP_COUNT(m.s, 2)',
  'ARRAY_AGG(m.s IGNORE NULLS ORDER BY t.timestamp, t.id), STRING_AGG(m.s ORDER BY t.id)',
  "ANY_VALUE(m.s HAVING MAX t.timestamp), BIT_XOR(LENGTH(m.s)), LOGICAL_OR(m.s = 'a')",
  'COUNT(*), SUM(COUNT(*)) OVER ()',
  'IF(MIN(m.n) > 0, SUM(7 / m.n), -1), CASE WHEN COUNT(*) > 1 THEN 0 ELSE MAX(7 / m.n) END',
];

const WINDOW = fc.tuple(
  fc.option(TIME),
  fc.option(TIME),
  fc.constantFrom('>=', '>'),
  fc.constantFrom('<', '<='),
);

/** Texts of one fragment with windows of their own. */
function queriesIn(window: typeof WINDOW): fc.Arbitrary<readonly string[]> {
  return fc
    .record({
      keys: fc.constantFrom(...KEYS),
      calls: fc.constantFrom(...CALLS),
      windows: fc.array(window, { minLength: 2, maxLength: 5 }),
      project: fc.constantFrom('p', 'q', 'absent', undefined),
      having: fc.constantFrom('', 'HAVING COUNT(*) > 1'),
    })
    .map(({ keys, calls, windows, project, having }) =>
      windows.map(([one, other, above, below]) => {
        const isOrdered = one === null || other === null || one <= other;
        const [start, end] = isOrdered ? [one, other] : [other, one];
        const where = [
          ...(start === null ? [] : [`t.timestamp ${above} TIMESTAMP_MICROS(${start})`]),
          ...(end === null ? [] : [`t.timestamp ${below} TIMESTAMP_MICROS(${end})`]),
          ...(project === undefined ? [] : [`t.project = '${project}'`]),
        ].join(' AND ');
        const group = keys.map((_, index) => index + 1).join(', ');
        return (
          `SELECT ${keys.join(', ')}, ${calls} FROM logs AS t CROSS JOIN UNNEST(t.metadata) AS m ` +
          `${where === '' ? '' : `WHERE ${where}`} GROUP BY ${group} ${having}`
        );
      }),
    );
}

const QUERIES = queriesIn(WINDOW);

/** … most of them over all time. */
const OPEN_QUERIES = queriesIn(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<[null, null, '>=', '<']>([null, null, '>=', '<']) },
    { weight: 1, arbitrary: WINDOW },
  ),
);

test('law 4: what is remembered of segments never changes an answer, whatever has left the memory', async (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  let rowsFromMemo = 0;
  let cutCount = 0;
  let togetherCount = 0;
  const property = fc.property(
    fc.array(EVENT, { minLength: 20, maxLength: 60 }),
    fc.array(fc.integer({ min: 10, max: 60 }), { minLength: 1, maxLength: 3 }),
    fc.array(QUERIES, { minLength: 1, maxLength: 3 }),
    fc.record({
      bytesMax: fc.constantFrom(0, 20_000, 10_000_000, 10_000_000),
      rowsMin: fc.constantFrom(1, 5, 9),
      bytesPerRowMax: fc.constantFrom(1000, Infinity, Infinity),
    }),
    (events, cuts, queries, limits) => {
      const handles = handlesOf(
        events,
        cuts.map((cut) => Math.min(cut, events.length)),
      );
      const memo = new MemoRuns(limits);
      for (const sql of [...queries, ...queries.map((same) => same.toReversed())].flat()) {
        const wanted = engineJson(sql, readersOf(handles), 'optimized');
        const got = rememberingJson(sql, handles, memo);
        if (got === undefined) continue;
        assert.equal(got.json, wanted, sql);
        rowsFromMemo += got.coverage.rowCount;
        togetherCount += got.coverage.segmentCount > got.coverage.partials.length ? 1 : 0;
        if (got.coverage.partials.some(({ wanted }) => wanted !== undefined)) cutCount += 1;
        assert.ok(memo.stats().bytes <= limits.bytesMax);
      }
    },
  );
  const met = (): string =>
    `${rowsFromMemo} rows from memo, ${cutCount} answers of a part of a state, ${togetherCount} of several segments together`;
  const isEnough = (): boolean => rowsFromMemo > 300 && cutCount > 2 && togetherCount > 2;
  await assertCovered(property, { seed, numRuns: 60, isEnough, met });
  context.diagnostic(met());
});

test('law 4: one state of all whole segments never changes an answer, whatever is sealed meanwhile', async (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  let rowsFromMemo = 0;
  let besideCount = 0;
  await assertCovered(
    fc.property(
      fc.array(EVENT, { minLength: 20, maxLength: 60 }),
      fc.array(fc.integer({ min: 10, max: 60 }), { minLength: 2, maxLength: 5 }),
      fc.array(QUERIES, { minLength: 1, maxLength: 3 }),
      (events, cuts, queries) => {
        const all = handlesOf(
          events,
          cuts.map((cut) => Math.min(cut, events.length)),
        );
        const memo = new MemoRuns();
        for (const left of [0, 0, 1]) {
          // Now and then the first segment is no more.
          const handles: HandlesOf = (scan) => all(scan).slice(left);
          for (const sql of queries.flat()) {
            const wanted = engineJson(sql, readersOf(handles), 'optimized');
            const got = rememberingJson(sql, handles, memo, 'small');
            if (got === undefined) continue;
            assert.equal(got.json, wanted, sql);
            rowsFromMemo += got.coverage.rowCount;
            const { partials, pieces } = got.coverage;
            if (partials.length > 0 && pieces.length > 1) besideCount += 1;
          }
        }
      },
    ),
    {
      seed,
      numRuns: 60,
      isEnough: () => rowsFromMemo > 300 && besideCount > 2,
      met: () => `${rowsFromMemo} rows from memo, ${besideCount} answers with cut segments`,
    },
  );
});

/** An open segment that these events come to one after the other. */
class GrowingSegment {
  readonly #events: readonly TestEvent[];
  readonly #segment = new OpenSegment({ id: ++segmentCount, arrivalBase: 0 });
  #rowCount = 0;

  constructor(events: readonly TestEvent[]) {
    this.#events = events;
  }

  growTo(rowCount: number): void {
    const rows = this.#events.slice(this.#rowCount, rowCount);
    this.#segment.append(batchOf(rows), 0, rows.length);
    this.#segment.publish();
    this.#rowCount = rowCount;
  }

  handles: HandlesOf = (scan) => [this.#segment.handle(scan.projectKey)];

  /** In one piece, whatever days its rows are of. */
  sealed() {
    const [buffer] = sealSegment(this.#segment.handle(), { partitionUs: 1000 * DAY_US });
    return newHandle(buffer!);
  }
}

test('law 4: what a segment has of those it was made of never changes an answer', async (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  let wholeCount = 0;
  await assertCovered(
    fc.asyncProperty(
      fc.array(EVENT, { minLength: 20, maxLength: 60 }),
      fc.integer({ min: 1, max: 59 }),
      OPEN_QUERIES,
      async (events, cut, queries) => {
        const memo = new MemoRuns({ rowsMin: 1, bytesPerRowMax: Infinity });
        const ask = (handles: HandlesOf): void => {
          for (const sql of queries) {
            const wanted = engineJson(sql, readersOf(handles), 'optimized');
            const got = rememberingJson(sql, handles, memo);
            if (got === undefined) continue;
            assert.equal(got.json, wanted, sql);
            if (got.coverage.pieces.length === 0) wholeCount += 1;
          }
        };
        const middle = Math.min(cut, events.length - 1);
        const parts = [events.slice(0, middle), events.slice(middle)].map((some) => {
          const open = new GrowingSegment(some);
          open.growTo(some.length);
          ask(open.handles);
          return { open, handle: open.sealed() };
        });
        for (const { open, handle } of parts) {
          const before = open.handles({ projectKey: undefined } as never)[0]!;
          await memo.inherit([before.content!], handle.content);
          memo.forget(before.content!);
          ask(() => [handle]);
        }
        const merged = newHandle(mergeSegments(parts.map(({ handle }) => handle.buffer)));
        const contents = parts.map(({ handle }) => handle.content);
        await memo.inherit(contents, merged.content);
        for (const content of contents) memo.forget(content);
        ask(() => [merged]);
      },
    ),
    {
      seed,
      numRuns: 25,
      isEnough: () => wholeCount > 50,
      met: () => `${wholeCount} answers without a look at any row`,
    },
  );
});

test('law 4: what is remembered of the first rows of an open segment never changes an answer, while more come', async (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  let rowsFromMemo = 0;
  let addedCount = 0;
  let besideCount = 0;
  let wholeCount = 0;
  const property = fc.property(
    fc.array(EVENT, { minLength: 20, maxLength: 80 }),
    fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 2, maxLength: 5 }),
    OPEN_QUERIES,
    fc.constantFrom(1, 4, 12),
    (events, ends, queries, rowsMin) => {
      const segment = new GrowingSegment(events);
      const memo = new MemoRuns({ rowsMin, bytesPerRowMax: Infinity });
      for (const end of ends.toSorted((a, b) => a - b)) {
        segment.growTo(Math.min(end, events.length));
        for (const sql of queries.flatMap((query) => [query, query])) {
          const wanted = engineJson(sql, readersOf(segment.handles), 'optimized');
          const got = rememberingJson(sql, segment.handles, memo);
          if (got === undefined) continue;
          assert.equal(got.json, wanted, sql);
          const { rowCount, pieces, partials } = got.coverage;
          rowsFromMemo += rowCount;
          if (pieces.some(({ growing }) => growing?.base !== undefined)) addedCount += 1;
          else if (partials.length > 0 && pieces.length > 0) besideCount += 1;
          else if (partials.length > 0) wholeCount += 1;
        }
      }
    },
  );
  const met = (): string =>
    `${rowsFromMemo} rows from memo, ${addedCount} states with rows added, ${besideCount} with rows beside, ${wholeCount} alone`;
  const isEnough = (): boolean =>
    rowsFromMemo > 300 && addedCount > 5 && besideCount > 2 && wholeCount > 10;
  await assertCovered(property, { seed, numRuns: 40, isEnough, met });
  context.diagnostic(met());
});

function isGrouped(query: Query): boolean {
  return render(query).includes('GROUP BY');
}

const QUERY_COUNT = budgetOf('WEIR_MEMO_QUERIES', { fast: 25, all: 60 });

test('law 4: random queries give the same with what others left in the memory', async (context) => {
  let rowsFromMemo = 0;
  await checkCases(
    context,
    { count: QUERY_COUNT, isMixed: true, filter: isGrouped },
    ({ query, events }) => {
      const sql = render(query);
      const handles = handlesOf(events, [Math.ceil(events.length / 2), events.length]);
      const memo = new MemoRuns({ rowsMin: 1, bytesPerRowMax: Infinity });
      const wanted = engineJson(sql, readersOf(handles), 'optimized');
      let rowCount = 0;
      for (let call = 0; call < 3; call++) {
        const got = rememberingJson(sql, handles, memo);
        if (got === undefined) continue;
        rowCount += got.coverage.rowCount;
        if (got.json !== wanted) return { wrong: `call ${call} ${got.json}, without ${wanted}` };
      }
      rowsFromMemo += rowCount;
      // More queries are made until enough rows came from memo.
      return { rowCount };
    },
  );
  context.diagnostic(`${rowsFromMemo} rows from memo`);
  assert.ok(rowsFromMemo > 0, `${rowsFromMemo} rows came from memo`);
});

test('a remembered state is as it was after it was used', () => {
  const events = fc.sample(EVENT, { numRuns: 60, seed: 7 });
  const handles = handlesOf(events, [40]);
  for (const calls of CALLS) {
    const memo = new MemoRuns({ rowsMin: 1, bytesPerRowMax: Infinity });
    const sql = `SELECT m.s, ${calls} FROM logs AS t CROSS JOIN UNNEST(t.metadata) AS m GROUP BY m.s`;
    rememberingJson(sql, handles, memo);
    const { partials } = rememberingJson(sql, handles, memo)!.coverage;
    assert.ok(partials.length > 0, calls);
    const before = deserialize(serialize(partials));
    for (let call = 0; call < 2; call++) rememberingJson(sql, handles, memo);
    assert.deepEqual(partials, before, calls);
  }
});
