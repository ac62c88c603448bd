import { assert, must } from '../assert.ts';
import { isHole } from './split-shape.ts';
import type { SplitBlock } from './vector.ts';
import { textAt } from './wtf8.ts';

/**
 * How some strings begin, and how many of them do so: scheme and host of a URL with the byte behind, such as
 * `https://example.com/`. Each string has exactly one of these prefixes, the empty one if it has neither scheme nor host.
 */
export type StringPrefixes = ReadonlyMap<string, number>;

/** In the place of a byte: the string ends behind its head. */
const END = 0;

/**
 * The prefixes of strings that are taken apart; `undefined` where heads do not tell them, where some string is no more
 * than its head, or where there are more than `countMax`. Looks at each string: some milliseconds for a million.
 */
export function prefixesOf(split: SplitBlock, countMax: number): StringPrefixes | undefined {
  if (split.hasHeads !== true || split.heads.offsets.length - 1 > countMax) return undefined;
  const firsts = firstBytesOf(split);
  const { heads, headStarts, headCodes, shapeCodes } = split;
  const counts = new Map<string, number>();
  for (const [run, head] of headCodes.entries()) {
    const text = textAt(heads, head);
    const ofBytes = new Map<number, number>();
    const end = headStarts[run + 1] ?? shapeCodes.length;
    for (let code = headStarts[run]!; code < end; code++) {
      const known = firsts[shapeCodes[code]!]!;
      const byte = text === '' ? END : known === UNKNOWN ? firstByteOf(split, code) : known;
      ofBytes.set(byte, (ofBytes.get(byte) ?? 0) + 1);
    }
    for (const [byte, count] of ofBytes) {
      if (byte === END && text !== '') return undefined;
      assert(byte < 0x80, 'a head ends before a letter of ASCII');
      const prefix = byte === END ? '' : text + String.fromCharCode(byte);
      counts.set(prefix, (counts.get(prefix) ?? 0) + count);
    }
    if (counts.size > countMax) return undefined;
  }
  return counts;
}

/** Only the parts of a string tell. */
const UNKNOWN = -1;

/** By shape the first byte of the rests that have it. */
function firstBytesOf({ shapes: { bytes, offsets } }: SplitBlock): Int16Array {
  const firsts = new Int16Array(offsets.length - 1);
  for (let shape = 0; shape < firsts.length; shape++) {
    const start = offsets[shape]!;
    if (start === offsets[shape + 1]!) firsts[shape] = END;
    else firsts[shape] = isHole(bytes[start]!) ? UNKNOWN : must(bytes[start]);
  }
  return firsts;
}

function firstByteOf(split: SplitBlock, code: number): number {
  const { bytes, start, end } = split.rest(code);
  return start === end ? END : bytes[start]!;
}
