/** Values below which sorting by comparison is as fast. */
const RADIX_VALUES_MIN = 1024;

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
const DIGIT_MASK = DIGITS - 1;

/**
 * Keys of more bits take three digits, of fewer two, without their lowest bits where these are more than
 * two digits: 65,536 values of this range have but a few with the same two.
 */
const TWO_DIGIT_BITS_MAX = 28;

/** Values with the same digits that are sorted by insertion; longer runs are compared. */
const INSERTION_RUN_MAX = 24;

/** Room for so many values is kept by a thread, once it is used. */
const KEPT_VALUES_MAX = 65_536;

let kept: Float64Array | undefined;

/**
 * Keys order as doubles do. A value's key is the upper half of its bits (sign, exponent and 20 bits of the
 * fraction, turned so that they order as integers), less `least`, without its lowest `shift` bits. The
 * difference may wrap around: as an unsigned integer it is right.
 */
type KeyRange = { readonly least: number; readonly shift: number; readonly digitCount: number };

/**
 * Sorts doubles, none of them NaN, in place: by two or three digits of their keys from the lowest up, and what is
 * equal in these by comparison. 0 and -0 come in any order.
 */
export function sortDoubles(values: Float64Array): void {
  if (values.length < RADIX_VALUES_MIN) {
    values.sort();
    return;
  }
  const words = wordsOf(values);
  const range = rangeOf(words);
  const counts = new Uint32Array(range.digitCount * DIGITS);
  countDigits(words, range, counts);
  let from = values;
  let to = roomFor(values.length);
  for (let digit = 0; digit < range.digitCount; digit++) {
    const starts = counts.subarray(digit * DIGITS, (digit + 1) * DIGITS);
    if (!startsOf(starts, values.length)) continue;
    scatter(from, to, range, { starts, down: range.shift + digit * DIGIT_BITS });
    [from, to] = [to, from];
  }
  if (from !== values) values.set(from);
  finish(values, words, range);
}

export function wordsOf(values: Float64Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
}

function roomFor(length: number): Float64Array {
  if (length > KEPT_VALUES_MAX) return new Float64Array(length);
  kept ??= new Float64Array(KEPT_VALUES_MAX);
  return kept.subarray(0, length);
}

/** Of negative ones all bits but the sign turn: so that they order as integers of 32 bits. */
export function orderedBits(high: number): number {
  return high ^ ((high >> 31) & 0x7fffffff);
}

function rangeOf(words: Int32Array): KeyRange {
  let least = 0x7fffffff;
  let greatest = -0x80000000;
  for (let index = 1; index < words.length; index += 2) {
    const bits = orderedBits(words[index]!);
    if (bits < least) least = bits;
    if (bits > greatest) greatest = bits;
  }
  const bitCount = 32 - Math.clz32(greatest - least);
  if (bitCount > TWO_DIGIT_BITS_MAX) return { least, shift: 0, digitCount: 3 };
  return { least, shift: Math.max(0, bitCount - 2 * DIGIT_BITS), digitCount: 2 };
}

/** Counts each digit of the keys: the two lowest, and the third where it is meant. */
function countDigits(
  words: Int32Array,
  { least, shift, digitCount }: KeyRange,
  counts: Uint32Array,
): void {
  for (let index = 1; index < words.length; index += 2) {
    const key = (orderedBits(words[index]!) - least) >>> shift;
    counts[key & DIGIT_MASK]!++;
    counts[DIGITS + ((key >>> DIGIT_BITS) & DIGIT_MASK)]!++;
  }
  if (digitCount < 3) return;
  for (let index = 1; index < words.length; index += 2) {
    const key = (orderedBits(words[index]!) - least) >>> shift;
    counts[2 * DIGITS + (key >>> (2 * DIGIT_BITS))]!++;
  }
}

/** Turns counts into the places that values go to; false when all of them have one digit. */
function startsOf(counts: Uint32Array, valueCount: number): boolean {
  let start = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    const count = counts[digit]!;
    if (count === valueCount) return false;
    counts[digit] = start;
    start += count;
  }
  return true;
}

type Digit = { readonly starts: Uint32Array; readonly down: number };

function scatter(
  from: Float64Array,
  to: Float64Array,
  { least }: KeyRange,
  { starts, down }: Digit,
): void {
  const words = wordsOf(from);
  const length = from.length;
  for (let index = 0; index < length; index++) {
    const digit = ((orderedBits(words[2 * index + 1]!) - least) >>> down) & DIGIT_MASK;
    const place = starts[digit]!;
    starts[digit] = place + 1;
    to[place] = from[index]!;
  }
}

/** Sorts each run of values that have one key, where it is not in order. */
function finish(values: Float64Array, words: Int32Array, range: KeyRange): void {
  for (let next = 1; next < values.length; next++) {
    if (values[next - 1]! <= values[next]!) continue;
    const start = runStart(words, range, next);
    const end = runEnd(words, range, next);
    if (end - start > INSERTION_RUN_MAX) values.subarray(start, end).sort();
    else insert(values, start, end);
    next = end - 1;
  }
}

function runStart(words: Int32Array, { least, shift }: KeyRange, index: number): number {
  const key = (orderedBits(words[2 * index + 1]!) - least) >>> shift;
  let start = index;
  while (start > 0 && (orderedBits(words[2 * start - 1]!) - least) >>> shift === key) start--;
  return start;
}

function runEnd(words: Int32Array, { least, shift }: KeyRange, index: number): number {
  const key = (orderedBits(words[2 * index + 1]!) - least) >>> shift;
  let at = 2 * index + 1;
  while (at < words.length && (orderedBits(words[at]!) - least) >>> shift === key) at += 2;
  return at >> 1;
}

function insert(values: Float64Array, start: number, end: number): void {
  for (let next = start + 1; next < end; next++) {
    const value = values[next]!;
    let at = next;
    for (; at > start && values[at - 1]! > value; at--) values[at] = values[at - 1]!;
    values[at] = value;
  }
}
