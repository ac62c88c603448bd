import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JsonBuffer, numberText } from '../../engine/column/json-buffer.ts';
import { JsonNested, readInteger } from '../../engine/column/json-nested.ts';
import { isNested, type Nested, type SqlValue } from '../../engine/column/value.ts';
import { ASCII_COPY_SIZE, decodeWtf8, encodeWtf8, viewed } from '../../engine/column/wtf8.ts';
import { anyCodePoint } from '../support/code-point.ts';

const anyString = fc.string({ unit: anyCodePoint, maxLength: 40 });
/** Any code units at all, lone surrogates among them. */
const anyUnits = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0xd800, 0xdfff, 0xfffd, 34)))
  .map((units) => String.fromCharCode(...units));

function written(write: (out: JsonBuffer) => void): string {
  const out = new JsonBuffer();
  write(out);
  return new TextDecoder('utf-8', { fatal: true }).decode(out.take());
}

function nestedOf(text: string): JsonNested {
  const bytes = encodeWtf8(text);
  return new JsonNested(bytes, 0, bytes.length);
}

function renderedText(text: string): string {
  return written((out) => nestedOf(text).writeJson(out));
}

function mustNested(value: SqlValue): Nested {
  assert.ok(isNested(value));
  return value;
}

test('any string survives the way to bytes and back', () => {
  fc.assert(
    fc.property(fc.oneof(anyString, anyUnits), (text) => {
      const bytes = encodeWtf8(text);
      assert.equal(decodeWtf8(bytes, 0, bytes.length), text);
    }),
  );
});

test('JSON.parse reads back any string, written from text or from bytes', () => {
  fc.assert(
    fc.property(fc.oneof(anyString, anyUnits), (text) => {
      assert.equal(JSON.parse(written((out) => out.string(text))), text);
      const bytes = encodeWtf8(text);
      assert.equal(JSON.parse(written((out) => out.stringBytes(bytes, 0, bytes.length))), text);
    }),
  );
});

test('bytes and strings are copied word by word as they are byte by byte', () => {
  fc.assert(
    fc.property(fc.oneof(anyString, anyUnits), fc.nat(7), fc.nat(90), (text, shift, repeats) => {
      const bytes = encodeWtf8(text.repeat(repeats + 1));
      const start = shift + 1;
      const end = start + bytes.length;
      // What lies before and behind is not to be seen.
      const source = viewed(Uint8Array.from([...Array(start).fill(1), ...bytes, 34, 92, 1]));
      const copied = (write: (out: JsonBuffer) => void): Uint8Array => {
        const out = new JsonBuffer();
        out.raw('x'.repeat(shift));
        write(out);
        return out.take();
      };
      assert.deepEqual(
        copied((out) => out.rawViewed(source, start, end)),
        copied((out) => out.rawBytes(source.bytes, start, end)),
      );
      assert.deepEqual(
        copied((out) => out.stringViewed(source, start, end)),
        copied((out) => out.stringBytes(source.bytes, start, end)),
      );
    }),
  );
});

test('a number behind any ASCII is what both are one after the other', () => {
  const anyAscii = fc.string({ unit: 'binary-ascii', maxLength: 40 });
  const anyNumber = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.maxSafeInteger(),
    fc.constantFrom(0, -0, 1, 9, 10, 999_999_999, 1_000_000_000, 2 ** 31, 2 ** 53),
  );
  const anyMember = fc.tuple(anyAscii, anyNumber);
  fc.assert(
    fc.property(fc.array(anyMember, { maxLength: 60 }), (members) => {
      const wanted = members.map(([text, value]) => text + numberText(value)).join('');
      const got = written((out) => {
        for (const [text, value] of members) {
          // What is behind the text is copied with it, and written over.
          const padded = viewed(Buffer.from(`${text}\x7f${'\x7f'.repeat(ASCII_COPY_SIZE)}`));
          out.numberBehind(padded, text.length, value);
        }
      });
      assert.equal(got, wanted);
    }),
  );
});

test('each byte that needs an escape is found at each place of a word', () => {
  const bytes = Array.from({ length: 128 }, (_, byte) => byte);
  for (const byte of bytes) {
    for (let place = 0; place < 4; place++) {
      const word = `ab${String.fromCharCode(byte)}yz`.repeat(2).slice(3 - place, 8);
      const source = viewed(encodeWtf8(`${word}   `).slice());
      assert.equal(JSON.parse(written((out) => out.stringViewed(source, 0, word.length))), word);
    }
  }
});

test('a long string with a pair across each slice of the buffer is whole', () => {
  for (const length of [4094, 4095, 4096, 4097]) {
    const text = `${'x'.repeat(length)}\u{1f600}"${'y'.repeat(9000)}`;
    assert.equal(JSON.parse(written((out) => out.string(text))), text);
  }
});

test('a lone surrogate becomes its escape', () => {
  assert.equal(
    written((out) => out.string('a\ud800b')),
    '"a\\ud800b"',
  );
});

test('numbers are written in their shortest exact form', () => {
  for (const [value, text] of [
    [0, '0'],
    [-0, '-0'],
    [-17, '-17'],
    [2 ** 53 - 1, '9007199254740991'],
    [9223372036854775807n, '9223372036854775807'],
    [0.1, '0.1'],
    [1e21, '1e+21'],
    [9, '9'],
    [10, '10'],
    [999_999_999, '999999999'],
    [1_000_000_000, '1000000000'],
    [1_000_000_001, '1000000001'],
    [4_000_000_000_000, '4000000000000'],
    [2 ** 53, '9007199254740992'],
    [5e-324, '5e-324'],
  ] as const) {
    assert.equal(
      written((out) => out.number(value)),
      text,
    );
  }
});

test('take leaves an empty buffer and bytes that stay as they are', () => {
  const out = new JsonBuffer();
  out.raw('first');
  const taken = out.take();
  out.raw('second');
  assert.equal(Buffer.from(taken).toString(), 'first');
  assert.equal(out.size, 6);
});

test('integers keep all their digits, to 64 bits and beyond, as long as a double is near', () => {
  assert.equal(readInteger('9007199254740991'), 9007199254740991);
  assert.equal(readInteger('9007199254740992'), 9007199254740992n);
  assert.equal(readInteger('-9223372036854775808'), -(2n ** 63n));
  assert.equal(readInteger('-9223372036854775809'), -(2n ** 63n) - 1n);
  assert.equal(readInteger('9223372036854775807'), 2n ** 63n - 1n);
  assert.equal(readInteger('18446744073709551615'), 2n ** 64n - 1n);
  assert.equal(readInteger('9'.repeat(300)), 10n ** 300n - 1n);
  assert.equal(readInteger('9'.repeat(400)), null);
});

test('a field is the exact key, else the first that differs in case; the last duplicate wins', () => {
  const record = nestedOf('{ "Path":1, "path":2 ,"PATH":3,"path":4,"__proto__":5,"Id":6,"ID":7}');
  assert.equal(record.field('path'), 4);
  assert.equal(record.field('PaTh'), 1);
  assert.equal(record.field('__proto__'), 5);
  assert.equal(record.field('id'), 6);
  assert.equal(record.field('constructor'), null);
});

test('a list of exactly one record is read as that record', () => {
  assert.equal(nestedOf('[{"a":1}]').field('a'), 1);
  assert.equal(nestedOf('[{"a":1},{"a":2}]').field('a'), null);
  assert.equal(nestedOf('[1]').field('a'), null);
  assert.equal(nestedOf('[]').field('a'), null);
});

test('elements come with their kinds, numbers exact', () => {
  const elements = nestedOf(
    '[ 1 , "a\\u0062" ,null,true,[2],{"c":3}, 1234567890123456789 ]',
  ).elements();
  assert.deepEqual(elements.slice(0, 4), [1, 'ab', null, true]);
  assert.deepEqual(mustNested(elements[4]!).elements(), [2]);
  assert.equal(mustNested(elements[5]!).field('c'), 3);
  assert.equal(elements[6], 1234567890123456789n);
  assert.equal(nestedOf('{"a":1}').elements().length, 1);
});

test('a map that is a field becomes a list of one; one that is an element stays', () => {
  assert.equal(
    renderedText('{"a":{"b":{}},"c":[{"d":{"e":1}}]}'),
    '{"a":[{"b":[{}]}],"c":[{"d":[{"e":1}]}]}',
  );
  assert.equal(renderedText('[[{"a":"{\\"}"}]]'), '[[{"a":"{\\"}"}]]');
  assert.equal(renderedText('["\ud800\ud7ff"]'), '["\\ud800\ud7ff"]');
});

test('a hundred thousand levels are written and stepped into without recursion', () => {
  const depth = 100_000;
  const lists = `${'['.repeat(depth)}${']'.repeat(depth)}`;
  assert.equal(renderedText(lists), lists);
  const maps = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const expected = `${'{"a":'}${'[{"a":'.repeat(depth - 1)}1${'}]'.repeat(depth - 1)}}`;
  assert.equal(renderedText(maps), expected);
  assert.equal(mustNested(mustNested(nestedOf(maps).field('a')).field('a')).isList, false);
});

test('integers are written digit by digit as JavaScript writes them', () => {
  const powers = Array.from({ length: 16 }, (_, power) => 10 ** power);
  const near = powers.flatMap((power) => [power - 1, power, power + 1]);
  for (const integer of [0, 9, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER, ...near]) {
    assert.equal(
      written((out) => out.number(integer)),
      String(integer),
    );
  }
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.nat(53), (large, bits) => {
      const integer = Math.floor(large / 2 ** bits);
      assert.equal(
        written((out) => out.number(integer)),
        String(integer),
      );
    }),
  );
});
