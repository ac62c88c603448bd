import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { NO_MODIFIERS } from '../../engine/aggregate/aggregate-function.ts';
import { findAggregateFunction } from '../../engine/aggregate/registry.ts';
import type { Chunk } from '../../engine/column/chunk.ts';
import { DYNAMIC, FLOAT64, INT64 } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import {
  type AggregateOptions,
  AggregateSink,
  GROUP_ORDER,
} from '../../engine/operator/aggregate.ts';
import { type LeadingBounds, LeadingGroups } from '../../engine/operator/leading-groups.ts';
import { TopSink } from '../../engine/operator/sort.ts';
import { assertCovered } from '../support/covered-property.ts';
import { chunkOf, column, divisions, emittedRows, type Row } from './harness.ts';

const WIDTH = 5;

/** Two keys, then what is asked of a third column: how many, the mean, and the greatest or the least. */
function optionsOf(name: 'max' | 'min', checkpoint?: () => void): AggregateOptions {
  const call = (aggregate: string, inputs: readonly number[]) => {
    const types = inputs.map(() => DYNAMIC);
    const overload = findAggregateFunction(aggregate)!.overloads.find(
      ({ parameters }) => parameters.length === inputs.length,
    )!;
    const create = () => overload.create(types, [], NO_MODIFIERS);
    return { arguments: inputs.map(column), type: aggregate === 'count' ? INT64 : FLOAT64, create };
  };
  return {
    keys: [0, 1].map((index) => ({ expression: column(index), type: DYNAMIC })),
    aggregates: [call('count', []), call('avg', [2]), call(name, [2])],
    checkpoint,
  };
}

type Wanted = {
  readonly count: number;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
};

function topOf(groups: AggregateSink, { count, descending, nullsFirst }: Wanted): SqlValue[][] {
  const byValue = { descending, nullsFirst, expression: column(4) };
  const byKeys = [0, 1].map((index) => ({ ...GROUP_ORDER, expression: column(index) }));
  const top = new TopSink({ keys: [byValue, ...byKeys], width: WIDTH, count });
  groups.emitUnordered(top);
  return emittedRows(top, WIDTH);
}

/** The first groups, all groups aggregated; and those of the sink under test, with how many groups it gave. */
function bothWays(chunks: readonly Chunk[], wanted: Wanted, bounds: LeadingBounds) {
  const options = optionsOf(wanted.descending ? 'max' : 'min');
  const all = new AggregateSink(options);
  const leading = new LeadingGroups(options, { aggregate: 2, ...wanted }, bounds);
  for (const chunk of chunks) {
    all.push(chunk);
    assert.ok(leading.push(chunk));
  }
  const groups = leading.groups();
  return {
    expected: topOf(all, wanted),
    given: topOf(groups, wanted),
    isCut: groups.size < all.size,
  };
}

const anyKey = fc.oneof(
  fc.nat(300).map((id) => `/o/${id % 3}/${id}`),
  fc.constantFrom<SqlValue>(null, true, 7, -0, 0.5, Number.NaN, '/7', 'a', 'é'),
);
const anyNumber = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -50, max: 50 }) },
  fc.constantFrom(0.5, -0, 1e300, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
);
/** Values that do not tell by themselves which groups lead. */
const anyOther = fc.constantFrom<SqlValue>(null, Number.NaN, 'text', 2n ** 60n, true);

const anyWanted = fc.record({
  count: fc.integer({ min: 1, max: 9 }),
  descending: fc.boolean(),
  nullsFirst: fc.boolean(),
});
const anyBounds = fc.record({
  groupsMin: fc.integer({ min: 1, max: 30 }),
  rowsMax: fc.oneof({ weight: 4, arbitrary: fc.constant(1000) }, fc.integer({ min: 0, max: 200 })),
});

function anyRows(value: fc.Arbitrary<SqlValue>): fc.Arbitrary<Row[]> {
  return fc.array(fc.tuple(anyKey, fc.constantFrom('x', 'y', null), value), {
    minLength: 60,
    maxLength: 150,
  });
}

/** Expects the first groups of all that were aggregated, more than so many times with fewer. */
async function expectFirst(value: fc.Arbitrary<SqlValue>, cutCountMin: number): Promise<void> {
  let cutCount = 0;
  await assertCovered(
    fc.property(anyRows(value), anyWanted, anyBounds, (rows, wanted, bounds) => {
      for (const chunks of divisions(rows)) {
        const { expected, given, isCut } = bothWays(chunks, wanted, bounds);
        assert.deepEqual(given, expected);
        cutCount += Number(isCut);
      }
    }),
    {
      numRuns: 200,
      isEnough: () => cutCount > cutCountMin,
      met: () => `groups were left out ${cutCount} times`,
    },
  );
}

test('the first groups are those of all groups aggregated, with fewer than all', () =>
  expectFirst(anyNumber, 50));

test('values that are NULL, NaN or no numbers stand where they do among all groups', async () => {
  const value = fc.oneof({ weight: 30, arbitrary: anyNumber }, anyOther);
  const nullable = fc.oneof({ weight: 5, arbitrary: anyNumber }, fc.constant(null));
  await expectFirst(value, 10);
  await expectFirst(nullable, 10);
});

test('of twenty thousand groups only some are aggregated, and the query can be stopped meanwhile', () => {
  const rows: Row[] = Array.from({ length: 40_000 }, (_, row) => {
    const id = (row * 7919) % 20_000;
    return [`/object/${id % 50}/${id}.png`, null, (id * 104_729) % 9973];
  });
  const chunks = Array.from({ length: 10 }, (_, part) =>
    chunkOf(rows.slice(4000 * part, 4000 * (part + 1))),
  );
  const wanted = { count: 20, descending: true, nullsFirst: false };
  let checkpoints = 0;
  const options = optionsOf('max', () => {
    checkpoints++;
  });
  const all = new AggregateSink(options);
  const leading = new LeadingGroups(options, { aggregate: 2, ...wanted });
  for (const chunk of chunks) {
    all.push(chunk);
    leading.push(chunk);
  }
  checkpoints = 0;
  const groups = leading.groups();
  assert.ok(checkpoints >= chunks.length);
  assert.ok(groups.size >= 20 && groups.size < 200, `${groups.size} groups`);
  assert.deepEqual(topOf(groups, wanted), topOf(all, wanted));
});

test('few groups are all aggregated', () => {
  const rows: Row[] = Array.from({ length: 20_000 }, (_, row) => [row % 100, null, row % 977]);
  const wanted = { count: 3, descending: false, nullsFirst: true };
  const options = optionsOf('min');
  const leading = new LeadingGroups(options, { aggregate: 2, ...wanted });
  for (let start = 0; start < rows.length; start += 3000) {
    leading.push(chunkOf(rows.slice(start, start + 3000)));
  }
  assert.equal(leading.groups().size, 100);
});
