import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCodePoint } from '../support/code-point.ts';
import { call, callAs } from './call.ts';

const text = fc.string({ unit: anyCodePoint });
const bytes = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
});

test('what a text is split at joins it again', () => {
  const delimiter = fc.constantFrom('', ',', 'ab', '😀');
  fc.assert(
    fc.property(text, delimiter, (value, between) => {
      const parts = callAs('split', 'STRING,STRING', value, between);
      assert.equal(call('array_to_string', parts, between), value);
    }),
  );
});

test('a text reversed twice is itself, and LEFT and RIGHT part it', () => {
  fc.assert(
    fc.property(text, fc.nat(8), (value, count) => {
      assert.equal(call('reverse', call('reverse', value)), value);
      const length = call('length', value) as number;
      const rest = Math.max(0, length - count);
      assert.equal(`${call('left', value, count)}${call('right', value, rest)}`, value);
    }),
  );
});

test('a text filled up has the length that was asked for', () => {
  const pattern = fc.string({ minLength: 1, unit: anyCodePoint });
  fc.assert(
    fc.property(text, fc.nat(20), pattern, (value, length, fill) => {
      assert.equal(call('length', call('lpad', value, length, fill)), length);
      assert.equal(call('length', call('rpad', value, length, fill)), length);
    }),
  );
});

test('the place that INSTR tells begins with what was looked for', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1 });
  const place = fc.integer({ min: -5, max: 5 }).filter((position) => position !== 0);
  fc.assert(
    fc.property(letters, letters, place, (value, wanted, position) => {
      const found = call('instr', value, wanted, position) as number;
      if (found > 0) assert.equal(call('substr', value, found, wanted.length), wanted);
    }),
  );
});

test('bytes written in hex, base 32 and base 64 are read as themselves', () => {
  fc.assert(
    fc.property(bytes, (value) => {
      for (const base of ['hex', 'base32', 'base64']) {
        assert.equal(call(`from_${base}`, call(`to_${base}`, value)), value, base);
      }
    }),
  );
});

test('base 32 is that of RFC 4648', () => {
  const table = [
    '',
    'MY======',
    'MZXQ====',
    'MZXW6===',
    'MZXW6YQ=',
    'MZXW6YTB',
    'MZXW6YTBOI======',
  ];
  for (const [count, written] of table.entries()) {
    assert.equal(call('to_base32', 'foobar'.slice(0, count)), written);
    assert.equal(call('from_base32', written), 'foobar'.slice(0, count));
  }
  for (const bad of ['my======', 'MY', '1', 'A=======', 'MZX=====']) {
    assert.throws(() => call('from_base32', bad), /base 32/, bad);
  }
});

test('functions that make texts refuse to make very large ones', () => {
  const most = 1_048_576;
  assert.equal((call('repeat', 'a', most) as string).length, most);
  const makers = [
    () => call('repeat', 'a', most + 1),
    () => call('lpad', '', most + 1),
    () => call('rpad', '', 2n ** 62n),
    () => call('replace', 'a'.repeat(1000), 'a', 'b'.repeat(2000)),
    () => call('regexp_replace', 'a'.repeat(1000), 'a', 'b'.repeat(2000)),
  ];
  for (const make of makers) assert.throws(make, { code: 'query_limit' });
  const large = 'a'.repeat(2 * most);
  assert.equal(call('replace', large, 'b', 'cc'), large);
  const half = 'a'.repeat(2 ** 24);
  assert.throws(() => call('concat', half, half, 'a'), { code: 'query_limit' });
});

test('EDIT_DISTANCE counts changed, added and dropped characters', () => {
  assert.equal(call('edit_distance', 'kitten', 'sitting'), 3);
  assert.equal(call('edit_distance', '', '😀ß'), 2);
  assert.equal(call('edit_distance', 'aaa', 'bbb', 2), 2);
  assert.throws(() => call('edit_distance', 'a', 'b', -1), /at least 0; got -1/);
  const long = 'a'.repeat(6000);
  assert.throws(() => call('edit_distance', long, long), { code: 'query_limit' });
});

test('ARRAY_SLICE takes both ends, from either end of the array', () => {
  const letters = ['a', 'b', 'c', 'd', 'e'];
  const table: readonly [number, number, string][] = [
    [1, 3, 'bcd'],
    [-3, 3, 'cd'],
    [1, -3, 'bc'],
    [-1, -3, ''],
    [3, 3, 'd'],
    [-9, 0, 'a'],
    [9, 12, ''],
    [0, -9, ''],
  ];
  for (const [start, end, wanted] of table) {
    const got = call('array_slice', letters, start, end) as readonly string[];
    assert.equal(got.join(''), wanted, `${start}, ${end}`);
  }
});

test('a text of a million signs of padding is refused as quickly as a short one', () => {
  const padding = '='.repeat(1_000_000);
  for (const name of ['from_base64', 'from_base32']) {
    assert.throws(() => call(name, `${padding}a`), /takes a text in base (?:64|32)/);
  }
});
