import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  encodeNumbers,
  NumberValues,
  TRIPLE_MAX,
  Triples,
} from '../../engine/column/number-values.ts';
import { SliceSink, SliceSource } from '../../engine/column/slice.ts';
import { StringEncoder } from '../../engine/column/string-encoding.ts';
import { StringTable } from '../../engine/column/string-table.ts';
import { StringValues } from '../../engine/column/string-values.ts';

test('integers of three bytes come back', () => {
  const integer = fc.integer({ min: 0, max: TRIPLE_MAX });
  fc.assert(
    fc.property(fc.array(integer), (integers) => {
      const triples = new Triples(Triples.pack(Uint32Array.from(integers)));
      integers.forEach((value, index) => {
        assert.equal(triples.at(index), value);
      });
    }),
  );
});

test('numbers that are only picked take three bytes where two are too few and three are enough', () => {
  for (const [range, width] of [
    [65_535, 2],
    [65_536, 3],
    [TRIPLE_MAX, 3],
    [TRIPLE_MAX + 1, 4],
  ] as const) {
    const values = Float64Array.of(5_000_000_000, 5_000_000_000 + range, 5_000_000_007);
    const sink = new SliceSink(0);
    const footer = encodeNumbers(sink, values, values.length, 'picked');
    assert.equal(footer.width, width);
    const numbers = new NumberValues(sourceOf(sink), footer);
    const picked = numbers.gather(Int32Array.of(2, 0, 1), 3);
    assert.deepEqual([...picked], [values[2], values[0], values[1]]);
    assert.equal(numbers.value(1), values[1]);
    assert.equal(encodeNumbers(sink, values, values.length).width, width === 3 ? 4 : width);
  }
});

test('codes of a large compressed dictionary take three bytes', () => {
  const distinctCount = 66_000;
  const table = new StringTable();
  const codes = new Float64Array(2 * distinctCount);
  for (let n = 0; n < codes.length; n++) {
    const name = Buffer.from(`abcdefghijklmnopqrst_53bba5d8-421e-a790_${(n * 7) % distinctCount}`);
    const view = new DataView(name.buffer, name.byteOffset, name.length);
    codes[n] = table.intern(view, 0, name.length);
  }
  const sink = new SliceSink(0);
  const { bytes, offsets, count } = table;
  const footer = new StringEncoder(sink, { bytes, offsets }, count).encode(
    codes,
    codes.length,
    'text',
  );
  assert.equal(footer.packing.kind, 'deflated');
  assert(typeof footer.codes === 'object' && footer.codes?.width === 3);
  const strings = new StringValues(sourceOf(sink), footer);
  assert.equal(strings.hasEntryEach, false);
  const positions = Int32Array.of(0, -1, distinctCount, codes.length - 1);
  const gathered = strings.gather(positions, positions.length);
  const textAt = (position: number): string =>
    `abcdefghijklmnopqrst_53bba5d8-421e-a790_${(position * 7) % distinctCount}`;
  positions.forEach((position, index) => {
    if (position < 0) assert.equal(gathered[index], -1);
    else assert.equal(strings.entries.value(gathered[index]!), textAt(position));
  });
  assert.deepEqual(
    [...strings.codesOf(65_990, 20)].map((code) => strings.entries.value(code)),
    Array.from({ length: 20 }, (_, n) => textAt(65_990 + n)),
  );
});

function sourceOf(sink: SliceSink): SliceSource {
  const buffer = new SharedArrayBuffer(sink.place());
  sink.copyTo(buffer);
  return new SliceSource(buffer);
}
