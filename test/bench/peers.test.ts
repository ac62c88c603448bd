import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test from 'node:test';
import { outcomesOf } from '../../bench/peers/bar.ts';
import { rowsDifference } from '../../bench/peers/comparison.ts';
import { rankOutcomes } from '../../bench/peers/float-rank.ts';
import type { MeasuredResult } from '../../bench/peers/result.ts';
import { timeCalls } from '../../bench/peers/timing.ts';

test('answers differ when a number, a text, a row or a column does', () => {
  const wanted = [
    [1, 'a', null],
    [2, 'b', 0.1 + 0.2],
  ];
  equal(
    rowsDifference(
      [
        [1, 'a', null],
        [2, 'b', 0.3],
      ],
      wanted,
      undefined,
    ),
    undefined,
  );
  equal(rowsDifference([[1, 'a', null]], wanted, undefined), '1 and 2 rows');
  for (const other of [
    [2, 'b', 0.31],
    [2, 'c', 0.3],
    [3, 'b', 0.3],
    [2, 'b', null],
    [2, 'b'],
  ]) {
    match(rowsDifference([[1, 'a', null], other], wanted, undefined) ?? '', /^row 1: /);
  }
});

test('metadata is equal as a record and as a list with that record, with any spacing', () => {
  equal(rowsDifference([['{"a": 1}']], [['[{"a":1}]']], undefined), undefined);
  ok(rowsDifference([['{"a": 2}']], [['[{"a":1}]']], undefined) !== undefined);
});

test('quantiles of a sketch may deviate if there are many values', () => {
  const sketched = { quantiles: new Set([0]), count: 1 };
  equal(rowsDifference([[104, 10_000]], [[100, 10_000]], sketched), undefined);
  ok(rowsDifference([[120, 10_000]], [[100, 10_000]], sketched) !== undefined);
  equal(rowsDifference([[120, 10]], [[100, 10]], sketched), undefined);
  ok(rowsDifference([[104, 10_000]], [[100, 10_000]], undefined) !== undefined);
});

function resultWith(name: string, times: Readonly<Record<string, number>>): MeasuredResult {
  const answers = Object.entries(times).map(([question, p50]) => ({
    ...{ name: question, rows: [] },
    timing: { min: p50, p50, p99: p50, callCount: 1 },
  }));
  return { name, version: '', quantiles: 'exact', counts: {}, answers };
}

test('a goal is compared with the best engine, a named engine, or milliseconds', () => {
  const outcomes = outcomesOf([
    resultWith('weir-engine-scanned', {
      'invocation-stats 7day, hot': 2,
      'invocation-stats 7day, tiny': 0.03,
      'logs.all, hot': 1,
    }),
    resultWith('postgres', { 'invocation-stats 7day, hot': 12, 'logs.all, hot': 0.1 }),
    resultWith('sqlite', { 'invocation-stats 7day, hot': 50, 'logs.all, hot': 0.9 }),
  ]);
  deepEqual(
    outcomes.map(({ what, wanted, got, isReached }) => [what, wanted, got, isReached]),
    [
      ['invocation-stats 7day, hot', '≥ 6 ×', '6 ×', true],
      ['invocation-stats 7day, tiny', '≤ 0.02 ms', '0.03 ms', false],
      ['logs.all, hot', '≥ 0.8 × sqlite', '0.9 ×', true],
    ],
  );
});

test('the ten expressions have an aim for their geometric mean, and one each', () => {
  const [fast, slow] = ['api-counts daily, expression: a', 'api-counts daily, expression: b'];
  const outcomes = outcomesOf([
    resultWith('weir-engine-scanned', { [fast!]: 1, [slow!]: 1 }),
    resultWith('duckdb', { [fast!]: 10, [slow!]: 0.9 }),
  ]);
  deepEqual(
    outcomes.map(({ got, isReached }) => [got, isReached]),
    [
      ['3 ×', true],
      ['10 ×', true],
      ['0.9 ×', false],
    ],
  );
});

test('the rank of quantiles is compared with an engine that sorts all numbers', () => {
  const withQuantiles = (name: string, p95: number, p99: number): MeasuredResult => ({
    ...resultWith(name, {}),
    answers: [{ name: 'quantiles of floats', rows: [[5_000, p95, p99]], timing: null }],
  });
  const [p95, p99] = [299.6, 460.5];
  const outcomeOf = (ownP99: number) =>
    rankOutcomes([
      withQuantiles('weir-engine-scanned', p95, ownP99),
      withQuantiles('sqlite', p95, p99),
    ])[0];
  equal(outcomeOf(p99)?.isReached, true);
  // At this place of the distribution ten more are a rank of 0.095 % more, eleven 0.104 %.
  equal(outcomeOf(p99 + 10)?.isReached, true);
  equal(outcomeOf(p99 + 11)?.isReached, false);
  deepEqual(rankOutcomes([withQuantiles('weir-engine-scanned', p95, p99)]), []);
  deepEqual(rankOutcomes([withQuantiles('sqlite', p95, p99)]), []);
});

test('a call is timed at least as often as the size requires, and not more often', async () => {
  let calls = 0;
  const ask = () => Promise.resolve(calls++);
  const often = { warmUpMs: 0, measuringMs: 60_000, callCountMax: 7, callCountMin: 1 };
  equal((await timeCalls(ask, often)).callCount, 7);
  equal(calls, 8);
  calls = 0;
  // What took long is not asked to warm up.
  await timeCalls(ask, often, 2_000);
  equal(calls, 7);
  calls = 0;
  // … and what took very long is not asked again.
  deepEqual(await timeCalls(ask, often, 6_000), {
    min: 6_000,
    p50: 6_000,
    p99: 6_000,
    callCount: 1,
  });
  equal(calls, 0);
  const seldom = { warmUpMs: 0, measuringMs: 0, callCountMax: 7, callCountMin: 3 };
  equal((await timeCalls(ask, seldom)).callCount, 3);
});
