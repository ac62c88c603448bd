import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NO_MODIFIERS } from '../../engine/aggregate/aggregate-function.ts';
import { distinctState } from '../../engine/aggregate/distinct.ts';
import { findAggregateFunction } from '../../engine/aggregate/registry.ts';
import { must } from '../../engine/assert.ts';
import { VectorChunk } from '../../engine/column/chunk.ts';
import type { SqlType } from '../../engine/column/type.ts';
import {
  arrayOf,
  BOOL,
  BYTES,
  DATE,
  DYNAMIC,
  FLOAT64,
  INT64,
  INTERVAL,
  JSON_TYPE,
  NUMBER,
  STRING,
  TIMESTAMP,
} from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { DISTINCT_PASSES_MAX } from '../../engine/limits.ts';
import { type AggregateOptions, AggregateSink } from '../../engine/operator/aggregate.ts';
import { groupInPasses } from '../../engine/operator/passes.ts';
import type { Sink } from '../../engine/operator/sink.ts';
import { HeldTooMuchError } from '../../engine/query-error.ts';
import { formsOf } from '../aggregate/rows-of-groups.ts';
import { runsOf } from '../support/budget.ts';
import { bestVector, chunkOf, column, type Row, rowsOf } from './harness.ts';

type Aggregate = AggregateOptions['aggregates'][number];

function aggregate(name: string, type: SqlType, inputs: readonly number[]): Aggregate {
  return { arguments: inputs.map(column), type, create: () => stateOf(name, type, inputs.length) };
}

function stateOf(name: string, type: SqlType, inputCount: number) {
  const { overloads } = must(findAggregateFunction(name));
  const overload = must(overloads.find(({ parameters }) => parameters.length === inputCount));
  return overload.create(
    Array.from({ length: inputCount }, () => type),
    [],
    NO_MODIFIERS,
  );
}

function distinct(name: string, type: SqlType, input: number, isOrderFree = true): Aggregate {
  const create = () => distinctState(stateOf(name, type, 1), [type], isOrderFree);
  return { arguments: [column(input)], type, create };
}

/** Rows of (group, value, number); the aggregates stand beside each other. */
function aggregatesOf(type: SqlType): readonly Aggregate[] {
  return [
    distinct('count', type, 1),
    aggregate('count', INT64, []),
    aggregate('count', type, [1]),
    distinct('sum', INT64, 2),
    aggregate('sum', INT64, [2]),
    distinct('avg', INT64, 2),
    distinct('array_agg', INT64, 2, false),
  ];
}

const KEYS = [{ expression: column(0), type: INT64 }];
const CHUNK_ROWS = 3;

type Tries = { readonly sinks: number; readonly passes: number; readonly keptMax: number };

/**
 * The rows of the groups, as made by a query that holds too much as soon as more than `keptMax` values are kept, and what
 * that took.
 */
function grouped(
  options: AggregateOptions,
  chunks: readonly VectorChunk[],
  keptMax: number,
): { readonly rows: readonly Row[]; readonly tries: Tries } {
  const tries = { sinks: 0, passes: 0, keptMax: 0 };
  let sink: AggregateSink | undefined;
  const groups = groupInPasses(
    () => {
      tries.sinks += 1;
      sink = new AggregateSink(options);
      return sink;
    },
    (rows: Sink) => {
      tries.passes += 1;
      for (const chunk of chunks) {
        rows.push(chunk);
        const { keptCount } = must(sink);
        tries.keptMax = Math.max(tries.keptMax, keptCount);
        if (keptCount > keptMax) throw new HeldTooMuchError('query_limit', `held ${keptCount}`);
      }
    },
  );
  const width = options.keys.length + options.aggregates.length;
  return { rows: rowsOf(groups.finalize(), width), tries };
}

function chunksOf(
  rows: readonly Row[],
  form: (values: readonly SqlValue[]) => ReturnType<typeof bestVector>,
) {
  return Array.from({ length: Math.ceil(rows.length / CHUNK_ROWS) }, (_, index) => {
    const part = rows.slice(index * CHUNK_ROWS, (index + 1) * CHUNK_ROWS);
    const vectors = [0, 1, 2].map((at) => {
      const values = part.map((row) => row[at]!);
      return at === 1 ? form(values) : bestVector(values);
    });
    return new VectorChunk(vectors, part.length);
  });
}

const uuid = fc.nat(9).map((digit) => `0${digit}9f0c2e-1b1a-4c59-8a53-3f2c7b7d8e${digit}0`);
const wide = fc.bigInt({ min: 2n ** 53n, max: 2n ** 53n + 9n });

/** Values of each type, few enough to come more than once. */
const VALUES: readonly (readonly [name: string, type: SqlType, value: fc.Arbitrary<SqlValue>])[] = [
  ['BOOL', BOOL, fc.boolean()],
  ['INT64', INT64, fc.oneof(fc.integer({ min: -9, max: 9 }), wide)],
  [
    'FLOAT64',
    FLOAT64,
    fc.oneof(
      fc.constantFrom(0, -0, Number.NaN, Infinity, -Infinity, 2 ** 60),
      fc.nat(20).map((n) => n / 8),
    ),
  ],
  [
    'STRING',
    STRING,
    fc.oneof(
      uuid,
      fc.nat(20).map((n) => `text ${n}`),
      fc.constantFrom('', 'ä\ud800'),
    ),
  ],
  ['BYTES', BYTES, fc.nat(255).map((byte) => `${String.fromCharCode(byte)}\0`)],
  ['TIMESTAMP', TIMESTAMP, fc.nat(30).map((n) => 1_768_478_400_000_000 + n)],
  ['DATE', DATE, fc.nat(30)],
  ['JSON', JSON_TYPE, fc.nat(30).map((n) => `{"n":${n}}`)],
  ['ARRAY', arrayOf(FLOAT64), fc.array(fc.constantFrom(0, 1, Number.NaN, null), { maxLength: 3 })],
  [
    'NUMBER',
    NUMBER,
    fc.constantFrom(1, 2 ** 53, 2n ** 53n, 2 ** 65, 2n ** 65n, 2 ** 70, 2n ** 70n, 0.5, -0, 0),
  ],
  [
    'DYNAMIC',
    DYNAMIC,
    fc.constantFrom(1, '1', true, 'true', 2 ** 60, 2n ** 60n, -0, 0, Number.NaN),
  ],
];

/** A text that only equal values share. */
function textOf(value: SqlValue): string {
  if (typeof value === 'bigint') return `number ${value}`;
  if (typeof value === 'number') {
    return `number ${Number.isInteger(value) ? BigInt(value) : value}`;
  }
  return Array.isArray(value) ? `array ${value.map(textOf).join()}` : `${typeof value} ${value}`;
}

/** What the groups are to be, by plain loops. */
function expectedRows(rows: readonly Row[]): readonly Row[] {
  const groups = [...new Set(rows.map((row) => row[0] as number))].toSorted((a, b) => a - b);
  return groups.map((group) => {
    const own = rows.filter((row) => row[0] === group);
    const values = own.flatMap((row) => (row[1] === null ? [] : [row[1]!]));
    const numbers = own.map((row) => row[2] as number);
    const once = [...new Set(numbers)];
    const sum = (all: readonly number[]) => all.reduce((total, each) => total + each, 0);
    return [
      group,
      new Set(values.map(textOf)).size,
      own.length,
      values.length,
      sum(once),
      sum(numbers),
      sum(once) / once.length,
      once,
    ];
  });
}

for (const [name, type, value] of VALUES) {
  test(`distinct values of ${name} that do not fit are counted in passes, and nothing beside them twice`, () => {
    const row = fc.tuple(fc.nat(1), fc.option(value), fc.nat(15));
    let passesMax = 0;
    const property = fc.property(fc.array(row, { minLength: 12, maxLength: 80 }), (rows) => {
      const options = { keys: KEYS, aggregates: aggregatesOf(type) };
      for (const form of formsOf(rows.map((each) => each[1]))) {
        const chunks = chunksOf(rows, form);
        const { rows: found, tries } = grouped(options, chunks, 16);
        assert.deepEqual(found, expectedRows(rows));
        assert.ok(tries.keptMax <= 16 + 3 * CHUNK_ROWS);
        passesMax = Math.max(passesMax, tries.passes);
      }
    });
    fc.assert(property, { numRuns: runsOf(300) });
    assert.ok(passesMax > 2, `${passesMax} passes`);
  });
}

test('equal INTERVALs are in one part, whatever they are made of', () => {
  const month = { months: 1, days: 0, us: 0 };
  const days = { months: 0, days: 30, us: 0 };
  const amounts = Array.from({ length: 20 }, (_, us) => ({ months: 0, days: 0, us: us + 1 }));
  const rows = [month, days, ...amounts, days, month].map((each): Row => [0, each, 0]);
  const options = { keys: [], aggregates: [distinct('count', INTERVAL, 1)] };
  const chunks = chunksOf(rows, bestVector);
  const { rows: found, tries } = grouped(options, chunks, 5);
  assert.deepEqual(found, [[21]]);
  assert.ok(tries.passes > 4);
});

test('one pass is made where all values fit, and none of it is of a part', () => {
  const rows = [1, 2, 3, 1].map((each): Row => [each % 2, each, each]);
  const options = { keys: KEYS, aggregates: aggregatesOf(INT64) };
  const { tries } = grouped(options, chunksOf(rows, bestVector), 1000);
  assert.equal(tries.passes, 1);
});

const MANY = Array.from({ length: 3000 }, (_, each): Row => [0, each, each]);
const COUNT = { keys: [], aggregates: [distinct('count', INT64, 1)] };

test('values of which no part fits are refused, and the error names how many passes there may be', () => {
  assert.throws(
    () => grouped(COUNT, chunksOf(MANY, bestVector), CHUNK_ROWS),
    (error: Error) => {
      assert.ok(error instanceof HeldTooMuchError);
      assert.equal(error.code, 'query_limit');
      const pattern = new RegExp(
        `^held \\d+, although each of ${DISTINCT_PASSES_MAX} passes .* at most ${DISTINCT_PASSES_MAX} `,
      );
      assert.match(error.message, pattern);
      return true;
    },
  );
});

test('what holds too much is not tried again if no part of the values would help', () => {
  for (const aggregates of [
    [aggregate('sum', INT64, [1])],
    [distinct('array_agg', INT64, 1, false)],
  ]) {
    let tries = 0;
    const feed = (rows: Sink) => {
      tries += 1;
      rows.push(chunkOf(MANY));
      throw new HeldTooMuchError('query_limit', 'held much');
    };
    assert.throws(
      () => groupInPasses(() => new AggregateSink({ keys: [], aggregates }), feed),
      /: held much$/,
    );
    assert.equal(tries, 1);
  }
  // The same rows are met in the second try: half of the values takes no less.
  let tries = 0;
  const feed = (rows: Sink) => {
    tries += 1;
    rows.push(chunkOf(MANY));
    throw new HeldTooMuchError('query_limit', `try ${tries}`);
  };
  assert.throws(() => groupInPasses(() => new AggregateSink(COUNT), feed), /: try 1$/);
  assert.equal(tries, 2);
});

test('other errors are left alone', () => {
  const feed = (rows: Sink) => {
    rows.push(chunkOf(MANY));
    throw new RangeError('another');
  };
  assert.throws(() => groupInPasses(() => new AggregateSink(COUNT), feed), RangeError);
});
