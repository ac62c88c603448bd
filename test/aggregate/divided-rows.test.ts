import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AggregateState, CallModifiers } from '../../engine/aggregate/aggregate-function.ts';
import { NO_MODIFIERS } from '../../engine/aggregate/aggregate-function.ts';
import { havingState } from '../../engine/aggregate/having.ts';
import { findAggregateFunction } from '../../engine/aggregate/registry.ts';
import { must } from '../../engine/assert.ts';
import { FLOAT64, INT64, type SqlType, STRING } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { valueVector } from '../../engine/column/vector.ts';
import { runsOf } from '../support/budget.ts';

/** A row of a group: what the state is given of it. */
type Row = { readonly group: number; readonly values: readonly SqlValue[] };

const GROUP_COUNT = 3;

function stateOf(
  name: string,
  types: readonly SqlType[],
  modifiers: CallModifiers = NO_MODIFIERS,
): AggregateState {
  const { overloads } = must(findAggregateFunction(name));
  return must(overloads[0]).create(types, [], modifiers);
}

function feed(state: AggregateState, rows: readonly Row[], width: number): AggregateState {
  const vectors = Array.from({ length: width }, (_, index) =>
    valueVector(rows.map((row) => row.values[index]!)),
  );
  const groups = Int32Array.from(rows, (row) => row.group);
  state.update(groups, rows.length, GROUP_COUNT, vectors);
  return state;
}

function finish(state: AggregateState): readonly SqlValue[] {
  return Array.from({ length: GROUP_COUNT }, (_, group) => state.finalize(group));
}

const SAME = Int32Array.from({ length: GROUP_COUNT }, (_, group) => group);

/** Asserts that neither the order of rows nor their division over states changes a bit. */
function expectUndivided(
  create: () => AggregateState,
  values: readonly fc.Arbitrary<SqlValue>[],
): void {
  const row = fc.record({ group: fc.nat(GROUP_COUNT - 1), values: fc.tuple(...values) });
  const entries = fc.array(fc.record({ row, part: fc.nat(3), place: fc.nat(1000) }), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(entries, (all) => {
      // The last value of each row tells it apart, as its arrival does.
      const numbered = all.map((entry, index) => ({
        ...entry,
        row: { ...entry.row, values: [...entry.row.values, index] },
      }));
      const width = values.length + 1;
      const whole = finish(
        feed(
          create(),
          numbered.map((entry) => entry.row),
          width,
        ),
      );
      const shuffled = numbered.toSorted((left, right) => left.place - right.place);
      const last = create();
      for (const part of [2, 0, 3, 1]) {
        const rows = shuffled.filter((entry) => entry.part === part).map((entry) => entry.row);
        const partial = feed(create(), rows, width).partial(GROUP_COUNT);
        last.combine(structuredClone(partial), SAME, GROUP_COUNT);
      }
      assert.deepEqual(finish(last), whole);
    }),
    { numRuns: runsOf(200) },
  );
}

const NUMBER: fc.Arbitrary<SqlValue> = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(null, 0.1, 1e300, -1e-300, 5e-324, 2 ** 53 - 1),
);
const TEXT: fc.Arbitrary<SqlValue> = fc.constantFrom(null, '', 'a', 'b');
const ASCENDING = { descending: false, nullsFirst: true };
const ORDERS: readonly CallModifiers[] = [
  { order: [ASCENDING, ASCENDING] },
  { order: [{ descending: true, nullsFirst: false }, ASCENDING], limit: 2 },
  { order: [ASCENDING, ASCENDING], nulls: 'ignore', limit: 1 },
];

for (const name of ['corr', 'covar_pop', 'covar_samp']) {
  test(`law 3: ${name} is the same however rows are divided`, () => {
    expectUndivided(() => stateOf(name, [FLOAT64, FLOAT64]), [NUMBER, NUMBER]);
  });
}

for (const modifiers of ORDERS) {
  const how = JSON.stringify(modifiers);
  test(`law 3: what is collected in an order is the same however rows are divided, ${how}`, () => {
    expectUndivided(() => stateOf('array_agg', [INT64], modifiers), [NUMBER, TEXT]);
    expectUndivided(() => stateOf('string_agg', [STRING], modifiers), [TEXT, NUMBER]);
    const list = fc.option(fc.array(NUMBER, { maxLength: 2 }));
    expectUndivided(() => stateOf('array_concat_agg', [INT64], modifiers), [list, NUMBER]);
  });
}

for (const extreme of ['max', 'min'] as const) {
  test(`law 3: HAVING ${extreme} is the same however rows are divided`, () => {
    const key = fc.constantFrom<SqlValue>(null, 1, 2, 3, Number.NaN);
    const order = [ASCENDING, ASCENDING];
    expectUndivided(
      () => swapped(havingState(() => stateOf('array_agg', [INT64], { order }), extreme)),
      [NUMBER, TEXT, key],
    );
  });
}

/** The number of the row before the last vector, which HAVING looks at. */
function swapped(state: AggregateState): AggregateState {
  return {
    update: (groups, count, groupCount, [value, text, key, place]) =>
      state.update(groups, count, groupCount, [value!, text!, place!, key!]),
    combine: (partial, groups, groupCount) => state.combine(partial, groups, groupCount),
    partial: (groupCount) => state.partial(groupCount),
    finalize: (group) => state.finalize(group),
  };
}
