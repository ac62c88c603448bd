import { randomInt } from 'node:crypto';

/**
 * Two hashes of bytes, 32 bits each. The quick one is used until its collisions look made on
 * purpose; the keyed one is for then. Neither is ever stored beyond the process.
 */

/** Two secret words of 32 bits. */
export type HashKey = { readonly first: number; readonly second: number };

/** Another each time, so that nobody can send what collides. */
export function randomHashKey(): HashKey {
  return { first: randomInt(2 ** 32) | 0, second: randomInt(2 ** 32) | 0 };
}

/** A chain of probes this long does not come about by chance in a table at most half full. */
export const PROBES_MAX = 256;

const MULTIPLIER = 0x9e3779b1;

/** Four bytes a step: a multiplication and a fold. Someone who tries can make it collide. */
export function quickHash(view: DataView, start: number, end: number, key: HashKey): number {
  let hash = key.first ^ (end - start);
  let at = start;
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), MULTIPLIER);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ tailWord(view, at, end), MULTIPLIER);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, MULTIPLIER);
  return hash ^ (hash >>> 16);
}

/** As `quickHash`, of bytes that many a reader brings from where they lie: a view of each would cost more. */
export function quickHashOfBytes(
  bytes: Uint8Array,
  start: number,
  end: number,
  key: HashKey,
): number {
  let hash = key.first ^ (end - start);
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const word =
      bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    hash = Math.imul(hash ^ word, MULTIPLIER);
    hash ^= hash >>> 15;
  }
  let tail = 0;
  for (; at < end; at++) tail = (tail << 8) | bytes[at]!;
  hash = Math.imul(hash ^ tail, MULTIPLIER);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, MULTIPLIER);
  return hash ^ (hash >>> 16);
}

/** HalfSipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF"; 32-bit words). */
export function keyedHash(view: DataView, start: number, end: number, key: HashKey): number {
  let v0 = key.first;
  let v1 = key.second;
  let v2 = 0x6c796765 ^ key.first;
  let v3 = 0x74656462 ^ key.second;
  const wordsEnd = start + ((end - start) & ~3);
  // The words, then the tail with the length, then three rounds to finish.
  for (let at = start; at <= wordsEnd + 12; at += 4) {
    let word = 0;
    if (at < wordsEnd) word = view.getInt32(at, true);
    else if (at === wordsEnd) word = tailWord(view, at, end) | ((end - start) << 24);
    else if (at === wordsEnd + 4) v2 ^= 0xff;
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  return v1 ^ v3;
}

/** The last zero to three bytes as one word. */
function tailWord(view: DataView, start: number, end: number): number {
  let word = 0;
  for (let at = start; at < end; at++) word = (word << 8) | view.getUint8(at);
  return word;
}
