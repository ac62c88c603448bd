import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aggregateFunctionNames } from '../../engine/aggregate/registry.ts';
import {
  BOOL,
  DYNAMIC,
  FLOAT64,
  INT64,
  type SqlType,
  STRING,
  TIMESTAMP,
  typeName,
} from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { valueVector } from '../../engine/column/vector.ts';
import { QueryError } from '../../engine/query-error.ts';
import {
  answers,
  distinctMaker,
  feed,
  maker,
  type Row,
  type StateMaker,
} from '../aggregate/rows-of-groups.ts';
import { runsOf } from '../support/budget.ts';

const INTEGER: fc.Arbitrary<SqlValue> = fc.oneof(
  fc.integer({ min: -9, max: 9 }),
  fc.constantFrom(2 ** 53 - 1, 2n ** 53n, -(2n ** 60n), 1 - 2 ** 53),
);
const FLOAT: fc.Arbitrary<SqlValue> = fc.oneof(
  fc.double({ min: -1e6, max: 1e6 }),
  fc.constantFrom(0.1, 1e300, -1e300, 5e-324, -0, Number.NaN, Infinity),
);
const TEXT: fc.Arbitrary<SqlValue> = fc.constantFrom('', 'a', 'b', 'é', '\u{1f600}', '\uffff');
const TRUTH: fc.Arbitrary<SqlValue> = fc.boolean();

type Kind = { readonly type: SqlType; readonly value: fc.Arbitrary<SqlValue> };

const KINDS: Readonly<Record<string, Kind>> = {
  bool: { type: BOOL, value: TRUTH },
  integer: { type: INT64, value: INTEGER },
  float: { type: FLOAT64, value: FLOAT },
  text: { type: STRING, value: TEXT },
  time: { type: TIMESTAMP, value: fc.integer({ min: -1e15, max: 1e15 }) },
  dynamic: { type: DYNAMIC, value: fc.oneof(INTEGER, FLOAT, TEXT, TRUTH) },
};

/** Which kinds of values an aggregate takes, and its constant arguments. */
type AggregateCase = {
  readonly kinds: readonly string[];
  readonly constants?: readonly SqlValue[];
};

const AGGREGATES: ReadonlyMap<string, AggregateCase> = new Map<string, AggregateCase>([
  ['any_value', { kinds: Object.keys(KINDS) }],
  ['approx_count_distinct', { kinds: Object.keys(KINDS) }],
  ['approx_top_count', { kinds: Object.keys(KINDS), constants: [2] }],
  ['bit_and', { kinds: ['integer'] }],
  ['bit_or', { kinds: ['integer'] }],
  ['bit_xor', { kinds: ['integer'] }],
  ['logical_and', { kinds: ['bool'] }],
  ['logical_or', { kinds: ['bool'] }],
  ...['var_pop', 'var_samp', 'variance', 'stddev_pop', 'stddev_samp', 'stddev'].map(
    (name) => [name, { kinds: ['integer', 'float', 'dynamic'] }] as const,
  ),
  [
    'approx_quantiles',
    { kinds: ['bool', 'integer', 'float', 'text', 'time', 'dynamic'], constants: [7] },
  ],
  ['avg', { kinds: ['integer', 'float', 'dynamic'] }],
  ['count', { kinds: Object.keys(KINDS) }],
  ['countif', { kinds: ['bool'] }],
  ['max', { kinds: Object.keys(KINDS) }],
  ['min', { kinds: Object.keys(KINDS) }],
  ['sum', { kinds: ['integer', 'float', 'dynamic'] }],
]);

const GROUP_COUNT = 3;

/**
 * The rows, each with the part it is in, and which two partial states meet next. Parts number their
 * groups in orders of their own.
 */
const divided = (value: fc.Arbitrary<SqlValue>) =>
  fc.record({
    rows: fc.array(
      fc.record({
        row: fc.tuple(fc.nat(GROUP_COUNT - 1), fc.option(value, { freq: 6 })),
        part: fc.nat(4),
      }),
      { maxLength: 30 },
    ),
    meetings: fc.array(fc.tuple(fc.nat(4), fc.nat(4)), { minLength: 5, maxLength: 5 }),
    shifts: fc.array(fc.nat(GROUP_COUNT - 1), { minLength: 5, maxLength: 5 }),
  });

/** One state for each part; then any two meet in a third, in the order of the meetings. */
function combinedInTree(
  make: StateMaker,
  parts: readonly (readonly Row[])[],
  meetings: readonly (readonly [number, number])[],
  shifts: readonly number[],
): SqlValue[] {
  const renumber = (shift: number) =>
    Int32Array.from({ length: GROUP_COUNT }, (_, group) => (group + shift) % GROUP_COUNT);
  let partials = parts.map((rows, part) => {
    const shift = shifts[part]!;
    const own = rows.map(
      ([group, value]): Row => [(group + GROUP_COUNT - shift) % GROUP_COUNT, value],
    );
    const state = make();
    state.combine(
      structuredClone(feed(make(), own, GROUP_COUNT, valueVector).partial(GROUP_COUNT)),
      renumber(shift),
      GROUP_COUNT,
    );
    return state.partial(GROUP_COUNT);
  });
  for (const [one, other] of meetings) {
    if (partials.length === 1) break;
    const left = one % partials.length;
    const right = other % (partials.length - 1);
    const rest = partials.toSpliced(left, 1);
    const state = make();
    for (const partial of [partials[left], rest[right]]) {
      state.combine(structuredClone(partial), renumber(0), GROUP_COUNT);
    }
    partials = [...rest.toSpliced(right, 1), state.partial(GROUP_COUNT)];
  }
  const last = make();
  for (const partial of partials) last.combine(structuredClone(partial), renumber(0), GROUP_COUNT);
  return Array.from({ length: GROUP_COUNT }, (_, group) => last.finalize(group));
}

/** The answers, or that there is an error: a sum beyond its type has none, however it is made. */
function outcome(compute: () => readonly SqlValue[]): readonly SqlValue[] | string {
  try {
    return compute();
  } catch (error) {
    if (error instanceof QueryError) return error.code;
    throw error;
  }
}

function expectTreeFree(make: StateMaker, value: fc.Arbitrary<SqlValue>): void {
  fc.assert(
    fc.property(divided(value), ({ rows, meetings, shifts }) => {
      const all = rows.map(({ row }) => row);
      const parts = [0, 1, 2, 3, 4].map((part) =>
        rows.filter((each) => each.part === part).map(({ row }) => row),
      );
      const whole = outcome(() => answers(make, all, GROUP_COUNT));
      // deepEqual tells -0 from 0 and takes NaN for NaN: the same to the bit.
      assert.deepEqual(
        outcome(() => combinedInTree(make, parts, meetings, shifts)),
        whole,
      );
      assert.deepEqual(
        outcome(() => answers(make, all.toReversed(), GROUP_COUNT)),
        whole,
      );
    }),
    { numRuns: runsOf(60) },
  );
}

for (const [name, { kinds, constants = [] }] of AGGREGATES) {
  for (const kind of kinds) {
    const { type, value } = KINDS[kind]!;
    test(`law 3: ${name} of ${typeName(type)} is the same combined in any tree`, () => {
      expectTreeFree(maker(name, type, constants), value);
      if (constants.length === 0) expectTreeFree(distinctMaker(name, type), value);
    });
  }
}

/** Over two arguments, or over rows in an order: see `test/aggregate/divided-rows.test.ts`. */
const ELSEWHERE = [
  'approx_top_sum',
  'array_agg',
  'array_concat_agg',
  'corr',
  'covar_pop',
  'covar_samp',
  'string_agg',
];

test('law 3 is shown for every aggregate there is', () => {
  assert.deepEqual([...AGGREGATES.keys(), ...ELSEWHERE].sort(), aggregateFunctionNames());
});
