import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { type AggregateState, NO_MODIFIERS } from '../../engine/aggregate/aggregate-function.ts';
import { distinctState } from '../../engine/aggregate/distinct.ts';
import { findAggregateFunction } from '../../engine/aggregate/registry.ts';
import { SpillSpace } from '../../engine/aggregate/spilled-pairs.ts';
import { must } from '../../engine/assert.ts';
import { SpillFile } from '../../engine/column/spill-file.ts';
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
import { type Vector, valueVector } from '../../engine/column/vector.ts';
import { RunStoppedError } from '../../engine/query-error.ts';
import { runsOf } from '../support/budget.ts';
import { answers, formsOf, type Row } from './rows-of-groups.ts';

const root = mkdtempSync(join(tmpdir(), 'weir-spill-'));
after(() => rmSync(root, { recursive: true }));
const folder = join(root, 'spill');

const GROUP_COUNT = 3;
const CHUNK_ROWS = 4;

function newState(
  name: string,
  type: SqlType,
  constants: readonly SqlValue[] = [],
): AggregateState {
  const overload = must(findAggregateFunction(name)?.overloads.at(-1));
  return distinctState(overload.create([type], constants, NO_MODIFIERS), [type], true);
}

function newSpace(file: SpillFile): SpillSpace {
  return new SpillSpace({ file, checkpoint: () => {}, pause: () => {}, runBytesMin: 1 });
}

/** Spills behind each of these chunks. */
function spilledAnswers(
  state: AggregateState,
  chunks: readonly (readonly Row[])[],
  form: (values: readonly SqlValue[]) => Vector,
  spillsBehind: (chunk: number) => boolean,
): readonly SqlValue[] {
  const file = new SpillFile(folder);
  const space = newSpace(file);
  must(state.spillTo).call(state, space);
  try {
    for (const [index, rows] of chunks.entries()) {
      const groups = Int32Array.from(rows, ([group]) => group);
      state.update(groups, rows.length, GROUP_COUNT, [form(rows.map(([, value]) => value))]);
      if (spillsBehind(index)) space.relieve();
    }
    const found = Array.from({ length: GROUP_COUNT }, (_, group) => state.finalize(group));
    assert.equal(
      file.size > 0,
      chunks.some((_rows, index) => spillsBehind(index)),
    );
    return found;
  } finally {
    file.close();
    assert.deepEqual(
      readdirSync(root).flatMap((name) => readdirSync(join(root, name))),
      [],
    );
  }
}

const uuid = fc.nat(9).map((digit) => `0${digit}9f0c2e-1b1a-4c59-8a53-3f2c7b7d8e${digit}0`);
const wide = fc.bigInt({ min: 2n ** 53n, max: 2n ** 53n + 9n });
const amount = fc.oneof(
  fc.nat(5).map((us) => ({ months: 0, days: 0, us })),
  fc.constantFrom({ months: 1, days: 0, us: 0 }, { months: 0, days: 30, us: 0 }),
);

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
  ['INTERVAL', INTERVAL, amount],
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

/** Random rows in chunks, and behind which of them the state spills. */
function chunked(value: fc.Arbitrary<SqlValue>) {
  const row = fc.tuple(fc.nat(GROUP_COUNT - 1), fc.option(value));
  const chunk = fc.array(row, { minLength: 1, maxLength: CHUNK_ROWS });
  return fc.array(fc.tuple(chunk, fc.boolean()), { minLength: 1, maxLength: 20 });
}

for (const [name, type, value] of VALUES) {
  test(`distinct values of ${name} are counted the same however often they are spilled`, () => {
    const property = fc.property(chunked(value), (entries) => {
      const chunks = entries.map(([rows]) => rows as readonly Row[]);
      const rows = chunks.flat();
      const expected = answers(() => newState('count', type), rows, GROUP_COUNT);
      for (const form of formsOf(rows.map(([, each]) => each))) {
        // A chunk of NULLs alone writes nothing.
        const spills = (index: number): boolean =>
          entries[index]![1] && chunks[index]!.some(([, each]) => each !== null);
        assert.deepEqual(spilledAnswers(newState('count', type), chunks, form, spills), expected);
      }
    });
    fc.assert(property, { numRuns: runsOf(60) });
  });
}

for (const name of ['sum', 'avg', 'stddev_pop', 'max', 'min']) {
  test(`${name.toUpperCase()}(DISTINCT x) of numbers is the same if they are spilled`, () => {
    for (const [, type, value] of [
      ['INT64', INT64, fc.oneof(fc.integer({ min: -9, max: 9 }), wide)],
      ['FLOAT64', FLOAT64, fc.integer({ min: -99, max: 99 }).map((n) => n / 8)],
    ] as const) {
      if (name === 'stddev_pop' && type === INT64) continue;
      const property = fc.property(chunked(value), (entries) => {
        const chunks = entries.map(([rows]) => rows as readonly Row[]);
        const expected = answers(() => newState(name, type), chunks.flat(), GROUP_COUNT);
        const spills = (index: number): boolean =>
          entries[index]![1] && chunks[index]!.some(([, each]) => each !== null);
        const found = spilledAnswers(newState(name, type), chunks, valueVector, spills);
        assert.deepEqual(found, expected);
      });
      fc.assert(property, { numRuns: runsOf(60) });
    }
  });
}

test('an aggregate to which NULL is a value gets it once from disk', () => {
  const top = () => newState('approx_top_count', INT64, [3]);
  const chunks: readonly (readonly Row[])[] = [
    [
      [0, null],
      [0, 1],
    ],
    [
      [0, null],
      [1, 2],
    ],
  ];
  const found = spilledAnswers(top(), chunks, valueVector, () => true);
  assert.deepEqual(found, answers(top, chunks.flat(), GROUP_COUNT));
  assert.match(JSON.stringify(found[0]), /null/);
});

const MANY_COUNT = 60_000;
const MANY_CHUNK = 5_000;

/** Each value comes in two groups, far from each other. */
function manyChunks(form: (index: number) => SqlValue): readonly (readonly Row[])[] {
  return Array.from({ length: (2 * MANY_COUNT) / MANY_CHUNK }, (_, chunk) =>
    Array.from({ length: MANY_CHUNK }, (_each, row): Row => {
      const index = chunk * MANY_CHUNK + row;
      return [index < MANY_COUNT ? 0 : 1, form(index % MANY_COUNT)];
    }),
  );
}

for (const [name, type, form] of [
  ['INT64', INT64, (index: number) => 7919 * index],
  [
    'UUIDs',
    STRING,
    (index: number) => `${index.toString(16).padStart(8, '0')}-1b1a-4c59-8a53-3f2c7b7d8e00`,
  ],
  ['texts', STRING, (index: number) => `a text of its own: ${Math.imul(index, 0x9e3779b1) >>> 0}`],
  ['wide numbers', NUMBER, (index: number) => 2n ** 53n + BigInt(2 * index + 1)],
] as const) {
  test(`${MANY_COUNT} distinct values of ${name} in two groups and many runs are counted`, () => {
    const chunks = manyChunks(form);
    const found = spilledAnswers(
      newState('count', type),
      chunks,
      valueVector,
      (at) => at % 3 === 1,
    );
    assert.deepEqual(found, [MANY_COUNT, MANY_COUNT, 0]);
  });
}

test('a state of other aggregates, or of several arguments, holds all values', () => {
  const { overloads } = must(findAggregateFunction('array_agg'));
  const plain = must(overloads[0]).create([INT64], [], NO_MODIFIERS);
  const sum = must(findAggregateFunction('sum')?.overloads[0]).create([INT64], [], NO_MODIFIERS);
  for (const state of [distinctState(plain, [INT64]), distinctState(sum, [INT64, INT64], true)]) {
    const file = new SpillFile(folder);
    const space = newSpace(file);
    must(state.spillTo).call(state, space);
    assert.equal(space.relieve(), false);
    assert.equal(file.size, 0);
  }
});

test('a run that would free too little is not written', () => {
  const file = new SpillFile(folder);
  const space = new SpillSpace({ file, checkpoint: () => {}, pause: () => {} });
  const state = newState('count', INT64);
  must(state.spillTo).call(state, space);
  state.update(new Int32Array(2), 2, 1, [valueVector([1, 2])]);
  assert.equal(space.relieve(), false);
  assert.equal(file.size, 0);
  assert.equal(state.finalize(0), 2);
});

test('bytes that changed on the way back are an error, no wrong count', () => {
  const file = new SpillFile(folder);
  const state = newState('count', INT64);
  const space = newSpace(file);
  must(state.spillTo).call(state, space);
  state.update(new Int32Array(2), 2, 1, [valueVector([1, 2])]);
  assert.equal(space.relieve(), true);
  const { read } = file;
  file.read = (bytes, start) => {
    read.call(file, bytes, start);
    if (bytes.length > 0) bytes[bytes.length - 1]! ^= 1;
  };
  assert.throws(
    () => state.finalize(0),
    (error: unknown) => {
      assert.ok(error instanceof RunStoppedError);
      assert.equal(error.code, 'storage_failed');
      assert.match(error.message, /not those that were written/);
      return true;
    },
  );
  file.close();
});
