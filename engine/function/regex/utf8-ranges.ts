/** The last code point of one, two, three and four bytes. */
const POINT_MAX_OF_SIZE = [0x7f, 0x7ff, 0xffff, 0x10ffff] as const;
const CONTINUATION_BITS = 6;

/** The least and the most of each byte of a sequence: `[low, high, low, high, …]`. */
export type ByteRanges = readonly number[];

/**
 * Code points `[low, high]`, both within, as sequences of ranges of bytes: a text of one code point is
 * among them when for one sequence each of its bytes is in its range. Surrogates are code points as any
 * other, in the three bytes that WTF-8 gives them. By the method of Ken Thompson as RE2 has it
 * (`Add_80_10ffff` and `AddRuneRangeUTF8` in its `compile.cc`): a range is cut until but for its last
 * bytes all of it is equal, or full.
 */
export function utf8Ranges(low: number, high: number): readonly ByteRanges[] {
  const found: ByteRanges[] = [];
  addRanges(low, high, found);
  return found;
}

function addRanges(low: number, high: number, found: ByteRanges[]): void {
  const cut = cutOf(low, high);
  if (cut !== undefined) {
    addRanges(low, cut, found);
    addRanges(cut + 1, high, found);
    return;
  }
  const [first, last] = [bytesOf(low), bytesOf(high)];
  found.push(first.flatMap((byte, index) => [byte, last[index]!]));
}

/** Where `[low, high]` must be cut: the last code point of its first part. */
function cutOf(low: number, high: number): number | undefined {
  for (const max of POINT_MAX_OF_SIZE) if (low <= max && max < high) return max;
  if (high <= POINT_MAX_OF_SIZE[0]) return undefined;
  for (let bits = CONTINUATION_BITS; bits <= 3 * CONTINUATION_BITS; bits += CONTINUATION_BITS) {
    const rest = 2 ** bits - 1;
    if ((low & ~rest) === (high & ~rest)) continue;
    if ((low & rest) !== 0) return low | rest;
    if ((high & rest) !== rest) return (high & ~rest) - 1;
  }
  return undefined;
}

function bytesOf(point: number): readonly number[] {
  if (point < 0x80) return [point];
  const rest = (shift: number) => 0x80 | ((point >> shift) & 0x3f);
  if (point < 0x800) return [0xc0 | (point >> 6), rest(0)];
  if (point < 0x10000) return [0xe0 | (point >> 12), rest(6), rest(0)];
  return [0xf0 | (point >> 18), rest(12), rest(6), rest(0)];
}
