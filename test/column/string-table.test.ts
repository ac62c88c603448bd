import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { StringList, StringTable } from '../../engine/column/string-table.ts';

function viewOf(text: string): DataView {
  const bytes = Buffer.from(text);
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function intern(table: StringTable, text: string, guess?: number): number {
  const view = viewOf(text);
  return table.intern(view, 0, view.byteLength, guess);
}

function find(table: StringTable, text: string): number {
  const view = viewOf(text);
  return table.find(view, 0, view.byteLength);
}

function textOf(table: StringTable, code: number): string {
  const { bytes, offsets } = table;
  return Buffer.from(bytes.slice(offsets[code], offsets[code + 1])).toString();
}

test('a string has one code, counted from zero, whatever is guessed', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.integer({ min: -1, max: 5 }))),
      (entries) => {
        const table = new StringTable();
        const codes = new Map<string, number>();
        for (const [text, guess] of entries) {
          const expected = codes.get(text) ?? codes.size;
          codes.set(text, expected);
          // Only a code that is there may be guessed.
          assert.equal(intern(table, text, guess < table.count ? guess : -1), expected);
        }
        for (const [text, code] of codes) assert.equal(textOf(table, code), text);
      },
    ),
  );
});

test('strings interned together have the codes that they have one by one', () => {
  const text = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(fc.array(fc.array(text, { maxLength: 9 }), { maxLength: 9 }), (rows) => {
      const together = new StringTable();
      const oneByOne = new StringTable();
      const list = new StringList();
      for (const row of rows) {
        const view = viewOf(row.join(''));
        list.begin(row.length);
        let end = 0;
        for (const [place, each] of row.entries()) {
          const start = end;
          end += Buffer.byteLength(each);
          list.add(start, end, place);
        }
        together.internAll(view, list);
        const codes = row.map((each) => intern(oneByOne, each));
        assert.deepEqual([...list.codes.subarray(0, list.count)], codes);
      }
      assert.equal(together.count, oneByOne.count);
    }),
  );
});

test('while a table outgrows itself nothing is forgotten, and nothing there twice', () => {
  const table = new StringTable();
  const count = 70_000;
  for (let code = 0; code < count; code++) {
    assert.equal(find(table, `string ${code}`), -1);
    assert.equal(intern(table, `string ${code}`), code);
    // Strings from before, some of them moved already and some not.
    const other = (code * 7_919) % (code + 1);
    assert.equal(find(table, `string ${other}`), other);
    assert.equal(intern(table, `string ${other}`), other);
  }
  assert.equal(table.count, count);
  assert.equal(textOf(table, count - 1), `string ${count - 1}`);
});

test('what has been handed out stays as it is when the table grows', () => {
  const table = new StringTable();
  intern(table, 'first');
  const { bytes, offsets } = table;
  for (let code = 1; code < 20_000; code++) intern(table, `a rather long string, number ${code}`);
  assert.notEqual(table.bytes, bytes);
  assert.equal(Buffer.from(bytes.slice(offsets[0], offsets[1])).toString(), 'first');
});
