import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countedIntegers, IntegerLog } from '../../engine/aggregate/integer-log.ts';
import { IntegerCoding } from '../../engine/column/number-vectors.ts';

/** Groups with few entries, and one with more than are inserted or than there is room for at first. */
const ENTRIES = fc.array(
  fc.record({
    group: fc.oneof(fc.nat(3), fc.constant(6)),
    value: fc.oneof(fc.nat(3), fc.constantFrom(0, 65_535), fc.nat(65_535)),
    // Of 40 times 20 entries the sum stays below 2^32, as a log wants it.
    count: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(5_000_000)),
  }),
  { maxLength: 40 },
);

test('a log gives each integer of a group once, in order, with the sum of its counts', () => {
  fc.assert(
    fc.property(ENTRIES, fc.constantFrom(1, 20), fc.boolean(), (once, times, asksBetween) => {
      const log = new IntegerLog();
      const expected = new Map<number, Map<number, number>>();
      for (let time = 0; time < times; time++) {
        for (const { group, value, count } of once) {
          log.add(group, value, count);
          const counts = expected.get(group) ?? new Map<number, number>();
          expected.set(group, counts.set(value, (counts.get(value) ?? 0) + count));
        }
        if (asksBetween) log.grouped();
      }
      const { starts, values, counts } = log.grouped();
      const got = new Map<number, [number, number][]>();
      for (let group = 0; group + 1 < starts.length; group++) {
        const entries: [number, number][] = [];
        for (let at = starts[group]!; at < starts[group + 1]!; at++) {
          entries.push([values[at]!, counts[at]!]);
        }
        if (entries.length > 0) got.set(group, entries);
      }
      const wanted = [...expected].map(([group, each]): [number, [number, number][]] => [
        group,
        [...each].sort(([left], [right]) => left - right),
      ]);
      assert.deepEqual(got, new Map(wanted.sort(([left], [right]) => left - right)));
    }),
  );
});

test('a log of a few integers that come often stays small', () => {
  const log = new IntegerLog();
  for (let row = 0; row < 100_000; row++) log.add(row % 3, row % 5, 1);
  const { starts, counts } = log.grouped();
  assert.equal(starts.at(-1), 15);
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    100_000,
  );
});

test('entries of a list are logged as one by one, however much room there is', () => {
  const sizes = fc.array(fc.constantFrom(0, 1, 5, 255, 256, 257, 3000), { maxLength: 4 });
  fc.assert(
    fc.property(sizes, fc.constantFrom(1, 20), (lengths, step) => {
      const [whole, each] = [new IntegerLog(), new IntegerLog()];
      for (const [group, length] of lengths.entries()) {
        const values = Uint16Array.from({ length: length + 2 }, (_, entry) => step * entry);
        const counts = Uint32Array.from(values, (value) => 1 + (value % 3));
        whole.addAll(group, countedIntegers({ values, counts }), { start: 1, end: length + 1 });
        for (let entry = 1; entry <= length; entry++) {
          each.add(group, values[entry]!, counts[entry]!);
        }
      }
      assert.deepEqual(entriesOf(whole), entriesOf(each));
    }),
  );
});

const anyInteger = fc.oneof(fc.nat(9), fc.nat(65_535));

/** Lists of a few groups, in any order of these. */
const anyLists = fc.array(
  fc.record({
    group: fc.nat(5),
    integers: fc.oneof(
      fc.array(anyInteger, { minLength: 2, maxLength: 10 }),
      fc.array(anyInteger, { minLength: 2, maxLength: 128, size: 'max' }),
    ),
    asks: fc.boolean(),
  }),
  { maxLength: 12 },
);

test('what is added as lists comes to what is added one by one, however it is asked for', () => {
  fc.assert(
    fc.property(anyLists, fc.boolean(), (lists, inOrder) => {
      const [log, each] = [new IntegerLog(), new IntegerLog()];
      const given = inOrder ? lists.toSorted((left, right) => left.group - right.group) : lists;
      const check = () => {
        const expected = entriesOf(each);
        for (let group = 0; group < 8; group++) {
          const { values, counts, start, end } = log.of(group);
          const got = Array.from({ length: end - start }, (_, at) => {
            return [group, values[start + at], counts[start + at]];
          });
          assert.deepEqual(
            got,
            expected.filter(([of]) => of === group),
          );
        }
        assert.deepEqual(entriesOf(log), expected);
      };
      for (const { group, integers, asks } of given) {
        const list = [...new Set(integers)].sort((left, right) => left - right);
        const values = Uint16Array.from(list);
        const counts = Uint32Array.from(list, () => 1);
        log.addAll(group, countedIntegers({ values, counts }), { start: 0, end: list.length });
        for (const integer of list) each.add(group, integer, 1);
        if (asks) check();
      }
      check();
    }),
    { numRuns: 300 },
  );
});

test('integers are logged by their codes as they are, however far away the least may be', () => {
  const steps = fc.constantFrom(1, 7, 1000, 1_000_000, 2 ** 33);
  const many = fc.integer({ min: 1, max: 200 });
  fc.assert(
    fc.property(fc.nat(65_535), fc.nat(65_000), steps, many, (least, firstCode, step, most) => {
      const values: number[] = [];
      for (let value = least; value < 65_536 && values.length < most; value += step) {
        values.push(value);
      }
      const inSteps = IntegerCoding.inSteps(least - step * firstCode, step, 65_535);
      const table = Float64Array.from({ length: firstCode + most }, (_, code) => code - firstCode);
      table.set(values, firstCode);
      const counts = Uint32Array.from(values, (value) => 1 + (value % 3));
      const codes = Uint32Array.from(values, (_, entry) => firstCode + entry);
      for (const coding of [inSteps, IntegerCoding.byTable(table)]) {
        const log = new IntegerLog();
        log.addAll(3, { codes, counts, coding }, { start: 0, end: codes.length });
        assert.deepEqual(
          entriesOf(log),
          values.map((value, entry) => [3, value, counts[entry]]),
        );
      }
    }),
  );
});

test('what is dropped of a log is gone, whatever comes behind it', () => {
  fc.assert(
    fc.property(ENTRIES, ENTRIES, fc.array(fc.nat(4), { maxLength: 7 }), (before, after, drops) => {
      const [log, expected] = [new IntegerLog(), new IntegerLog()];
      for (const { group, value, count } of before) log.add(group, value, count);
      const { starts, values, counts } = log.grouped();
      const dropped = new Int32Array(starts.length - 1);
      for (let group = 0; group < dropped.length; group++) {
        const length = starts[group + 1]! - starts[group]!;
        dropped[group] = Math.min(drops[group] ?? 0, length);
        expected.addAll(group, countedIntegers({ values, counts }), {
          start: starts[group]! + dropped[group]!,
          end: starts[group + 1]!,
        });
      }
      log.dropFirst(dropped);
      assert.deepEqual(entriesOf(log), entriesOf(expected));
      for (const { group, value, count } of after) {
        log.add(group, value, count);
        expected.add(group, value, count);
      }
      assert.deepEqual(entriesOf(log), entriesOf(expected));
    }),
  );
});

/** All entries: group, integer, count. */
function entriesOf(log: IntegerLog): [number, number, number][] {
  const { starts, values, counts } = log.grouped();
  const entries: [number, number, number][] = [];
  for (let group = 0; group + 1 < starts.length; group++) {
    for (let at = starts[group]!; at < starts[group + 1]!; at++) {
      entries.push([group, values[at]!, counts[at]!]);
    }
  }
  return entries;
}
