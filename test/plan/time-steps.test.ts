import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  DATE,
  DATETIME,
  INT64,
  type SqlType,
  STRING,
  TIMESTAMP,
} from '../../engine/column/type.ts';
import { evaluateConstant } from '../../engine/plan/evaluate.ts';
import type { Expression } from '../../engine/plan/expression.ts';
import { optimize } from '../../engine/plan/optimize/optimize.ts';
import { timeStepsOf } from '../../engine/plan/optimize/scan-scope.ts';
import { planText } from '../../engine/plan/plan-text.ts';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';

const DAY_US = 86_400_000_000;

const timestamp: Expression = { op: 'column', type: TIMESTAMP, id: 1 };

function call(
  name: string,
  type: SqlType,
  ...parts: readonly string[]
): (time: Expression) => Expression {
  const literals = parts.map((value): Expression => ({ op: 'literal', type: STRING, value }));
  return (time) => ({ op: 'call', name, type, arguments: [time, ...literals] });
}

const STEPS: readonly ((time: Expression) => Expression)[] = [
  (time) => time,
  (time) => ({ op: 'cast', type: DATE, input: time, safe: false }),
  call('date', DATE),
  call('datetime', DATETIME, 'UTC'),
  ...['MILLISECOND', 'HOUR', 'DAY', 'WEEK', 'WEEK(FRIDAY)', 'ISOWEEK'].map((part) =>
    call('timestamp_trunc', TIMESTAMP, part),
  ),
  ...['MONTH', 'QUARTER', 'YEAR', 'ISOYEAR'].map((part) =>
    call('timestamp_trunc', TIMESTAMP, part),
  ),
];

test('a step of the time is at least a value exactly from the first time on that is told', () => {
  const us = fc.integer({ min: -40 * 366 * DAY_US, max: 200 * 366 * DAY_US });
  const near = fc.integer({ min: -2, max: 2 });
  fc.assert(
    fc.property(fc.constantFrom(...STEPS), us, us, near, (step, oneUs, otherUs, offset) => {
      const at = (timeUs: number) =>
        evaluateConstant(step({ op: 'literal', type: TIMESTAMP, value: timeUs })) as number;
      const value = at(oneUs) + offset;
      const firstUs = timeStepsOf(step(timestamp))!.firstUs(value)!;
      for (const timeUs of [oneUs, otherUs, firstUs - 1, firstUs]) {
        assert.equal(at(timeUs) >= value, timeUs >= firstUs);
      }
    }),
  );
});

test('what may not rise with the time is no step', () => {
  assert.equal(timeStepsOf(call('date', DATE, 'Europe/Berlin')(timestamp)), undefined);
  assert.equal(
    timeStepsOf(call('timestamp_trunc', TIMESTAMP, 'HOUR', 'Europe/Berlin')(timestamp)),
    undefined,
  );
  assert.equal(timeStepsOf(call('unix_seconds', INT64)(timestamp)), undefined);
});

test('conditions on the time of an event become the window of the scan', () => {
  const table = [
    ["timestamp > '2026-01-15T05:00:00.000Z'", '[2026-01-15 05:00:00.000001, )'],
    ["timestamp >= '2026-01-15 05:00:00'", '[2026-01-15 05:00:00, )'],
    ["timestamp < TIMESTAMP('2026-01-15', '+01:00')", '[, 2026-01-14 23:00:00)'],
    ["timestamp < PARSE_TIMESTAMP('%F', '2026-01-15')", '[, 2026-01-15 00:00:00)'],
    ['timestamp > CURRENT_TIMESTAMP() - INTERVAL 1 HOUR', '[2026-01-15 11:00:00.000001, )'],
    ["DATE(timestamp) = '2026-01-15'", '[2026-01-15 00:00:00, 2026-01-16 00:00:00)'],
    ["DATE(timestamp) > '2026-01-15'", '[2026-01-16 00:00:00, )'],
    ["'2026-01-15' >= CAST(timestamp AS DATE)", '[, 2026-01-16 00:00:00)'],
    ['DATE(timestamp) = CURRENT_DATE()', '[2026-01-15 00:00:00, 2026-01-16 00:00:00)'],
    ["TIMESTAMP_TRUNC(timestamp, HOUR) > '2026-01-15 10:30:00'", '[2026-01-15 11:00:00, )'],
    [
      "TIMESTAMP_TRUNC(timestamp, MONTH) = '2026-01-01'",
      '[2026-01-01 00:00:00, 2026-02-01 00:00:00)',
    ],
  ] as const;
  const sources = [{ name: 'logs', projectPath: ['project'] }];
  const nowUs = Date.UTC(2026, 0, 15, 12) * 1000;
  for (const [condition, window] of table) {
    const query = parseQuery(`SELECT id FROM logs WHERE ${condition}`);
    const bound = bindQuery(query, { sources, parameters: [] });
    const plan = optimize(bound, { parameters: new Map(), nowUs, sources, rowsMax: 100 });
    assert.ok(planText(plan).includes(`scan \`logs\` ${window}:`), planText(plan));
    assert.ok(!planText(plan).includes('filter'), condition);
  }
});
