import type { SplitBlock, StringBlock, Vector } from '../../column/vector.ts';

/** A test of strings, made on their bytes where they lie in their block. */
export interface TextSearch {
  /** Whether the string `bytes[start, end)` passes. */
  test(bytes: Uint8Array, start: number, end: number): boolean;
  /** The test of the strings `codes[0, count)` of the block, as truths; UNKNOWN for a code of -1. */
  testAll(block: StringBlock, codes: Int32Array, count: number): Uint8Array;
  /** The same for strings taken apart. */
  testSplit(split: SplitBlock, codes: Int32Array, count: number): Uint8Array;
  /** The same for strings [start, start + count); `undefined` where that is no quicker than by codes. */
  testRange(split: SplitBlock, start: number, count: number): Vector | undefined;
}
