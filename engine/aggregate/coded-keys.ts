import type { PackedNumbers } from '../column/packed-numbers.ts';
import type { UnsignedArray } from '../column/slice.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';

/** A column of keys by the codes that lie in a segment: entry `i` is `value(codes[start + i])`. */
export type CodedKey = {
  /** Absent: all are code 0. */
  readonly codes: UnsignedArray | undefined;
  readonly start: number;
  /** Codes are below it. */
  readonly codeCount: number;
  readonly value: (code: number) => SqlValue;
};

/** A key of which not all rows are known to be the same. */
export type VaryingKey = CodedKey & { readonly codes: UnsignedArray };

export function isVarying(key: CodedKey): key is VaryingKey {
  return key.codes !== undefined;
}

/** To have a place for each tuple of codes costs as much as some rows: there should be fewer. */
const ROWS_PER_TUPLE = 8;

/** Keys by codes, where there are few tuples of these beside the rows; else `undefined`. */
export function codedKeysOf(
  vectors: readonly Vector[],
  count: number,
): readonly CodedKey[] | undefined {
  const keys: CodedKey[] = [];
  let tupleCount = ROWS_PER_TUPLE;
  for (const vector of vectors) {
    const key = codedKeyOf(vector);
    if (key === undefined) return undefined;
    tupleCount *= key.codeCount;
    if (tupleCount > count) return undefined;
    keys.push(key);
  }
  return keys;
}

function codedKeyOf(vector: Vector): CodedKey | undefined {
  if (vector.form === 'packed numbers') {
    return ofNumbers(vector, (code) => vector.coding.value(code));
  }
  if (vector.form === 'coded numbers') {
    return ofNumbers(vector.numbers, (code) => vector.numberOfCode[code]!);
  }
  if (vector.form === 'string range') {
    const { codesInPlace: codes, start, dictionary } = vector;
    if (codes === undefined) return undefined;
    return { codes, start, codeCount: dictionary.size, value: (code) => dictionary.value(code) };
  }
  if (vector.kind !== 'constant') return undefined;
  return { codes: undefined, start: 0, codeCount: 1, value: () => vector.value };
}

function ofNumbers(
  { codes, start, coding }: PackedNumbers,
  value: (code: number) => number,
): CodedKey {
  return { codes, start, codeCount: coding.codeMax + 1, value };
}

/**
 * Writes the tuple of each row to `tuples`, as one number: the codes are its digits, the last key's the
 * lowest. Gives how many tuples there can be.
 */
export function writeTuples(
  keys: readonly VaryingKey[],
  count: number,
  tuples: Int32Array,
): number {
  let tupleCount = 1;
  tuples.fill(0, 0, count);
  for (const { codes, start, codeCount } of keys) {
    if (codes instanceof Uint8Array) addBytes(codes, start, count, codeCount, tuples);
    else if (codes instanceof Uint16Array) addShorts(codes, start, count, codeCount, tuples);
    else addWords(codes, start, count, codeCount, tuples);
    tupleCount *= codeCount;
  }
  return tupleCount;
}

/** Some rows whose groups are looked up: `groups` has the tuple of all keys but the last of each. */
export type GroupLookup = {
  readonly last: VaryingKey;
  readonly groupOfTuple: Int32Array;
  readonly groups: Int32Array;
  readonly count: number;
};

/**
 * Writes the groups of rows from `row` on. Gives the first whose tuple has none, which is a group below 0, and leaves it
 * as it was; `count` when all are written. Four at a time, for the loops take as long as what is in them.
 */
export function lookUpGroups(lookup: GroupLookup, row: number): number {
  const { codes } = lookup.last;
  if (codes instanceof Uint8Array) return lookUpBytes(codes, lookup, row);
  if (codes instanceof Uint16Array) return lookUpShorts(codes, lookup, row);
  return lookUpWords(codes, lookup, row);
}

/** The code of each key in a tuple. */
export function codesOfTuple(keys: readonly CodedKey[], tuple: number): readonly number[] {
  let rest = tuple;
  return keys
    .toReversed()
    .map(({ codeCount }) => {
      const code = rest % codeCount;
      rest = (rest - code) / codeCount;
      return code;
    })
    .reverse();
}

/** One loop for each width, so that each sees one kind of array. */
function addBytes(
  codes: Uint8Array,
  start: number,
  count: number,
  codeCount: number,
  tuples: Int32Array,
): void {
  for (let row = 0; row < count; row++) {
    tuples[row] = Math.imul(tuples[row]!, codeCount) + codes[start + row]!;
  }
}

function addShorts(
  codes: Uint16Array,
  start: number,
  count: number,
  codeCount: number,
  tuples: Int32Array,
): void {
  for (let row = 0; row < count; row++) {
    tuples[row] = Math.imul(tuples[row]!, codeCount) + codes[start + row]!;
  }
}

function addWords(
  codes: Uint32Array,
  start: number,
  count: number,
  codeCount: number,
  tuples: Int32Array,
): void {
  for (let row = 0; row < count; row++) {
    tuples[row] = Math.imul(tuples[row]!, codeCount) + codes[start + row]!;
  }
}

function lookUpBytes(
  codes: Uint8Array,
  { last, groupOfTuple, groups, count }: GroupLookup,
  from: number,
): number {
  const { start, codeCount } = last;
  let row = from;
  for (; row + 3 < count; row += 4) {
    const at = start + row;
    const first = groupOfTuple[Math.imul(groups[row]!, codeCount) + codes[at]!]!;
    const second = groupOfTuple[Math.imul(groups[row + 1]!, codeCount) + codes[at + 1]!]!;
    const third = groupOfTuple[Math.imul(groups[row + 2]!, codeCount) + codes[at + 2]!]!;
    const fourth = groupOfTuple[Math.imul(groups[row + 3]!, codeCount) + codes[at + 3]!]!;
    if ((first | second | third | fourth) < 0) break;
    groups[row] = first;
    groups[row + 1] = second;
    groups[row + 2] = third;
    groups[row + 3] = fourth;
  }
  for (; row < count; row++) {
    const group = groupOfTuple[Math.imul(groups[row]!, codeCount) + codes[start + row]!]!;
    if (group < 0) return row;
    groups[row] = group;
  }
  return count;
}

function lookUpShorts(
  codes: Uint16Array,
  { last, groupOfTuple, groups, count }: GroupLookup,
  from: number,
): number {
  const { start, codeCount } = last;
  let row = from;
  for (; row + 3 < count; row += 4) {
    const at = start + row;
    const first = groupOfTuple[Math.imul(groups[row]!, codeCount) + codes[at]!]!;
    const second = groupOfTuple[Math.imul(groups[row + 1]!, codeCount) + codes[at + 1]!]!;
    const third = groupOfTuple[Math.imul(groups[row + 2]!, codeCount) + codes[at + 2]!]!;
    const fourth = groupOfTuple[Math.imul(groups[row + 3]!, codeCount) + codes[at + 3]!]!;
    if ((first | second | third | fourth) < 0) break;
    groups[row] = first;
    groups[row + 1] = second;
    groups[row + 2] = third;
    groups[row + 3] = fourth;
  }
  for (; row < count; row++) {
    const group = groupOfTuple[Math.imul(groups[row]!, codeCount) + codes[start + row]!]!;
    if (group < 0) return row;
    groups[row] = group;
  }
  return count;
}

function lookUpWords(
  codes: Uint32Array,
  { last, groupOfTuple, groups, count }: GroupLookup,
  from: number,
): number {
  const { start, codeCount } = last;
  let row = from;
  for (; row + 3 < count; row += 4) {
    const at = start + row;
    const first = groupOfTuple[Math.imul(groups[row]!, codeCount) + codes[at]!]!;
    const second = groupOfTuple[Math.imul(groups[row + 1]!, codeCount) + codes[at + 1]!]!;
    const third = groupOfTuple[Math.imul(groups[row + 2]!, codeCount) + codes[at + 2]!]!;
    const fourth = groupOfTuple[Math.imul(groups[row + 3]!, codeCount) + codes[at + 3]!]!;
    if ((first | second | third | fourth) < 0) break;
    groups[row] = first;
    groups[row + 1] = second;
    groups[row + 2] = third;
    groups[row + 3] = fourth;
  }
  for (; row < count; row++) {
    const group = groupOfTuple[Math.imul(groups[row]!, codeCount) + codes[start + row]!]!;
    if (group < 0) return row;
    groups[row] = group;
  }
  return count;
}
