import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { NO_MODIFIERS } from '../../engine/aggregate/aggregate-function.ts';
import { distinctState } from '../../engine/aggregate/distinct.ts';
import { findAggregateFunction } from '../../engine/aggregate/registry.ts';
import type { Chunk } from '../../engine/column/chunk.ts';
import type { SqlType } from '../../engine/column/type.ts';
import { DYNAMIC, FLOAT64, INT64 } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import type { AggregateOptions } from '../../engine/operator/aggregate.ts';
import { AggregateSink, GROUP_ORDER } from '../../engine/operator/aggregate.ts';
import { TopSink } from '../../engine/operator/sort.ts';
import { QueryError } from '../../engine/query-error.ts';
import { chunkOf, column, divisions, emittedRows, type Row, RowSink, rowsOf } from './harness.ts';

type Aggregate = AggregateOptions['aggregates'][number];

function call(name: string, type: SqlType, inputs: readonly number[] = []): Aggregate {
  const overload = findAggregateFunction(name)!.overloads.find(
    (candidate) => candidate.parameters.length === inputs.length,
  )!;
  return {
    arguments: inputs.map(column),
    type,
    create: () =>
      overload.create(
        inputs.map(() => type),
        [],
        NO_MODIFIERS,
      ),
  };
}

const key = (index: number) => ({ expression: column(index), type: DYNAMIC });

/**
 * Expects the groups in order, from one sink over one chunk or many, and from two sinks combined
 * either way round, their partial states sent as between threads.
 */
function expectGroups(
  options: AggregateOptions,
  rowsIn: readonly Row[],
  rowsOut: readonly Row[],
): void {
  const width = options.keys.length + options.aggregates.length;
  const feed = (chunks: readonly Chunk[]) => {
    const sink = new AggregateSink(options);
    for (const chunk of chunks) sink.push(chunk);
    return sink;
  };
  for (const chunks of divisions(rowsIn)) {
    assert.deepEqual(rowsOf(feed(chunks).finalize(), width), rowsOut);
    const half = chunks.length >> 1;
    const partials = [chunks.slice(0, half), chunks.slice(half)].map((part) =>
      structuredClone(feed(part).partial()),
    );
    for (const order of [partials, partials.toReversed()]) {
      const whole = new AggregateSink(options);
      whole.combineAll(order.map((partial) => structuredClone(partial)));
      assert.deepEqual(rowsOf(whole.finalize(), width), rowsOut);
    }
  }
}

test('gives one row a group, sorted by the keys, NULLs first', () => {
  expectGroups(
    { keys: [key(0)], aggregates: [call('count', INT64), call('sum', INT64, [1])] },
    [
      ['b', 1],
      ['a', 2],
      [null, 4],
      ['b', 8],
      ['a', null],
    ],
    [
      [null, 1, 4],
      ['a', 2, 2],
      ['b', 2, 9],
    ],
  );
});

test('is one group without keys, even of no rows', () => {
  const options = { keys: [], aggregates: [call('count', INT64), call('max', FLOAT64, [0])] };
  expectGroups(options, [[1.5], [2.5], [null]], [[3, 2.5]]);
  expectGroups(options, [], [[0, null]]);
});

test('gives no rows for no rows when there are keys', () => {
  expectGroups({ keys: [key(0)], aggregates: [call('count', INT64)] }, [], []);
});

test('gives the distinct keys when there are no aggregates', () => {
  expectGroups(
    { keys: [key(0), key(1)], aggregates: [] },
    [
      [2, 'x'],
      [1, 'y'],
      [2, 'x'],
      [2, 'w'],
    ],
    [
      [1, 'y'],
      [2, 'w'],
      [2, 'x'],
    ],
  );
});

test('counts distinct values once over all parts', () => {
  const count = findAggregateFunction('count')!.overloads.find(
    (candidate) => candidate.parameters.length === 1,
  )!;
  expectGroups(
    {
      keys: [key(0)],
      aggregates: [
        {
          arguments: [column(1)],
          type: INT64,
          create: () => distinctState(count.create([DYNAMIC], [], NO_MODIFIERS), [DYNAMIC]),
        },
      ],
    },
    [
      ['a', 1],
      ['a', 1],
      ['b', 1],
      ['a', 2],
      ['b', null],
      ['a', 1],
    ],
    [
      ['a', 2],
      ['b', 1],
    ],
  );
});

test('pushes its groups in chunks of at most 2048', () => {
  for (const count of [2047, 2048, 2049]) {
    const sink = new AggregateSink({ keys: [key(0)], aggregates: [call('count', INT64)] });
    sink.push(chunkOf(Array.from({ length: count }, (_, index) => [index])));
    const out = new RowSink(2);
    sink.emit(out);
    assert.equal(out.rows.length, count);
    assert.ok(out.chunkSizes.every((size) => size <= 2048));
  }
});

test('counts and sums what plain loops do, however rows are split', () => {
  const value = fc.constantFrom<SqlValue>(null, 1, 2, 'a', 'b', true);
  const rows = fc.array(fc.tuple(value, fc.constantFrom(null, 1, 2, 5)), { maxLength: 25 });
  fc.assert(
    fc.property(rows, (values) => {
      const order: SqlValue[] = [null, true, 1, 2, 'a', 'b'];
      const expected = order.flatMap((group) => {
        const members = values.filter(([each]) => each === group);
        if (members.length === 0) return [];
        const present = members.flatMap(([, each]) => (each === null ? [] : [each]));
        const sum = present.length === 0 ? null : present.reduce((left, right) => left + right, 0);
        return [[group, members.length, sum]];
      });
      expectGroups(
        { keys: [key(0)], aggregates: [call('count', INT64), call('sum', INT64, [1])] },
        values,
        expected,
      );
    }),
    { numRuns: 60 },
  );
});

test('groups being finished stop when the query is to stop', () => {
  const stop = () => {
    throw new QueryError('query_cancelled', 'stop');
  };
  const sink = new AggregateSink({
    keys: [key(0)],
    aggregates: [call('count', INT64)],
    checkpoint: stop,
  });
  sink.push(chunkOf([['a'], ['b']]));
  assert.throws(() => sink.finalize(), { message: 'stop' });
});

test('top rows over groups as they come are those of the groups in order, whoever reads the rest', () => {
  const value = fc.constantFrom(null, 0, 1, 2, 'a', 'b');
  const rows = fc.array(fc.tuple(value, value, fc.integer({ min: 0, max: 2 })), { maxLength: 60 });
  const limit = fc.integer({ min: 1, max: 12 });
  fc.assert(
    fc.property(rows, limit, fc.boolean(), (rowsIn, count, descending) => {
      const options = {
        keys: [key(0), key(1)],
        aggregates: [call('count', INT64), call('avg', FLOAT64, [2]), call('sum', FLOAT64, [2])],
      };
      const byCount = { descending, nullsFirst: true, expression: column(2) };
      const keyOrder = [0, 1].map((index) => ({ ...GROUP_ORDER, expression: column(index) }));
      for (const chunks of divisions(rowsIn)) {
        const [whole, lazy] = [new AggregateSink(options), new AggregateSink(options)];
        for (const chunk of chunks) {
          whole.push(chunk);
          lazy.push(chunk);
        }
        const top = new TopSink({ keys: [byCount, ...keyOrder], width: 5, count });
        lazy.emitUnordered(top);
        const sign = descending ? -1 : 1;
        const wanted = rowsOf(whole.finalize(), 5)
          .toSorted((left, right) => sign * (Number(left[2]) - Number(right[2])))
          .slice(0, count);
        assert.deepEqual(emittedRows(top, 5), wanted);
      }
    }),
  );
});

test('a group that nobody wants fails all the same where its answer might', () => {
  const sink = new AggregateSink({ keys: [key(0)], aggregates: [call('sum', FLOAT64, [1])] });
  sink.push(
    chunkOf([
      ['a', 1],
      ['b', Number.MAX_VALUE],
      ['b', Number.MAX_VALUE],
    ]),
  );
  const top = new TopSink({
    keys: [{ ...GROUP_ORDER, expression: column(0) }],
    width: 2,
    count: 1,
  });
  assert.throws(() => sink.emitUnordered(top), QueryError);
});

test('tells after each chunk how many groups there are, or distinct values of groups', () => {
  const distinct: Aggregate = {
    ...call('count', INT64, [1]),
    create: () => distinctState(call('count', INT64, [1]).create(), [INT64]),
  };
  const heard: number[][] = [];
  const onGrowth = (...counts: number[]): void => {
    heard.push(counts);
  };
  const groups = new AggregateSink({
    keys: [key(0)],
    aggregates: [call('count', INT64)],
    onGrowth,
  });
  const values = new AggregateSink({ keys: [key(0)], aggregates: [distinct], onGrowth });
  for (const sink of [groups, values]) {
    sink.push(
      chunkOf([
        ['a', 1],
        ['a', 2],
      ]),
    );
    sink.push(
      chunkOf([
        ['b', 2],
        ['b', 2],
      ]),
    );
  }
  assert.deepEqual(heard, [
    [1, 2],
    [2, 4],
    [2, 2],
    [3, 4],
  ]);
});
