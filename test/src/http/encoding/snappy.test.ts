import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compress } from 'snappyjs';
import { crc32c } from '../../../../src/http/encoding/crc32c.ts';
import { inflateSnappy } from '../../../../src/http/encoding/snappy.ts';
import { runsOf } from '../../../support/budget.ts';

async function inflated(body: Uint8Array): Promise<Buffer> {
  return Buffer.concat(await inflateSnappy(Buffer.from(body), () => {}));
}

function chunk(type: number, data: Uint8Array): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt8(type);
  header.writeUIntLE(data.length, 1, 3);
  return Buffer.concat([header, data]);
}

const START = chunk(0xff, Buffer.from('sNaPpY'));

function dataChunk(data: Buffer, how: 'compressed' | 'plain'): Buffer {
  const crc = crc32c(data);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0);
  const content = how === 'plain' ? data : compress(data);
  return chunk(how === 'plain' ? 1 : 0, Buffer.concat([checksum, content]));
}

/** Bytes that repeat themselves near and far, and some that do not. */
const texts = fc
  .array(
    fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 300 })),
    { maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts.flatMap(([part, times]) => Array(times).fill(part))));

test('the checksum is that of RFC 3720', () => {
  equal(crc32c(Buffer.alloc(32)), 0x8a9136aa);
  equal(crc32c(Buffer.alloc(32, 0xff)), 0x62a8ab43);
  equal(crc32c(Buffer.from('123456789')), 0xe3069283);
});

test('a block comes to what was compressed', async () => {
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      deepEqual(await inflated(compress(text)), text);
    }),
    { numRuns: runsOf(200) },
  );
});

test('frames come to what was compressed, whatever chunks are between', async () => {
  const part = fc.tuple(
    texts.map((text) => text.subarray(0, 65_536)),
    fc.constantFrom('compressed' as const, 'plain' as const),
  );
  const other = fc.constantFrom(chunk(0xfe, Buffer.alloc(7)), chunk(0x80, Buffer.from('x')), START);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(part, other), { maxLength: 6 }), async (parts) => {
      const chunks = parts.flatMap(([[data, how], skipped]) => [dataChunk(data, how), skipped]);
      const data = Buffer.concat(parts.map(([[one]]) => one));
      deepEqual(await inflated(Buffer.concat([START, ...chunks])), data);
    }),
    { numRuns: runsOf(100) },
  );
});

test('elements of each form are read', async () => {
  const block = (length: number, ...bytes: number[]): Buffer => Buffer.from([length, ...bytes]);
  // A literal "ab"; copies with offsets of one, two and four bytes, each of four bytes.
  equal(`${await inflated(block(6, 0x04, 0x61, 0x62, 0x01, 0x02))}`, 'ababab');
  equal(`${await inflated(block(6, 0x04, 0x61, 0x62, 0x0e, 0x02, 0x00))}`, 'ababab');
  equal(`${await inflated(block(6, 0x04, 0x61, 0x62, 0x0f, 0x02, 0, 0, 0))}`, 'ababab');
  // Literals with lengths of one to four bytes behind the first.
  for (const size of [1, 2, 3, 4]) {
    const length = Array.from({ length: size }, (_, index) => (index === 0 ? 2 : 0));
    const literal = block(3, (59 + size) << 2, ...length, 0x61, 0x62, 0x63);
    equal(`${await inflated(literal)}`, 'abc');
  }
  equal((await inflated(block(0))).length, 0);
});

test('what is not whole is refused, wherever it ends', async () => {
  const text = Buffer.from('GET /rest/v1/items '.repeat(50));
  const bodies = [
    Buffer.from(compress(text)),
    Buffer.concat([START, dataChunk(text, 'compressed')]),
  ];
  for (const body of bodies) {
    for (let end = 0; end < body.length; end++) {
      const isEmpty = end === START.length && body.subarray(0, end).equals(START);
      if (!isEmpty) await rejects(inflated(body.subarray(0, end)), `the first ${end} bytes`);
    }
  }
});

test('what is damaged is refused, or a block of the same length', async () => {
  const text = Buffer.from('GET /rest/v1/items '.repeat(50));
  const framed = Buffer.concat([START, dataChunk(text, 'compressed')]);
  for (let at = START.length; at < framed.length; at++) {
    const damaged = Buffer.from(framed);
    damaged[at] = damaged[at]! ^ 0x10;
    // A chunk whose type says that it may be skipped is no longer one of the body.
    const got = await inflated(damaged).catch(() => undefined);
    ok(got === undefined || got.length === 0, `byte ${at}`);
  }
  const block = Buffer.from(compress(text));
  const property = fc.asyncProperty(fc.nat(block.length - 1), fc.nat(255), async (at, byte) => {
    const damaged = Buffer.from(block);
    damaged[at] = byte;
    const sizes: number[] = [];
    const got = await inflateSnappy(damaged, (size) => {
      if (size > 1_000_000) throw new Error('too large');
      sizes.push(size);
    }).catch(() => undefined);
    if (got !== undefined) deepEqual([got.length, got[0]!.length], [1, sizes[0]]);
  });
  await fc.assert(property, { numRuns: runsOf(300) });
});

for (const [name, bytes, wanted] of [
  ['a length of more than 32 bits', [0xff, 0xff, 0xff, 0xff, 0xff, 0x01], /more than 32 bits/],
  ['a copy from before the beginning', [8, 0x00, 0x61, 0x01, 0x05], /a copy begins 5 bytes before/],
  ['a copy from where it writes', [8, 0x00, 0x61, 0x01, 0x00], /a copy begins 0 bytes before/],
  ['more than its length', [1, 0x04, 0x61, 0x62], /more than the 1 bytes/],
  ['less than its length', [3, 0x04, 0x61, 0x62], /it ends after 2 of 3 bytes/],
] as const) {
  test(`a block with ${name} is refused`, async () => {
    await rejects(inflated(Buffer.from(bytes)), wanted);
  });
}

for (const [name, chunks, wanted] of [
  ['an unknown type', chunk(0x02, Buffer.alloc(4)), /the unknown type 2/],
  ['another identifier', chunk(0xff, Buffer.from('sNaPpX')), /not that of Snappy/],
  ['a wrong checksum', chunk(1, Buffer.from('0000abc')), /the checksum of a chunk/],
  ['no checksum', chunk(0, Buffer.alloc(3)), /it ends too soon/],
  ['more than 64 KiB', dataChunk(Buffer.alloc(65_537), 'compressed'), /a chunk may have 65536/],
] as const) {
  test(`frames with ${name} are refused`, async () => {
    await rejects(inflated(Buffer.concat([START, chunks])), wanted);
  });
}

test('the size is admitted before there is memory for it', async () => {
  const bomb = Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]), Buffer.alloc(10)]);
  const sizes: number[] = [];
  const stop = (size: number): never => {
    sizes.push(size);
    throw new Error('stopped');
  };
  await rejects(inflateSnappy(bomb, stop), /stopped/);
  const chunks = Array<Buffer>(1_000).fill(dataChunk(Buffer.alloc(65_536), 'compressed'));
  await rejects(inflateSnappy(Buffer.concat([START, ...chunks]), stop), /stopped/);
  deepEqual(sizes, [0xffff_ffff, 65_536_000]);
});
