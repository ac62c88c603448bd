import { NO_FLOAT64 } from './growth.ts';

/** Stretches that are merged: each doubling moves all numbers once, and V8 sorts in about as many moves. */
const STRETCHES_MAX = 64;

/** The end of each stretch. */
const ends = new Int32Array(STRETCHES_MAX);

/** Where the left one of two stretches lies while they are merged. */
let room: Float64Array = NO_FLOAT64;

/**
 * Sorts doubles [start, end), none of them NaN, in place: numbers that come as a few ascending stretches, one
 * behind the other, by merging these, which takes a tenth of what sorting does. 0 and -0 come in any order.
 */
export function sortStretches(numbers: Float64Array, start: number, end: number): void {
  let count = findStretches(numbers, start, end);
  if (count > STRETCHES_MAX) {
    numbers.subarray(start, end).sort();
    return;
  }
  for (; count > 1; count = (count + 1) >> 1) {
    for (let stretch = 0; stretch < count; stretch += 2) {
      const last = Math.min(stretch + 1, count - 1);
      const first = stretch === 0 ? start : ends[(stretch >> 1) - 1]!;
      if (last > stretch)
        merge(numbers, { start: first, middle: ends[stretch]!, end: ends[last]! });
      ends[stretch >> 1] = ends[last]!;
    }
  }
}

/** Notes where stretches end, and gives how many there are: of more than STRETCHES_MAX no more than that. */
function findStretches(numbers: Float64Array, start: number, end: number): number {
  let count = 0;
  for (let at = start + 1; at <= end; at++) {
    if (at < end && numbers[at - 1]! <= numbers[at]!) continue;
    if (count === STRETCHES_MAX) return count + 1;
    ends[count++] = at;
  }
  return count;
}

/** Makes one of two stretches beside each other. */
function merge(
  numbers: Float64Array,
  { start, middle, end }: { readonly start: number; readonly middle: number; readonly end: number },
): void {
  const leftCount = middle - start;
  if (room.length < leftCount) room = new Float64Array(Math.max(leftCount, 2 * room.length));
  for (let at = 0; at < leftCount; at++) room[at] = numbers[start + at]!;
  let left = 0;
  let right = middle;
  let to = start;
  while (left < leftCount && right < end) {
    const leftNumber = room[left]!;
    const rightNumber = numbers[right]!;
    if (leftNumber <= rightNumber) {
      numbers[to++] = leftNumber;
      left++;
    } else {
      numbers[to++] = rightNumber;
      right++;
    }
  }
  // What is left of the right one lies where it belongs.
  while (left < leftCount) numbers[to++] = room[left++]!;
}
