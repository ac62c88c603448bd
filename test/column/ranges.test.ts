import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeNumbers, NumberValues } from '../../engine/column/number-values.ts';
import { IntegerCoding, PackedNumbers } from '../../engine/column/number-vectors.ts';
import { encodePositions, openPositions, rangeStart } from '../../engine/column/positions.ts';
import { newSliceSink } from '../../engine/column/sealed-layout.ts';
import { type SliceSink, SliceSource } from '../../engine/column/slice.ts';
import { valueAt } from '../../engine/column/vector.ts';

function sourceOf(sink: SliceSink): SliceSource {
  const buffer = new SharedArrayBuffer(sink.place());
  sink.copyTo(buffer);
  return new SliceSource(buffer);
}

const columns = fc.oneof(
  fc.array(fc.integer({ min: -5, max: 250 }), { minLength: 1 }),
  fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 1 }),
  fc.array(
    fc.integer({ min: 0, max: 9_000_000 }).map((n) => n * 1000),
    { minLength: 1 },
  ),
  fc.array(fc.double({ noNaN: true }), { minLength: 1 }),
  fc.array(fc.constantFrom(1.5, 2.5, -0), { minLength: 1 }),
  fc.array(fc.constant(42), { minLength: 1 }),
  fc.array(fc.constantFrom(200, 404, 546, 70_000), { minLength: 130, maxLength: 200 }),
);

test('a range of numbers is those at its positions, in every encoding', () => {
  fc.assert(
    fc.property(columns, fc.nat(), fc.nat(), (values, from, length) => {
      const sink = newSliceSink();
      const footer = encodeNumbers(sink, Float64Array.from(values), values.length);
      const column = new NumberValues(sourceOf(sink), footer);
      const start = from % values.length;
      const count = 1 + (length % (values.length - start));
      const range = column.range({ start, count, isAscending: from % 2 === 0 });
      assert.equal(range === undefined, footer.encoding === 'float32');
      if (range === undefined) return;
      assert.equal(range.count, count);
      const got = Array.from({ length: count }, (_, index) => valueAt(range, index));
      assert.deepEqual(got, values.slice(start, start + count));
    }),
  );
});

test('few integers far from each other take a byte each, and are found wherever they are read', () => {
  const few = fc.uniqueArray(fc.integer(), { minLength: 2, maxLength: 300 });
  fc.assert(
    fc.property(few, fc.integer({ min: 1, max: 64 }), (distinct, times) => {
      const span = Math.max(...distinct) - Math.min(...distinct);
      const values = Array.from({ length: distinct.length * times }, (_, i) => {
        return distinct[(i * 7 + Math.floor(i / distinct.length)) % distinct.length]!;
      });
      const sink = newSliceSink();
      const footer = encodeNumbers(sink, Float64Array.from(values), values.length);
      const isTable = footer.encoding === 'table';
      if (isTable) assert.equal(footer.width, 1);
      const column = new NumberValues(sourceOf(sink), footer);
      if (span > 255_000_000 && distinct.length <= 256 && times >= 40) {
        assert.ok(isTable);
      }
      const positions = Int32Array.from(values, (_, i) => values.length - 1 - i);
      assert.deepEqual([...column.gather(positions, values.length)], values.toReversed());
      assert.equal(column.value(1), values[1]);
    }),
  );
});

test('numbers of a table are one byte from so many values on, and as before below', () => {
  const width = (distinctCount: number, count: number): string => {
    const values = Float64Array.from(
      { length: count },
      (_, i) => 1000 * (i % distinctCount) + (i % distinctCount === 1 ? 1 : 0),
    );
    const { encoding, width } = encodeNumbers(newSliceSink(), values, count);
    return `${encoding} ${width}`;
  };
  assert.equal(width(3, 31 * 3), 'unsigned 2');
  assert.equal(width(3, 32 * 3), 'table 1');
  assert.equal(width(256, 32 * 256), 'table 1');
  assert.equal(width(257, 32 * 257), 'unsigned 4');
});

test('integers where they lie are shifted as long as all are safe', () => {
  const coding = IntegerCoding.inSteps(10, 5, 3);
  const range = { start: 1, count: 3, isAscending: true };
  const numbers = new PackedNumbers(Uint8Array.of(0, 1, 2, 3, 0), range, coding);
  assert.deepEqual([...numbers.values], [15, 20, 25]);
  assert.deepEqual([...numbers.shifted(-20)!.values], [-5, 0, 5]);
  assert.equal(numbers.shifted(-20)!.isAscending, true);
  assert.equal(numbers.shifted(0), numbers);
  assert.equal(numbers.shifted(0.5), undefined);
  assert.notEqual(numbers.shifted(Number.MAX_SAFE_INTEGER - 25), undefined);
  assert.equal(numbers.shifted(Number.MAX_SAFE_INTEGER - 24), undefined);
  assert.deepEqual([...coding.decoded().values], [10, 15, 20, 25]);
});

test('integers of a table are shifted, and found by their codes, as others are', () => {
  const coding = IntegerCoding.byTable(Float64Array.of(-3, 200, 546));
  const range = { start: 1, count: 3, isAscending: false };
  const numbers = new PackedNumbers(Uint8Array.of(0, 2, 0, 1), range, coding);
  assert.deepEqual([...numbers.values], [546, -3, 200]);
  assert.deepEqual([...numbers.shifted(3)!.values], [549, 0, 203]);
  assert.equal(numbers.shifted(0), numbers);
  assert.equal(numbers.shifted(Number.MAX_SAFE_INTEGER), undefined);
  assert.equal(coding.codeMax, 2);
  for (let code = 0; code <= 2; code++) assert.equal(coding.codeOf(coding.value(code)), code);
});

test('values of consecutive rows lie one after the other where each row has just one', () => {
  const rowCount = 100;
  const perRow = fc.array(fc.constantFrom(0, 1, 1, 1, 2), {
    minLength: rowCount,
    maxLength: rowCount,
  });
  fc.assert(
    fc.property(
      perRow,
      fc.boolean(),
      fc.nat(rowCount - 1),
      fc.nat(8),
      (counts, single, row, rest) => {
        const valuesOf = counts.map((count) => (single ? Math.min(count, 1) : count));
        const rows = Uint32Array.from(valuesOf.flatMap((count, index) => Array(count).fill(index)));
        const perRowMax = Math.max(...valuesOf);
        const sink = newSliceSink();
        const footer = encodePositions(
          sink,
          { rows, valueCount: rows.length, perRowMax },
          rowCount,
        );
        const positions = openPositions(sourceOf(sink), footer);
        const end = Math.min(rowCount, row + 1 + rest);
        const ofRange = valuesOf.slice(row, end);
        // As is known of the rows asked for: each has a value.
        if (ofRange.some((count) => count === 0)) return;
        const areSingle = ofRange.every((count) => count === 1);
        assert.equal(rangeStart(positions, row, end - row), areSingle ? rows.indexOf(row) : -1);
      },
    ),
  );
});
