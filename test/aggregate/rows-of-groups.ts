import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type AggregateState, NO_MODIFIERS } from '../../engine/aggregate/aggregate-function.ts';
import { distinctState } from '../../engine/aggregate/distinct.ts';
import { findAggregateFunction } from '../../engine/aggregate/registry.ts';
import { must } from '../../engine/assert.ts';
import type { SqlType } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import {
  booleanVector,
  constantVector,
  dictionaryVector,
  numberVector,
  type Vector,
  valueAt,
  valueVector,
} from '../../engine/column/vector.ts';
import { runsOf } from '../support/budget.ts';

export type Row = readonly [group: number, value: SqlValue];

/** Makes fresh states of one aggregate over one argument. */
export type StateMaker = () => AggregateState;

export function maker(
  name: string,
  type: SqlType,
  constants: readonly SqlValue[] = [],
): StateMaker {
  const overload = must(findAggregateFunction(name)?.overloads.at(-1));
  return () => overload.create([type], constants, NO_MODIFIERS);
}

export function distinctMaker(name: string, type: SqlType): StateMaker {
  const overload = must(findAggregateFunction(name)?.overloads.at(-1));
  return () => distinctState(overload.create([type], [], NO_MODIFIERS), [type]);
}

/** The answers of groups [0, groupCount), the rows given at once, as plain values. */
export function answers(make: StateMaker, rows: readonly Row[], groupCount: number): SqlValue[] {
  return finish(feed(make(), rows, groupCount, valueVector), groupCount);
}

/**
 * Asserts the answers, the rows given in every form of vector that can hold them, at once and one by
 * one, and split over states that are combined.
 */
export function expectAnswers(
  make: StateMaker,
  rows: readonly Row[],
  expected: readonly SqlValue[],
): void {
  const groupCount = expected.length;
  for (const form of formsOf(rows.map(([, value]) => value))) {
    assert.deepEqual(finish(feed(make(), rows, groupCount, form), groupCount), expected);
    const oneByOne = make();
    for (const row of rows) feed(oneByOne, [row], groupCount, form);
    assert.deepEqual(finish(oneByOne, groupCount), expected);
  }
  for (const parts of [2, 3]) {
    const split = Array.from({ length: parts }, (_, part) =>
      rows.filter((_row, index) => index % parts === part),
    );
    assert.deepEqual(combined(make, split, groupCount), expected);
    assert.deepEqual(combined(make, split.reverse(), groupCount), expected);
  }
}

/** Asserts that shuffling rows, splitting them and combining the parts changes no bit. */
export function expectOrderFree(make: StateMaker, value: fc.Arbitrary<SqlValue>, runs = 100): void {
  const row = fc.tuple(fc.nat(3), value);
  const tagged = fc.array(fc.tuple(row, fc.nat(3), fc.nat(1000)), { maxLength: 60 });
  fc.assert(
    fc.property(tagged, (entries) => {
      const rows = entries.map(([entry]) => entry);
      const whole = answers(make, rows, 4);
      const shuffled = entries.toSorted((left, right) => left[2] - right[2]);
      assert.deepEqual(
        answers(
          make,
          shuffled.map(([entry]) => entry),
          4,
        ),
        whole,
      );
      const parts = [0, 1, 2, 3].map((part) =>
        shuffled.filter(([, tag]) => tag === part).map(([entry]) => entry),
      );
      assert.deepEqual(combined(make, parts, 4), whole);
      for (const form of formsOf(rows.map(([, item]) => item))) {
        assert.deepEqual(finish(feed(make(), rows, 4, form), 4), whole);
      }
    }),
    { numRuns: runsOf(runs) },
  );
}

/**
 * Each part in a state of its own that numbers the groups in its own way; their partials cross a
 * thread boundary, so to speak, twice, and meet in one state.
 */
export function combined(
  make: StateMaker,
  parts: readonly (readonly Row[])[],
  groupCount: number,
): SqlValue[] {
  const middle = make();
  const backwards = Int32Array.from({ length: groupCount }, (_, group) => groupCount - 1 - group);
  for (const rows of parts) {
    const state = make();
    const renumbered = rows.map(([group, value]): Row => [groupCount - 1 - group, value]);
    feed(state, renumbered, groupCount, valueVector);
    middle.combine(structuredClone(state.partial(groupCount)), backwards, groupCount);
  }
  const last = make();
  const same = Int32Array.from({ length: groupCount }, (_, group) => group);
  last.combine(structuredClone(middle.partial(groupCount)), same, groupCount);
  return finish(last, groupCount);
}

export function feed(
  state: AggregateState,
  rows: readonly Row[],
  groupCount: number,
  form: (values: readonly SqlValue[]) => Vector,
): AggregateState {
  const groups = Int32Array.from(rows, ([group]) => group);
  state.update(groups, rows.length, groupCount, [form(rows.map(([, value]) => value))]);
  return state;
}

function finish(state: AggregateState, groupCount: number): SqlValue[] {
  const each = Array.from({ length: groupCount }, (_, group) => state.finalize(group));
  // From the last group on: they may be asked for in any order.
  const groups = Int32Array.from(each, (_, index) => groupCount - 1 - index);
  const all = state.finalizeAll?.(groups, () => {});
  if (all !== undefined) {
    assert.deepEqual(
      each.toReversed(),
      each.map((_, index) => valueAt(all, index)),
    );
  }
  return each;
}

/** The forms of vectors that can hold the values. */
export function formsOf(
  values: readonly SqlValue[],
): readonly ((values: readonly SqlValue[]) => Vector)[] {
  const forms: ((values: readonly SqlValue[]) => Vector)[] = [valueVector, asDictionary];
  if (values.every((value) => typeof value === 'number' || value === null)) forms.push(asNumbers);
  if (values.every((value) => typeof value === 'boolean' || value === null)) forms.push(asTruths);
  if (values.length > 0 && values.every((value) => Object.is(value, values[0]))) {
    forms.push((rows) => constantVector(values[0]!, rows.length));
  }
  return forms;
}

export function asNumbers(values: readonly SqlValue[]): Vector {
  const nulls = Uint8Array.from(values, (value) => (value === null ? 1 : 0));
  // The value under a NULL is arbitrary: one that would do harm.
  const numbers = Float64Array.from(values, (value) => (typeof value === 'number' ? value : 0.1));
  return numberVector(numbers, values.length, nulls.includes(1) ? nulls : undefined);
}

export function asTruths(values: readonly SqlValue[]): Vector {
  return booleanVector(
    Uint8Array.from(values, (value) => (value === null ? 2 : Number(value))),
    values.length,
  );
}

/** With a code for every row: dictionaries need not be distinct. */
export function asDictionary(values: readonly SqlValue[]): Vector {
  const kept = values.filter((value) => value !== null);
  let code = 0;
  const codes = Int32Array.from(values, (value) => (value === null ? -1 : code++));
  return dictionaryVector(codes, values.length, {
    size: kept.length,
    isDistinct: false,
    value: (index) => kept[index]!,
  });
}
