import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { KeyForms, NO_KEY, TextPatterns } from '../../engine/aggregate/text-patterns.ts';
import { decodeWtf8, encodeWtf8 } from '../../engine/column/wtf8.ts';
import { splitColumn } from '../column/split-column.ts';
import { runsOf } from '../support/budget.ts';

function keyOf(patterns: TextPatterns, text: string): number {
  const bytes = encodeWtf8(`_${text}`);
  return patterns.keyOf(bytes, 1, bytes.length);
}

const anyWord = fc.oneof(
  fc.constantFrom('a', 'object', 'naïve', '\ud800', 'v2', '007', '00', 'x_1'),
  fc.nat(300).map(String),
  fc.constantFrom('0', '127', '128', '16383', '16384', '99999999', '34359738367', '34359738368'),
);
const anyText = fc
  .array(fc.tuple(anyWord, fc.constantFrom('/', '-', '.', '?', ' ')), { maxLength: 4 })
  .map((words) => words.flat().join(''));

test('equal keys are those of equal texts', () => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 60 }), (texts) => {
      const patterns = new TextPatterns();
      const textOf = new Map<number, string>();
      for (const text of texts) {
        const key = keyOf(patterns, text);
        if (key === NO_KEY) continue;
        assert.ok(Number.isSafeInteger(key));
        assert.equal(textOf.get(key) ?? text, text);
        textOf.set(key, text);
        assert.equal(keyOf(patterns, text), key);
      }
      assert.equal(new Set(textOf.values()).size, textOf.size);
    }),
    { numRuns: runsOf(300) },
  );
});

test('a text has a key where some of its words are numbers, of five bytes together', () => {
  const patterns = new TextPatterns();
  const hasKey = (text: string): boolean => keyOf(patterns, text) !== NO_KEY;
  assert.deepEqual(['', '/', 'a', 'v2', '007', 'a/00.png', 'é1'].filter(hasKey), []);
  const withNumbers = ['0', '/7', 'a/127.png', '34359738367', '1/2/3/4/5', '16383/16383/1'];
  assert.deepEqual(withNumbers.filter(hasKey), withNumbers);
  const withMore = ['34359738368', '1/2/3/4/5/6', '16384/16383/1', '9999999999999999'];
  assert.deepEqual(withMore.filter(hasKey), []);
  // All but for dashes it might be a UUID.
  assert.equal(hasKey('1-2-3-4-5'), false);
  assert.equal(hasKey('1-2-3-4'), true);
});

test('texts of one pattern too many have no key', () => {
  const patterns = new TextPatterns();
  const texts = Array.from({ length: 4097 }, (_, index) => `n${index}/1`);
  const keys = texts.map((text) => keyOf(patterns, text));
  assert.deepEqual(keys.indexOf(NO_KEY), 4096);
  assert.equal(keyOf(patterns, 'n4095/1'), keys[4095]);
  assert.ok(![NO_KEY, ...keys].includes(keyOf(patterns, 'n0/2')));
});

test('strings taken apart have the keys that they have whole', () => {
  const anyPath = fc.oneof(
    fc
      .tuple(fc.constantFrom('a', 'b'), fc.nat(20))
      .map(([name, id]) => `/o/${name}/${id % 5}/${id}`),
    fc.nat(70_000).map((id) => `/${id}/3/x.png`),
    fc.uuid().map((id) => `/u/${id}`),
    fc.constantFrom('/health', '/o/1.png', '/007'),
  );
  const anyUrl = fc.tuple(anyPath, fc.constantFrom('', '?id=4', '?v=34359738367', '#5'));
  const anyHead = fc.constantFrom('', 'https://1.example');
  let keyCount = 0;
  fc.assert(
    fc.property(fc.array(anyUrl, { minLength: 300, maxLength: 500 }), anyHead, (drawn, head) => {
      const records = drawn.map(([path, tail]) => ({ url: `${head}${path}${tail}`, path }));
      for (const { split, values } of splitColumn(records)) {
        const patterns = new TextPatterns();
        const forms = new KeyForms(split.shapes.offsets.length - 1, (shape) =>
          patterns.formOf(split, shape),
        );
        const codes = Int32Array.from({ length: values.length + 1 }, (_, row) => row - 1);
        const keys = new Float64Array(codes.length);
        const starts = new Int32Array(codes.length);
        split.partStarts(codes, codes.length, starts);
        const entries = { codes, starts, count: codes.length };
        if (split.heads.offsets.length === 2) forms.keysOf(split, entries, keys);
        else keys.fill(NO_KEY);
        assert.equal(keys[0], NO_KEY);
        for (const [code, value] of values.entries()) {
          const key = keys[code + 1]!;
          if (key === NO_KEY) continue;
          keyCount++;
          assert.equal(key, keyOf(patterns, value));
          const { bytes, start, end } = split.range(code);
          assert.equal(decodeWtf8(bytes, start, end), value);
        }
      }
    }),
    { numRuns: 4 },
  );
  assert.ok(keyCount > 0, 'some strings taken apart have keys');
});
