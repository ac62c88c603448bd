import type { ByteProgram } from './byte-program.ts';
import { BEGIN_LINE, END_LINE, NO_WORD_BOUNDARY, WORD_BOUNDARY } from './rune-program.ts';

const BYTE_COUNT = 256;
const NEWLINE = 0x0a;

/** Bytes that no instruction of a program tells apart are one class. */
export type ByteClasses = {
  readonly count: number;
  /** Class of each byte. */
  readonly ofByte: Uint8Array;
  /** One byte of each class. */
  readonly bytes: readonly number[];
};

export function byteClassesOf({ instructions, lows, highs }: ByteProgram): ByteClasses {
  let classes: ByteClasses = { count: 1, ofByte: new Uint8Array(BYTE_COUNT), bytes: [0] };
  const seen = new Set<number>();
  const separate = (low: number, high: number) => {
    const key = low * BYTE_COUNT + high;
    if (!seen.has(key)) classes = separated(classes, low, high);
    seen.add(key);
  };
  for (let index = 0; index < lows.length; index++) separate(lows[index]!, highs[index]!);
  let flags = 0;
  for (const instruction of instructions) {
    if (instruction.op === 'assert') flags |= instruction.flags;
  }
  if ((flags & (BEGIN_LINE | END_LINE)) !== 0) separate(NEWLINE, NEWLINE);
  if ((flags & (WORD_BOUNDARY | NO_WORD_BOUNDARY)) !== 0) {
    for (const [low, high] of WORD_RANGES) separate(low, high);
  }
  return classes;
}

/** The classes, those cut in two of which some bytes are within `[low, high]` and some are not. */
function separated({ ofByte }: ByteClasses, low: number, high: number): ByteClasses {
  const numbers = new Map<number, number>();
  const separate = new Uint8Array(BYTE_COUNT);
  const bytes: number[] = [];
  for (let byte = 0; byte < BYTE_COUNT; byte++) {
    const key = 2 * ofByte[byte]! + (low <= byte && byte <= high ? 1 : 0);
    let number = numbers.get(key);
    if (number === undefined) {
      number = bytes.length;
      numbers.set(key, number);
      bytes.push(byte);
    }
    separate[byte] = number;
  }
  return { count: bytes.length, ofByte: separate, bytes };
}

/** `\w` of RE2, which is of ASCII: digits, capitals, the underscore, small letters. */
const WORD_RANGES = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
] as const;

export function isWordByte(byte: number): boolean {
  return WORD_RANGES.some(([low, high]) => low <= byte && byte <= high);
}
