import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hashBytes } from '../../engine/column/byte-table.ts';
import { ShapePicker, type Template } from '../../engine/column/split-choice.ts';

/** A string of one shape for each level, with the bytes it takes with each; `whole`: without. */
type Taken = { readonly shapes: readonly [string, number][]; readonly whole: number };

function pickerOf(strings: readonly Taken[]): ShapePicker {
  const picker = new ShapePicker(strings.length, strings[0]?.shapes.length ?? 1);
  for (const [index, { shapes, whole }] of strings.entries()) {
    picker.addWhole(index, whole);
    for (const [level, [text, size]] of shapes.entries()) {
      picker.add(index, level, templateOf(text), size);
    }
  }
  return picker;
}

function templateOf(text: string): Template {
  const bytes = Buffer.from(text);
  const of = {
    shape: bytes,
    shapeSize: bytes.length,
    shapeHash: hashBytes(bytes, 0, bytes.length),
  };
  return of as unknown as Template; // The picker reads these three alone.
}

function textsOf(table: ReturnType<ShapePicker['pick']>): string[] {
  return Array.from({ length: table.count }, (_, n) =>
    Buffer.from(table.bytes.subarray(table.offsets[n]!, table.offsets[n + 1]!)).toString('latin1'),
  );
}

test('rare strings share a shape, and those that come often have one of their own', () => {
  const often = (n: number): Taken => ({
    shapes: [
      ['/a=1', n],
      ['/w=1', 3 + n],
    ],
    whole: 10,
  });
  const rare = (word: string): Taken => ({
    shapes: [
      [word, 1],
      ['/w=1', 4],
    ],
    whole: 10,
  });
  const strings = [often(0), often(0), often(0), rare('/b=1'), rare('/c=1'), rare('/d=1')];
  const picker = pickerOf(strings);
  assert.deepEqual(textsOf(picker.pick(3)), ['\xfe', '/w=1', '/a=1']);
  assert.deepEqual(
    strings.map((_, index) => picker.levelOf(index)),
    [0, 0, 0, 1, 1, 1],
  );
  const few = pickerOf(strings);
  assert.deepEqual(textsOf(few.pick(2)), ['\xfe', '/w=1']);
  assert.deepEqual(
    strings.map((_, index) => few.levelOf(index)),
    [1, 1, 1, 1, 1, 1],
  );
});

test('a shape of one string is not picked, also when all templates give it', () => {
  const picker = pickerOf([
    {
      shapes: [
        ['/x', 0],
        ['/x', 0],
      ],
      whole: 9,
    },
  ]);
  assert.equal(picker.pick(256).count, 1);
  assert.equal(picker.levelOf(0), undefined);
});

test('each string has the first of its shapes that is picked', () => {
  const taken = fc.tuple(fc.nat(30), fc.nat(9), fc.nat(2)).map(([fine, middle, coarse]): Taken => {
    const shapes: [string, number][] = [
      [`/${coarse}/${middle}/${fine}`, 0],
      [`/${coarse}/${middle}`, 5],
      [`/${coarse}`, 8],
    ];
    return { shapes, whole: 20 };
  });
  fc.assert(
    fc.property(
      fc.array(taken, { minLength: 1, maxLength: 80 }),
      fc.integer({ min: 1, max: 20 }),
      (strings, countMax) => {
        const picker = pickerOf(strings);
        const picked = textsOf(picker.pick(countMax));
        assert.ok(picked.length <= countMax);
        for (const [index, { shapes }] of strings.entries()) {
          const first = shapes.findIndex(([shape]) => picked.includes(shape));
          assert.equal(picker.levelOf(index), first < 0 ? undefined : first);
        }
      },
    ),
  );
});
