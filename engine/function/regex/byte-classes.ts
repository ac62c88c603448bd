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
  const partition = new BytePartition();
  const seen = new Set<number>();
  const separate = (low: number, high: number) => {
    const key = low * BYTE_COUNT + high;
    if (!seen.has(key)) partition.separate(low, high);
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
  return partition.classes();
}

/** All bytes, in parts that are cut in two as ranges come: each takes a time by its own length, and most are of one byte. */
class BytePartition {
  readonly #partOf = new Uint8Array(BYTE_COUNT);
  /** Bytes of each part. */
  readonly #sizes = [BYTE_COUNT];

  /** Cuts the parts of which some bytes are within `[low, high]` and some are not. */
  separate(low: number, high: number): void {
    if (low === high) {
      this.#cutOff(low);
      return;
    }
    const inside = new Map<number, number>();
    for (let byte = low; byte <= high; byte++) {
      const part = this.#partOf[byte]!;
      inside.set(part, (inside.get(part) ?? 0) + 1);
    }
    const cutOff = new Map<number, number>();
    for (const [part, count] of inside) {
      if (count === this.#sizes[part]) continue;
      cutOff.set(part, this.#sizes.length);
      this.#sizes[part]! -= count;
      this.#sizes.push(count);
    }
    for (let byte = low; byte <= high; byte++) {
      const part = this.#partOf[byte]!;
      this.#partOf[byte] = cutOff.get(part) ?? part;
    }
  }

  #cutOff(byte: number): void {
    const part = this.#partOf[byte]!;
    if (this.#sizes[part] === 1) return;
    this.#sizes[part]! -= 1;
    this.#partOf[byte] = this.#sizes.length;
    this.#sizes.push(1);
  }

  /** Numbered in the order of their first bytes. */
  classes(): ByteClasses {
    const numbers = new Int16Array(this.#sizes.length).fill(-1);
    const ofByte = new Uint8Array(BYTE_COUNT);
    const bytes: number[] = [];
    for (let byte = 0; byte < BYTE_COUNT; byte++) {
      const part = this.#partOf[byte]!;
      if (numbers[part] === -1) {
        numbers[part] = bytes.length;
        bytes.push(byte);
      }
      ofByte[byte] = numbers[part]!;
    }
    return { count: bytes.length, ofByte, bytes };
  }
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
