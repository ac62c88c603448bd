import { randomFillSync } from 'node:crypto';
import { MINUS } from './ascii.ts';

/** Writes a new id, RANDOM_ID_SIZE bytes of ASCII, to `bytes` from `offset` on. */
export type RandomId = (bytes: Uint8Array, offset: number) => void;

export const RANDOM_ID_SIZE = 36;

/** Ids whose random bits are drawn together: the cost of a draw is fixed, and exceeds that of making the ids. */
const BLOCK_IDS = 1024;

const HEXADECIMAL = Buffer.from('0123456789abcdef', 'latin1');

/** A source of random UUIDs (RFC 9562, version 4). */
export function randomUuids(): RandomId {
  const block = new Uint8Array(16 * BLOCK_IDS);
  let at = block.length;
  return (bytes, offset) => {
    if (at === block.length) {
      randomFillSync(block);
      at = 0;
    }
    markUuid(block, at, 4);
    writeUuid(block, at, bytes, offset);
    at += 16;
  };
}

/** Marks the 16 bytes at `start` as a UUID of this version and of the variant 10x (RFC 9562, §4). */
export function markUuid(bytes: Uint8Array, start: number, version: number): void {
  bytes[start + 6] = (bytes[start + 6]! & 0x0f) | (version << 4);
  bytes[start + 8] = (bytes[start + 8]! & 0x3f) | 0x80;
}

/** Writes the 16 bytes at `start` as `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`. */
export function writeUuid(
  source: Uint8Array,
  start: number,
  target: Uint8Array,
  offset: number,
): void {
  let write = offset;
  for (let index = 0; index < 16; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) target[write++] = MINUS;
    const byte = source[start + index]!;
    target[write++] = HEXADECIMAL[byte >> 4]!;
    target[write++] = HEXADECIMAL[byte & 15]!;
  }
}
