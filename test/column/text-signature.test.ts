import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SliceSink, SliceSource } from '../../engine/column/slice.ts';
import { encodeSignature, gramsOf, TextSignature } from '../../engine/column/text-signature.ts';
import { encodeWtf8 } from '../../engine/column/wtf8.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { runsOf } from '../support/budget.ts';

/** A column that is large enough for any signature. */
const COLUMN_SIZE = 2 ** 40;

type Signed = { readonly signature: TextSignature; readonly size: number };

/** `codes`: the string of each value. */
function signed(
  strings: readonly string[],
  columnSize = COLUMN_SIZE,
  codes = Int32Array.from(strings, (_, code) => code),
): Signed | undefined {
  const pieces = strings.map((text) => encodeWtf8(text));
  const offsets = new Uint32Array(strings.length + 1);
  pieces.forEach((piece, code) => {
    offsets[code + 1] = offsets[code]! + piece.length;
  });
  const sink = new SliceSink(16);
  const block = { bytes: new Uint8Array(Buffer.concat(pieces)), offsets };
  const footer = encodeSignature(sink, block, { codes, columnSize });
  if (footer === undefined) return undefined;
  const buffer = new SharedArrayBuffer(sink.place());
  sink.copyTo(buffer);
  return {
    signature: new TextSignature(new SliceSource(buffer), footer),
    size: footer.bits[1],
  };
}

/** The blocks that may hold the text. */
function blocksWith({ signature, size }: Signed, text: string): number[] {
  const { blockEntries } = signature;
  // Of as many values as there are bits for.
  const values = signature.valuesWith(gramsOf(text), (8 * blockEntries * size) / 4096);
  const blocks: number[] = [];
  for (let at = 0; at < values.length; at += 2) {
    for (let value = values[at]!; value < values[at + 1]!; value += blockEntries) {
      blocks.push(value / blockEntries);
    }
  }
  return blocks;
}

/** `count` strings of 100 bytes, alike but for what `mark` puts in. */
function strings(count: number, mark: (index: number) => string): string[] {
  return Array.from({ length: count }, (_, index) => mark(index).padEnd(100, '/rest/v1/todos'));
}

test('a text is in the blocks that have it, and not in those whose values are all others', () => {
  const column = signed(strings(2400, (index) => (index === 1300 ? 'needle' : 'haystack')))!;
  assert.equal(column.signature.blockEntries, 300);
  assert.deepEqual(blocksWith(column, 'needle'), [4]);
  assert.deepEqual(blocksWith(column, 'haystack'), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(blocksWith(column, 'absent'), []);
});

test('a block ends where it says: a value on either side of the edge is in its own', () => {
  for (const [at, block] of [
    [299, 0],
    [300, 1],
    [2399, 7],
  ] as const) {
    const column = signed(strings(2400, (index) => (index === at ? 'needle' : '')))!;
    assert.deepEqual(blocksWith(column, 'needle'), [block]);
  }
});

test('each block is told of by itself, however many there are', () => {
  for (let width = 2; width <= 9; width++) {
    // Of as many bytes as so many blocks have, so that a gram has `width` bytes of bits.
    const count = Math.round((width * 8 * 20 * 1024) / 100);
    const { blockEntries } = signed(strings(count, () => ''))!.signature;
    const isMarked = (block: number) => block % 8 === 7 || (block * 5) % 7 < 3;
    const column = signed(
      strings(count, (index) => (isMarked(Math.floor(index / blockEntries)) ? 'needle' : '')),
    )!;
    assert.equal(column.size, 4096 * width);
    const blocks = Array.from({ length: Math.ceil(count / blockEntries) }, (_, block) => block);
    assert.deepEqual(blocksWith(column, 'needle'), blocks.filter(isMarked), `width ${width}`);
  }
});

test('a value that is the same again is in its block, too', () => {
  const codes = Int32Array.from({ length: 2400 }, (_, index) => (index < 1000 ? 0 : 1));
  const column = signed(['needle'.padEnd(100), 'haystack'.padEnd(100)], COLUMN_SIZE, codes)!;
  assert.deepEqual(blocksWith(column, 'needle'), [0, 1, 2, 3]);
  assert.deepEqual(blocksWith(column, 'haystack'), [3, 4, 5, 6, 7]);
});

test('three bytes tell, and two or none do not; a letter beyond ASCII has bytes enough', () => {
  assert.equal(gramsOf('').length, 0);
  assert.equal(gramsOf('ab').length, 0);
  assert.equal(gramsOf('abc').length, 1);
  assert.equal(gramsOf('é').length, 0);
  assert.equal(gramsOf('€').length, 1);
  assert.equal(gramsOf('🦊').length, 2);
  assert.equal(gramsOf('aaaaaaaaaa').length, 1);
});

test('half a surrogate pair tells nothing, for it lies within a whole one', () => {
  assert.ok('🦊🦊🦊'.includes('\udd8a🦊\ud83e'));
  assert.equal(gramsOf('\udd8a🦊\ud83e').length, 0);
});

test('a text is not put together from the end of one value and the start of the next', () => {
  const column = signed(strings(2400, (index) => (index % 2 === 0 ? 'DLE' : 'x')).map(reversed))!;
  assert.deepEqual(blocksWith(column, 'ELDx'), []);
});

function reversed(text: string): string {
  return [...text].reverse().join('');
}

test('there is a signature only where the column is sixteen times its size', () => {
  const urls = strings(2400, () => 'x');
  const { size } = signed(urls)!;
  assert.equal(size, 4096);
  assert.ok(signed(urls, 16 * size) !== undefined);
  assert.equal(signed(urls, 16 * size - 1), undefined);
});

test('few values have no signature, and short ones neither', () => {
  assert.equal(signed(strings(2047, () => 'x')), undefined);
  assert.ok(signed(strings(2048, () => 'x')) !== undefined);
  const short = Array.from({ length: 20_000 }, () => 'fifteen letters');
  assert.equal(signed(short), undefined);
  assert.ok(signed(short.map((text) => `${text}!`)) !== undefined);
});

test('strings so random that every block has everything get none', () => {
  const random = new Random(1);
  const ids = Array.from({ length: 3000 }, () => `identifier ${random.hex(6)}`);
  const words = Array.from({ length: 3000 }, () =>
    Buffer.from(random.hex(120), 'hex').toString('base64'),
  );
  assert.equal(signed(words), undefined);
  assert.ok(signed(ids) !== undefined);
});

test('every part of a value is in the block of the value', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { minLength: 1, maxLength: 60 }),
      fc.nat(2399),
      fc.nat(20),
      fc.nat(20),
      (values, which, from, length) => {
        const own = values[which % values.length]!;
        const column = signed(
          strings(2400, (index) => (index === which ? own : values[(7 * index) % values.length]!)),
        );
        assert.ok(column !== undefined);
        const part = own.slice(from, from + length);
        if (gramsOf(part).length === 0) return;
        const block = Math.floor(which / column.signature.blockEntries);
        assert.ok(blocksWith(column, part).includes(block));
      },
    ),
    { numRuns: runsOf(50) },
  );
});
