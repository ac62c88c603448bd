import { ByteNeedle } from '../../column/byte-needle.ts';
import type { SqlValue } from '../../column/value.ts';
import { encodeWtf8 } from '../../column/wtf8.ts';
import { SEARCHED_TEXT_LENGTH_MAX } from '../../limits.ts';
import { LONE_SURROGATE } from './regular-expression.ts';

/** What a function gives of a text, a number, by its bytes `bytes[start, end)` in WTF-8. */
export type Measure = (bytes: Uint8Array, start: number, end: number) => number;

/** Finds the part of a text that a function gives, by bytes in WTF-8. */
export interface PartFinder {
  /** Whether the text `bytes[from, to)` has one; `undefined`: only the text itself can tell. */
  find(bytes: Uint8Array, from: number, to: number): boolean | undefined;
  /** Where that is which was found last; -1 where it is NULL. */
  readonly start: number;
  readonly end: number;
}

/** Code points, of which each has one byte that continues no other. */
export function countCharacters(bytes: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) count += Number((bytes[at]! & 0xc0) !== 0x80);
  return count;
}

export function countBytes(_bytes: Uint8Array, start: number, end: number): number {
  return end - start;
}

/** STRPOS of a text; `undefined` where its bytes are not looked for. */
export function positionMeasure(wanted: SqlValue): Measure | undefined {
  if (typeof wanted !== 'string' || wanted.length > SEARCHED_TEXT_LENGTH_MAX) return undefined;
  // Half a surrogate pair has no UTF-8 to look for.
  if (LONE_SURROGATE.test(wanted)) return undefined;
  const needle = new ByteNeedle(new Uint8Array(encodeWtf8(wanted)));
  return (bytes, start, end) => {
    const at = needle.find(bytes, start, end);
    return at < 0 ? 0 : countCharacters(bytes, start, at) + 1;
  };
}
