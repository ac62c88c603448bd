import type { SqlValue } from '../column/value.ts';
import { dynamicKey } from '../function/dynamic.ts';
import { canonicalNumber } from './canonical-number.ts';

/** Bits of a hash: as many as a double has. */
export const HASH_BITS = 53;

/**
 * A hash of a value that is not NULL, an integer in [0, 2^HASH_BITS): the same for values that are
 * equal as keys of groups, whatever their form. It is the same in every thread and every run.
 */
export function hashOfValue(value: SqlValue): number {
  const canonical = typeof value === 'number' ? canonicalNumber(value + 0) : value;
  if (typeof canonical === 'number') return hashOfNumber(canonical);
  return hashOfText(dynamicKey(canonical));
}

const DOUBLE = new Float64Array(1);
const WORDS = new Uint32Array(DOUBLE.buffer);

function hashOfNumber(value: number): number {
  DOUBLE[0] = Number.isNaN(value) ? Number.NaN : value;
  let first = FIRST_START;
  let second = SECOND_START;
  for (const word of WORDS) {
    first = Math.imul(first ^ word, FIRST_FACTOR);
    first ^= first >>> 15;
    second = Math.imul(second ^ word, SECOND_FACTOR);
    second ^= second >>> 13;
  }
  return finished(first, second);
}

function hashOfText(text: string): number {
  let first = FIRST_START;
  let second = SECOND_START;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    first = Math.imul(first ^ unit, FIRST_FACTOR);
    second = Math.imul(second ^ unit, SECOND_FACTOR);
  }
  return finished(first, second);
}

/** Two hashes side by side, and their factors, as in cyrb53 (bryc, public domain). */
const FIRST_START = 0xdeadbeef | 0;
const SECOND_START = 0x41c6ce57;
const FIRST_FACTOR = 2654435761;
const SECOND_FACTOR = 1597334677;

/** Mixes the two as MurmurHash3 ends, so that every bit depends on all of the value. */
function finished(first: number, second: number): number {
  const high = mixed(first) ^ mixed(Math.imul(second, 0x85ebca6b));
  const low = mixed(second ^ Math.imul(first, 0xc2b2ae35));
  return (high >>> (64 - HASH_BITS)) * 2 ** 32 + (low >>> 0);
}

function mixed(word: number): number {
  let bits = word ^ (word >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}
