import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import {
  ROW_TEXT_SIZE_MAX,
  ROW_TEXT_SIZE_MIN,
  RowTexts,
  TextRing,
} from '../../engine/column/row-texts.ts';

const RING_SIZE = 1000;

/** Its text tells whose it is, and is of a length that none of its neighbours has. */
function textOf(segment: number, row: number, node: number, size: number): string {
  return `${segment}/${row}/${node}/`.padEnd(size, String.fromCharCode(97 + ((row + size) % 26)));
}

function keep(texts: RowTexts, row: number, node: number, text: string): void {
  texts.keep(row, node, Buffer.from(text));
}

/** What is kept for a node of a row; `undefined` when nothing is. */
function find(texts: RowTexts, row: number, node: number): string | undefined {
  const out = new JsonBuffer();
  const isFound = texts.write(row, node, out);
  const text = Buffer.from(out.take()).toString();
  if (!isFound) assert.equal(text, '', 'what is not kept writes nothing');
  return isFound ? text : undefined;
}

test('a text comes back as it was kept, and no other', () => {
  const texts = new RowTexts(new TextRing(RING_SIZE));
  const text = textOf(0, 1, 2, 100);
  keep(texts, 1, 2, text);
  assert.equal(find(texts, 1, 2), text);
  assert.equal(find(texts, 1, 3), undefined, 'another record of the row');
  assert.equal(find(texts, 2, 2), undefined, 'another row');
});

test('of a row the text written last is kept', () => {
  const texts = new RowTexts(new TextRing(RING_SIZE));
  keep(texts, 1, 2, textOf(0, 1, 2, 100));
  keep(texts, 1, 3, textOf(0, 1, 3, 50));
  assert.equal(find(texts, 1, 2), undefined);
  assert.equal(find(texts, 1, 3), textOf(0, 1, 3, 50));
});

test('texts that are too short or too long are not kept', () => {
  const texts = new RowTexts();
  for (const size of [ROW_TEXT_SIZE_MIN - 1, ROW_TEXT_SIZE_MAX + 1]) {
    keep(texts, size, 0, textOf(0, size, 0, size));
    assert.equal(find(texts, size, 0), undefined, `${size} bytes`);
  }
  for (const size of [ROW_TEXT_SIZE_MIN, ROW_TEXT_SIZE_MAX]) {
    keep(texts, size, 0, textOf(0, size, 0, size));
    assert.equal(find(texts, size, 0), textOf(0, size, 0, size), `${size} bytes`);
  }
});

test('what is not asked for goes first', () => {
  const texts = new RowTexts(new TextRing(RING_SIZE));
  for (let row = 0; row < 10_000; row++) {
    keep(texts, row, 0, textOf(0, row, 0, 100));
    assert.equal(find(texts, 0, 0), textOf(0, 0, 0, 100), 'asked for after each other text');
  }
  assert.equal(find(texts, 9_950, 0), undefined);
  assert.equal(find(texts, 9_999, 0), textOf(0, 9_999, 0, 100));
});

test('whatever is kept and asked for, in whichever order: the text of the row, or none', () => {
  const step = fc.record({
    isKept: fc.boolean(),
    segment: fc.nat(1),
    row: fc.nat(3),
    node: fc.nat(1),
    size: fc.integer({ min: ROW_TEXT_SIZE_MIN, max: 400 }),
  });
  let foundCount = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 30, maxLength: 100 }), (steps) => {
      const ring = new TextRing(RING_SIZE);
      const segments = [new RowTexts(ring), new RowTexts(ring)];
      const last = new Map<string, { readonly node: number; readonly text: string }>();
      for (const { isKept, segment, row, node, size } of steps) {
        const texts = segments[segment]!;
        const name = `${segment} ${row}`;
        if (isKept) {
          const text = textOf(segment, row, node, size);
          keep(texts, row, node, text);
          last.set(name, { node, text });
          assert.equal(find(texts, row, node), text, 'just kept');
          continue;
        }
        const found = find(texts, row, node);
        if (found === undefined) continue;
        foundCount++;
        assert.deepEqual(last.get(name), { node, text: found });
      }
    }),
  );
  assert.ok(foundCount > 100, `only ${foundCount} were found`);
});
