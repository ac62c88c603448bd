import { brotliCompressSync, constants, deflateRawSync, gzipSync } from 'node:zlib';
import type { HostilePost } from './hostile-posts.ts';

/**
 * Brotli (RFC 7932, §9) whose window is the longest, and whose first block is to have 16 MiB as they are: with the first
 * of them an inflater has all of its window.
 */
export const WIDE_BROTLI = Buffer.from('cfffffff61616161616161616161', 'hex');

/** Posts whose harm lies in how they are compressed. */
export const PACKED_POSTS: readonly HostilePost[] = [
  packed('br', 'a wide window, many times at once', () => WIDE_BROTLI, 50),
  packed('br', 'a bomb', (size) => {
    const params = { [constants.BROTLI_PARAM_QUALITY]: 1 };
    return brotliCompressSync(Buffer.alloc(8 * size, ' '), { params });
  }),
  packed('gzip', 'a bomb', (size) => gzipSync(Buffer.alloc(8 * size, ' '))),
  packed('gzip', 'many members', (size) => {
    const member = gzipSync('');
    return manyBytes(size / 8, member);
  }),
  packed('gzip', 'zeros behind the end', (size) => {
    return Buffer.concat([gzipSync('[]'), Buffer.alloc(size)]);
  }),
  packed('gzip', 'nothing', () => new Uint8Array(0)),
  packed('deflate', 'a bomb', (size) => deflateRawSync(Buffer.alloc(8 * size, ' '))),
  packed('deflate', 'no deflate', (size) => Buffer.alloc(size, 0x55)),
  // A letter, and copies of 64 bytes of the one before.
  packed('snappy', 'a bomb', (size) => {
    const length = 1 + 64 * Math.floor(size / 8);
    const groups = [0, 7, 14, 21].map((shift) => ((length >> shift) & 0x7f) | 0x80);
    const copies = manyBytes((3 * size) / 8, Buffer.from('fe0100', 'hex'));
    return Buffer.concat([Buffer.from([...groups, 0, 0x00, 0x20]), copies]);
  }),
  packed('snappy', 'a length of 4 GB', () => Buffer.from('ffffffff0f0020', 'hex')),
  packed('snappy', 'frames to be skipped', (size) => {
    const start = Buffer.from('ff060000734e61507059', 'hex');
    return Buffer.concat([start, manyBytes(size, Buffer.from('fe000000', 'hex'))]);
  }),
  // Runs of 128 KiB.
  packed('zstd', 'a bomb', (size) => zstdFrame(size / 8, '02001020')),
  packed('zstd', 'many empty blocks', (size) => zstdFrame(size, '000000')),
  packed('zstd', 'many frames', (size) => manyBytes(size, Buffer.from('502a4d1800000000', 'hex'))),
  packed(
    'zstd',
    'a window of 2 GiB, many times at once',
    () => Buffer.from('28b52ffd00a809000020', 'hex'),
    50,
  ),
  packed(','.repeat(4_000), 'names that are empty', () => '[{}]'),
  packed('gzip,'.repeat(1_000), 'many layers', () => '[{}]'),
];

/** A frame of zstd with a window of 128 KiB, and so many bytes of one block over and over. */
function zstdFrame(size: number, blockHex: string): Uint8Array {
  const blocks = manyBytes(size, Buffer.from(blockHex, 'hex'));
  return Buffer.concat([Buffer.from('28b52ffd0038', 'hex'), blocks, Buffer.from('010000', 'hex')]);
}

function packed(
  encoding: string,
  what: string,
  body: HostilePost['body'],
  atOnce = 1,
): HostilePost {
  return {
    name: `${encoding.slice(0, 20)}: ${what}`,
    path: '/logs',
    type: 'application/json',
    headers: { 'Content-Encoding': encoding },
    body,
    packing: 'none',
    atOnce,
  };
}

/** One part over and over, about so many bytes. */
export function manyBytes(size: number, part: Uint8Array): Uint8Array {
  return Buffer.alloc(Math.max(1, Math.floor(size / part.length)) * part.length, part);
}
