import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NO_MODIFIERS } from '../../engine/aggregate/aggregate-function.ts';
import { DISTINCT_PASSES_MAX, distinctState } from '../../engine/aggregate/distinct.ts';
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
import { type AggregateOptions, AggregateSink } from '../../engine/operator/aggregate.ts';
import { formsOf } from '../aggregate/rows-of-groups.ts';
import { runsOf } from '../support/budget.ts';
import { bestVector, column, type Row, rowsOf } from './harness.ts';

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

/**
 * The rows of the groups, whose distinct values may hold so many bytes, and how often the input was pushed. With few bytes
 * each aggregate takes in as many parts as there may be.
 */
function grouped(
  options: AggregateOptions,
  chunks: readonly VectorChunk[],
  distinctBytesMax: number,
): { readonly rows: readonly Row[]; readonly passes: number } {
  const sink = new AggregateSink({ ...options, distinctBytesMax });
  let passes = 0;
  do {
    passes++;
    for (const chunk of chunks) sink.push(chunk);
  } while (sink.beginPass());
  const width = options.keys.length + options.aggregates.length;
  return { rows: rowsOf(sink.finalize(), width), passes };
}

/** Bytes from "nothing fits" to "all fits". */
const BYTES_MAX = [0, 10_000, 40_000, 1_000_000];

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
  test(`distinct values of ${name} are counted in as many passes as they need, and nothing beside them twice`, () => {
    const row = fc.tuple(fc.nat(1), fc.option(value), fc.nat(15));
    const passesSeen = new Set<number>();
    const property = fc.property(fc.array(row, { minLength: 12, maxLength: 80 }), (rows) => {
      const options = { keys: KEYS, aggregates: aggregatesOf(type) };
      for (const form of formsOf(rows.map((each) => each[1]))) {
        const chunks = chunksOf(rows, form);
        for (const bytesMax of BYTES_MAX) {
          const { rows: found, passes } = grouped(options, chunks, bytesMax);
          assert.deepEqual(found, expectedRows(rows));
          passesSeen.add(passes);
        }
      }
    });
    fc.assert(property, { numRuns: runsOf(40) });
    assert.ok(passesSeen.has(1) && passesSeen.has(DISTINCT_PASSES_MAX), `${[...passesSeen]}`);
  });
}

test('equal INTERVALs are in one part, whatever they are made of', () => {
  const month = { months: 1, days: 0, us: 0 };
  const days = { months: 0, days: 30, us: 0 };
  const amounts = Array.from({ length: 20 }, (_, us) => ({ months: 0, days: 0, us: us + 1 }));
  const rows = [month, days, ...amounts, days, month].map((each): Row => [0, each, 0]);
  const options = { keys: [], aggregates: [distinct('count', INTERVAL, 1)] };
  const { rows: found, passes } = grouped(options, chunksOf(rows, bestVector), 0);
  assert.deepEqual(found, [[21]]);
  assert.equal(passes, DISTINCT_PASSES_MAX);
});

const MANY_COUNT = 100_000;

/** Numbers, UUIDs and other texts, of which each comes twice. */
function manyOf(form: (index: number) => SqlValue): readonly VectorChunk[] {
  const values = Array.from({ length: MANY_COUNT }, (_, index) => form(index % (MANY_COUNT / 2)));
  return Array.from({ length: MANY_COUNT / 1000 }, (_, index) => {
    const part = values.slice(1000 * index, 1000 * (index + 1));
    return new VectorChunk([bestVector(part)], part.length);
  });
}

for (const [name, type, form] of [
  ['INT64', INT64, (index: number) => 7919 * index],
  [
    'UUIDs',
    STRING,
    (index: number) => `${index.toString(16).padStart(8, '0')}-1b1a-4c59-8a53-3f2c7b7d8e00`,
  ],
  [
    'texts',
    STRING,
    (index: number) => `a text with a word of its own: ${Math.imul(index, 0x9e3779b1) >>> 0}`,
  ],
  ['wide numbers', NUMBER, (index: number) => 2n ** 53n + BigInt(2 * index + 1)],
] as const) {
  test(`what distinct values of ${name} hold stays within its bound`, () => {
    const groups = new Int32Array(1000);
    const bytesMax = 1_000_000;
    const state = distinctState(stateOf('count', type, 1), [type], true);
    const parts = must(state.parts);
    let largest = 0;
    const look = () => {
      largest = Math.max(largest, parts.heldBytes);
    };
    parts.bound(bytesMax, look);
    let passCount = 1;
    for (let pass = 0; pass < passCount; pass++) {
      if (pass > 0) parts.beginPass(pass);
      for (const chunk of manyOf(form)) {
        state.update(groups, chunk.count, 1, [chunk.column(0)]);
        look();
      }
      passCount = parts.endPass();
    }
    assert.equal(state.finalize(0), MANY_COUNT / 2);
    assert.ok(passCount >= 4 && passCount <= 32, `${passCount} passes`);
    assert.ok(largest > bytesMax / 4 && largest < 1.5 * bytesMax, `${largest} bytes`);
  });
}
