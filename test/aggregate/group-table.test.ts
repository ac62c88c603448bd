import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GroupTable } from '../../engine/aggregate/group-table.ts';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { JsonNested } from '../../engine/column/json-nested.ts';
import { IntegerCoding, PackedNumbers, RunNumbers } from '../../engine/column/number-vectors.ts';
import type { SqlType } from '../../engine/column/type.ts';
import { arrayOf, BOOL, DYNAMIC, FLOAT64, INT64, STRING } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import {
  constantVector,
  numberVector,
  type Vector,
  valueVector,
} from '../../engine/column/vector.ts';
import { QueryError } from '../../engine/query-error.ts';
import { strings } from '../operator/harness.ts';
import { asDictionary, asNumbers, asTruths, formsOf } from './rows-of-groups.ts';

function groupsOf(table: GroupTable, vectors: readonly Vector[], count: number): number[] {
  return [...table.assign(vectors, count).subarray(0, count)];
}

/** The groups of a column of keys in a fresh table; the same in every form of vector. */
function groupsOfColumn(type: SqlType, keys: readonly SqlValue[]): number[] {
  const [first, ...others] = formsOf(keys).map((form) =>
    groupsOf(new GroupTable([type]), [form(keys)], keys.length),
  );
  for (const other of others) assert.deepEqual(other, first);
  return first!;
}

function record(json: string): JsonNested {
  const bytes = new TextEncoder().encode(json);
  return new JsonNested(bytes, 0, bytes.length);
}

test('without keys there is one group from the start', () => {
  const table = new GroupTable([]);
  assert.equal(table.size, 1);
  assert.deepEqual(groupsOf(table, [], 3), [0, 0, 0]);
  assert.deepEqual([...table.combine(structuredClone(new GroupTable([]).keys()))], [0]);
});

test('groups are numbered in the order their keys are first met', () => {
  assert.deepEqual(groupsOfColumn(INT64, [30, 10, 30, 10, 20]), [0, 1, 0, 1, 2]);
  assert.deepEqual(groupsOfColumn(STRING, ['b', 'a', 'b', '']), [0, 1, 0, 2]);
  assert.deepEqual(groupsOfColumn(BOOL, [true, false, null, true]), [0, 1, 2, 0]);
});

test('NULL is a group; so is NaN; 0 and -0 are one', () => {
  const { NaN: nan } = Number;
  assert.deepEqual(groupsOfColumn(FLOAT64, [null, 0, nan, -0, null, nan]), [0, 1, 2, 1, 0, 2]);
  const table = new GroupTable([FLOAT64]);
  table.assign([asNumbers([-0])], 1);
  assert.ok(Object.is(table.key(0, 0), 0));
});

test('under DYNAMIC numbers meet by value, other kinds never', () => {
  const keys = [1, '1', true, 'true', 2n ** 60n, 2 ** 60, null, 1];
  assert.deepEqual(groupsOfColumn(DYNAMIC, keys), [0, 1, 2, 3, 4, 4, 5, 0]);
  const table = new GroupTable([DYNAMIC]);
  table.assign([valueVector([2 ** 60])], 1);
  assert.equal(table.key(0, 0), 2n ** 60n);
});

test('under FLOAT64 a key is a double', () => {
  assert.deepEqual(groupsOfColumn(FLOAT64, [2n ** 53n + 1n, 2 ** 53]), [0, 0]);
});

test('records and lists are keys by their JSON', () => {
  const table = new GroupTable([DYNAMIC]);
  const keys = [record('{"a":1}'), record('[1]'), record('{"a":1}'), '{"a":1}'];
  assert.deepEqual(groupsOf(table, [valueVector(keys)], 4), [0, 1, 0, 2]);
  const copy = new GroupTable([DYNAMIC]);
  copy.combine(structuredClone(table.keys()));
  const json = new JsonBuffer();
  (copy.key(0, 0) as JsonNested).writeJson(json);
  assert.equal(new TextDecoder().decode(json.take()), '{"a":1}');
  assert.equal(copy.key(2, 0), '{"a":1}');
});

test('ARRAYs are one key when their elements are, also across tables', () => {
  const type = arrayOf(FLOAT64);
  const table = new GroupTable([type]);
  const lists = [[1, 0], [1, -0], [1], null, [], [Number.NaN], [Number.NaN], [1, null]];
  assert.deepEqual([...table.assign([valueVector(lists)], 8)], [0, 0, 1, 2, 3, 4, 4, 5]);
  const other = new GroupTable([type]);
  other.assign([valueVector([[1]])], 1);
  assert.deepEqual([...other.combine(structuredClone(table.keys()))], [1, 0, 2, 3, 4, 5]);
  assert.deepEqual(other.key(1, 0), [1, 0]);
});

test('more groups than the limit are refused, as many are not', () => {
  const table = new GroupTable([INT64], 3);
  table.assign([asNumbers([1, 2, 3, 1])], 4);
  assert.throws(
    () => table.assign([asNumbers([4])], 1),
    (error) =>
      error instanceof QueryError &&
      error.code === 'query_limit' &&
      error.message === 'there may be at most 3 groups of one aggregation (GROUPS_MAX); got 4',
  );
});

test('groups of several keys are those of their tuples, also across tables', () => {
  const key = fc.constantFrom<SqlValue>(null, 0, 1, -0, 'a', 'b', true, 2 ** 60, 2n ** 60n);
  const row = fc.tuple(key, fc.constantFrom(null, 'x', 'y'), fc.constantFrom(null, true, false));
  const number = fc.constantFrom(null, 1.5, Number.NaN);
  const rows = fc.array(fc.tuple(row, number), { maxLength: 40 });
  fc.assert(
    fc.property(rows, rows, (first, second) => {
      const types = [DYNAMIC, STRING, BOOL, FLOAT64];
      const columns = (part: typeof first): Vector[] => [
        valueVector(part.map(([[value]]) => value)),
        asDictionary(part.map(([[, value]]) => value)),
        asTruths(part.map(([[, , value]]) => value)),
        asNumbers(part.map(([, value]) => value)),
      ];
      const table = new GroupTable(types);
      const groups = groupsOf(table, columns(first), first.length);
      const other = new GroupTable(types);
      const otherGroups = groupsOf(other, columns(second), second.length);
      const ours = table.combine(structuredClone(other.keys()));
      const all = [...first, ...second].map(([[a, b, c], d]) => [a, b, c, d]);
      const found = [...groups, ...otherGroups.map((group) => ours[group]!)];
      const names = all.map((tuple) => tuple.map(keyName).join());
      assert.equal(table.size, new Set(names).size);
      names.forEach((name, index) => {
        assert.equal(found[index], found[names.indexOf(name)]);
        const keys = types.map((_, column) => keyName(table.key(found[index]!, column)));
        assert.equal(keys.join(), name);
      });
    }),
  );
});

test('a hundred thousand numbers keep their groups', () => {
  const keys = Array.from({ length: 100_000 }, (_, index) => index * 3.6e9 + 1.7e15);
  const table = new GroupTable([INT64]);
  const expected = keys.map((_, index) => index);
  assert.deepEqual(groupsOf(table, [asNumbers(keys)], keys.length), expected);
  assert.deepEqual(groupsOf(table, [asNumbers(keys)], keys.length), expected);
  assert.equal(table.key(99_999, 0), keys[99_999]);
});

/** Equal for keys that GROUP BY holds equal. */
function keyName(value: SqlValue): string {
  return typeof value === 'number' && Math.abs(value) >= 2 ** 53
    ? `bigint ${BigInt(value)}`
    : `${typeof value} ${typeof value === 'number' ? value + 0 : value}`;
}

test('integers where they lie are the keys that their values are', () => {
  const coding = IntegerCoding.inSteps(-1, 2, 5);
  const codes = Uint16Array.of(9, 9, 5, 0, 1, 0, 5, 3, 3, 0);
  const packed = new PackedNumbers(codes, { start: 2, count: 8, isAscending: false }, coding);
  const table = new GroupTable([FLOAT64]);
  table.assign([numberVector(Float64Array.of(1, 7), 2)], 2);
  const groups = [...table.assign([packed], 8).subarray(0, 8)];
  assert.deepEqual(
    groups.map((group) => table.key(group, 0)),
    [9, -1, 1, -1, 9, 5, 5, -1],
  );
  assert.deepEqual(groups, [2, 3, 0, 3, 2, 4, 4, 3]);
  assert.equal(table.size, 5);
});

test('keys by code behind keys in runs have the groups of single values, in the same order', () => {
  const run = fc.record({
    value: fc.integer({ min: 0, max: 3 }),
    names: fc.array(fc.constantFrom(null, 'a', 'b'), { minLength: 1, maxLength: 60 }),
  });
  const chunk = fc.tuple(fc.array(run, { minLength: 1, maxLength: 4 }), fc.constantFrom(5, null));
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 4 }), (chunks) => {
      const types = [INT64, DYNAMIC, STRING];
      const [byCode, single] = [new GroupTable(types), new GroupTable(types)];
      for (const [runs, constant] of chunks) {
        const names = runs.flatMap((each) => each.names);
        const times = runs.flatMap((each) => each.names.map(() => each.value));
        let end = 0;
        const ends = Int32Array.from(runs, (each) => {
          end += each.names.length;
          return end;
        });
        const values = Float64Array.from(runs, (each) => each.value);
        const inRuns = new RunNumbers(values, ends, end);
        const rest = constantVector(constant, end);
        assert.deepEqual(
          groupsOf(byCode, [inRuns, rest, strings(names)], end),
          groupsOf(single, [valueVector(times), rest, valueVector(names)], end),
        );
      }
      for (let group = 0; group < single.size; group++) {
        for (const column of [0, 1, 2]) {
          assert.equal(byCode.key(group, column), single.key(group, column));
        }
      }
    }),
  );
});
