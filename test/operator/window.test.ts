import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { NO_MODIFIERS } from '../../engine/aggregate/aggregate-function.ts';
import { aggregateFunctionNames, findAggregateFunction } from '../../engine/aggregate/registry.ts';
import { INT64, STRING } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { compareByKey } from '../../engine/function/comparison.ts';
import type { Sink } from '../../engine/operator/sink.ts';
import type { OrderKey } from '../../engine/operator/sort.ts';
import {
  type WindowCallOptions,
  type WindowOptions,
  WindowSink,
} from '../../engine/operator/window.ts';
import type { Bound, Frame } from '../../engine/operator/window-frame.ts';
import { findWindowFunction } from '../../engine/operator/window-functions.ts';
import { chunkOf, column, expectRows, type Row, rowsOf } from './harness.ts';

const asc = (index: number): OrderKey => ({
  expression: column(index),
  descending: false,
  nullsFirst: true,
});

/** A window over rows of two columns, the calls' results behind them. */
function window(calls: readonly WindowCallOptions[], options: Partial<WindowOptions> = {}) {
  const make = (_: Sink) =>
    new WindowSink({
      partitionBy: [],
      orderBy: [],
      ties: [],
      calls,
      width: 2,
      checkpoint: () => {},
      ...options,
    });
  return { width: 2 + calls.length, make };
}

function called(
  name: string,
  index?: number,
  options: { readonly frame?: Frame; readonly ignoresNulls?: boolean } = {},
): WindowCallOptions {
  const { frame, ignoresNulls = false } = options;
  const inputs = index === undefined ? [] : [column(index)];
  const kernel = findWindowFunction(name)?.prepare([]);
  if (kernel !== undefined) {
    return { arguments: inputs, frame, run: { kind: 'function', kernel, ignoresNulls } };
  }
  const found = findAggregateFunction(name);
  const types = inputs.map(() => INT64);
  const overload = found?.overloads.find(({ parameters }) => parameters.length === inputs.length);
  assert.ok(overload !== undefined);
  const create = () => overload.create(types, [], NO_MODIFIERS);
  return {
    arguments: inputs,
    frame,
    run: { kind: 'aggregate', create, type: INT64, collects: false },
  };
}

const BY_FIRST = { partitionBy: [{ expression: column(0), type: STRING }], orderBy: [asc(1)] };

test('rows stay as they came and are numbered within their partitions', () => {
  expectRows(
    window([called('row_number'), called('rank'), called('dense_rank')], BY_FIRST),
    [
      ['b', 2],
      ['a', 5],
      ['b', 1],
      ['b', 1],
      ['a', null],
    ],
    [
      ['b', 2, 3, 3, 2],
      ['a', 5, 2, 2, 2],
      ['b', 1, 1, 1, 1],
      ['b', 1, 2, 1, 1],
      ['a', null, 1, 1, 1],
    ],
  );
});

test('what decides between equal rows does not keep them from being peers', () => {
  const descending = { ...asc(1), descending: true, nullsFirst: false };
  expectRows(
    window([called('row_number'), called('rank'), called('count')], {
      orderBy: [asc(0)],
      ties: [descending],
    }),
    [
      ['a', 1],
      ['a', 2],
      ['b', 3],
    ],
    [
      ['a', 1, 2, 1, 2],
      ['a', 2, 1, 1, 2],
      ['b', 3, 3, 3, 3],
    ],
  );
});

test('no rows give no rows', () => {
  expectRows(window([called('row_number'), called('sum', 1)]), [], []);
});

test('NULLs that are left out do not count as values of a frame', () => {
  const rows: Row[] = [
    ['a', 1],
    ['b', null],
    ['c', 3],
  ];
  const frame: Frame = {
    unit: 'rows',
    start: { kind: 'preceding', amount: 1 },
    end: { kind: 'current-row' },
  };
  expectRows(
    window(
      [called('first_value', 1, { frame }), called('last_value', 1, { frame, ignoresNulls: true })],
      { orderBy: [asc(0)] },
    ),
    rows,
    [
      ['a', 1, 1, 1],
      ['b', null, 1, 1],
      ['c', 3, null, 3],
    ],
  );
});

const AMOUNT = fc.integer({ min: 0, max: 4 });
const BOUND: fc.Arbitrary<Bound> = fc.oneof(
  fc.constantFrom<Bound>(
    { kind: 'unbounded-preceding' },
    { kind: 'current-row' },
    { kind: 'unbounded-following' },
  ),
  AMOUNT.map((amount): Bound => ({ kind: 'preceding', amount })),
  AMOUNT.map((amount): Bound => ({ kind: 'following', amount })),
);
const FRAME: fc.Arbitrary<Frame> = fc.record({
  unit: fc.constantFrom('rows', 'range'),
  start: BOUND.filter(({ kind }) => kind !== 'unbounded-following'),
  end: BOUND.filter(({ kind }) => kind !== 'unbounded-preceding'),
});
const KEY = fc.option(fc.integer({ min: 0, max: 6 }), { nil: null });
const ROWS = fc.array(fc.tuple(fc.constantFrom('a', 'b'), KEY), { maxLength: 12 });

/** The rows that the row `at` sees, among its partition in order: by looking at each. */
function inFrame(partition: readonly Row[], at: number, frame: Frame, key: OrderKey): Row[] {
  const [, value] = partition[at]!;
  const compare = (left: SqlValue, right: SqlValue) => compareByKey(key, left, right);
  const shifted = (bound: Bound) => {
    if (!('amount' in bound) || typeof value !== 'number') return value!;
    const sign = (bound.kind === 'preceding') === key.descending ? 1 : -1;
    return value + sign * Number(bound.amount);
  };
  const rowOf = (bound: Bound) => {
    if (!('amount' in bound)) return at;
    return bound.kind === 'preceding' ? at - Number(bound.amount) : at + Number(bound.amount);
  };
  return partition.filter((row, index) => {
    const isAfterStart =
      frame.start.kind === 'unbounded-preceding' ||
      (frame.unit === 'rows'
        ? index >= rowOf(frame.start)
        : compare(row[1]!, shifted(frame.start)) >= 0);
    const isBeforeEnd =
      frame.end.kind === 'unbounded-following' ||
      (frame.unit === 'rows'
        ? index <= rowOf(frame.end)
        : compare(row[1]!, shifted(frame.end)) <= 0);
    return isAfterStart && isBeforeEnd;
  });
}

test('a frame holds the rows that its bounds say, however it is computed', () => {
  fc.assert(
    fc.property(ROWS, FRAME, fc.boolean(), (rows, frame, descending) => {
      const key = { ...asc(1), descending, nullsFirst: !descending };
      const calls = [called('count', undefined, { frame }), called('sum', 1, { frame })];
      const options = { partitionBy: BY_FIRST.partitionBy, orderBy: [key] };
      const expected = rows.map((row) => {
        const partition = rows
          .filter((each) => each[0] === row[0])
          .sort((left, right) => compareByKey(key, left[1], right[1]));
        const seen = inFrame(partition, partition.indexOf(row), frame, key);
        const values = seen.flatMap(([, value]) => (value === null ? [] : [Number(value)]));
        const sum = values.length === 0 ? null : values.reduce((total, each) => total + each, 0);
        return [...row, seen.length, sum];
      });
      expectRows(window(calls, options), rows, expected);
    }),
    { numRuns: 500 },
  );
});

test('a frame that grows adds each row once', () => {
  const rowCount = 3000;
  let added = 0;
  const create = () => ({
    update: (_: Int32Array, count: number) => {
      added += count;
    },
    combine: () => {},
    partial: () => {},
    finalize: () => added,
  });
  const run = { kind: 'aggregate', create, type: INT64, collects: false } as const;
  const frames: Frame[] = [
    { unit: 'rows', start: { kind: 'unbounded-preceding' }, end: { kind: 'current-row' } },
    { unit: 'rows', start: { kind: 'current-row' }, end: { kind: 'unbounded-following' } },
  ];
  for (const frame of frames) {
    added = 0;
    const { make } = window([{ arguments: [], frame, run }], { orderBy: [asc(1)] });
    const sink = make({ push: () => true });
    const rows = Array.from({ length: rowCount }, (_, index): Row => ['a', index]);
    sink.push(chunkOf(rows));
    sink.emit({ push: () => true });
    assert.equal(added, rowCount);
  }
});

test('an aggregate gives the same whether a frame grew or was made anew', () => {
  const preceding = (amount: number): Bound => ({ kind: 'preceding', amount });
  const following = (amount: number): Bound => ({ kind: 'following', amount });
  const here: Bound = { kind: 'current-row' };
  const pairs: readonly (readonly [Frame, Frame])[] = [
    [
      { unit: 'rows', start: { kind: 'unbounded-preceding' }, end: here },
      { unit: 'rows', start: preceding(100), end: here },
    ],
    [
      { unit: 'rows', start: here, end: { kind: 'unbounded-following' } },
      { unit: 'rows', start: here, end: following(100) },
    ],
  ];
  const names = aggregateFunctionNames().filter((name) => takesOneNumber(name));
  assert.ok(names.length > 8, String(names));
  for (const name of names) {
    fc.assert(
      fc.property(fc.array(KEY, { maxLength: 20 }), (values) => {
        const rows = values.map((value, index): Row => [index, value]);
        for (const pair of pairs) {
          const answers = pair.map((frame) => answersOf(called(name, 1, { frame }), rows));
          assert.deepEqual(answers[0], answers[1], name);
        }
      }),
      { numRuns: 30 },
    );
  }
});

function takesOneNumber(name: string): boolean {
  const found = findAggregateFunction(name);
  return (
    found?.modifiers?.includes('order') !== true &&
    found?.overloads.some(
      ({ parameters: [first], parameters, constants = [] }) =>
        parameters.length === 1 &&
        constants.length === 0 &&
        (typeof first === 'object' ? first.kind === 'INT64' : first !== 'list'),
    ) === true
  );
}

function answersOf(call: WindowCallOptions, rows: readonly Row[]): SqlValue[] {
  const sink = window([call], { orderBy: [asc(0)] }).make({ push: () => true });
  sink.push(chunkOf(rows, 2));
  const collected: SqlValue[] = [];
  sink.emit({
    push: (chunk) => {
      collected.push(...rowsOf(chunk, 3).map((row) => row[2]!));
      return true;
    },
  });
  return collected;
}
