import { assert } from '../assert.ts';
import { carvedInt32, NO_INT32, runInt32 } from '../column/arrays.ts';
import type { PackedNumbers } from '../column/number-vectors.ts';
import type { UnsignedArray } from '../column/slice.ts';
import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { constantVector, numberVector, type Vector, valueAt } from '../column/vector.ts';
import { GROUPS_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import { ChunkRuns, type KnownTests } from './chunk-runs.ts';
import type { DistinctValues } from './distinct-values.ts';
import { KeyColumn } from './key-column.ts';
import { PairIndex } from './pair-index.ts';

/**
 * The keys of all groups, fit for `postMessage`. Group `g` has, in column `c`, the value
 * `columns[c].ids[g]` of `columns[c].values`.
 */
export type GroupKeys = {
  readonly size: number;
  readonly columns: readonly { readonly ids: Int32Array; readonly values: DistinctValues }[];
};

/** The keys of the groups marked 1 alone, in the same order. */
export function selectedKeys({ size, columns }: GroupKeys, marks: Uint8Array): GroupKeys {
  const groups: number[] = [];
  for (let group = 0; group < size; group++) if (marks[group] === 1) groups.push(group);
  return {
    size: groups.length,
    columns: columns.map(({ ids, values }) => {
      const positions = new Map<number, number>();
      const selected = Int32Array.from(groups, (group) => {
        const id = ids[group]!;
        const position = positions.get(id) ?? positions.size;
        positions.set(id, position);
        return position;
      });
      const kept = [...positions.keys()];
      return {
        ids: selected,
        values: { ...values, refs: Int32Array.from(kept, (id) => values.refs[id]!) },
      };
    }),
  };
}

const ABSENT = -1;

/** To ask of a code costs as much as some rows: there should be fewer. */
const ROWS_PER_CODE = 4;

/**
 * Numbers the groups of an aggregation 0, 1, 2 … in the order their keys are first met; without keys
 * there is one group from the start. Keys are equal as GROUP BY has it: NULL is a key of its own,
 * 0 and -0 are one, NaN is one (`KeyColumn`).
 *
 * Each column numbers its own values; a group of several columns is a pair of its first columns'
 * number and its last column's, so that strings are looked at once per column and code.
 */
export class GroupTable {
  readonly #columns: readonly KeyColumn[];
  /** `#pairs[c]` pairs the number made of columns [0, c] with the id in column c + 1. */
  readonly #pairs: readonly PairIndex[];
  readonly #groupsMax: number;
  #groups: Int32Array<ArrayBuffer> = NO_INT32;
  #ids: Int32Array<ArrayBuffer> = NO_INT32;
  readonly #knownTests: KnownTests = { countMax: 0 };

  constructor(types: readonly SqlType[], groupsMax = GROUPS_MAX) {
    this.#columns = types.map((type) => new KeyColumn(type));
    this.#pairs = types.slice(1).map(() => new PairIndex());
    this.#groupsMax = groupsMax;
  }

  get size(): number {
    return this.#pairs.at(-1)?.size ?? this.#columns[0]?.size ?? 1;
  }

  /**
   * The group of each row; `vectors` are the keys, one for each type. The array is longer than
   * `count` and good until the next call. Throws `query_limit` when there are too many groups.
   */
  assign(vectors: readonly Vector[], count: number): Int32Array {
    assert(vectors.length === this.#columns.length, 'there is a vector for each key');
    const groups = this.#groupsFor(count);
    if (this.#columns.length === 0) return groups; // All 0: nothing else is ever written.
    if (!this.#assignCodesInRuns(vectors, count, groups)) {
      const coded = codedKeysOf(vectors, count);
      if (coded !== undefined) this.#assignCoded(coded, count, groups);
      else this.#assignColumns(vectors, count, groups, this.#ids);
    }
    this.#checkSize();
    return groups;
  }

  #groupsFor(count: number): Int32Array {
    if (this.#groups.length < count) {
      this.#groups = carvedInt32(count);
      if (this.#pairs.length > 0) this.#ids = carvedInt32(count);
    }
    return this.#groups;
  }

  /** A group is looked for once for each tuple of codes that some row has. */
  #assignCoded(keys: readonly CodedKey[], count: number, groups: Int32Array): void {
    // Of a constant all codes are 0: it makes no difference to tuples.
    const varying = keys.filter(isVarying);
    const last = varying.pop();
    if (last === undefined) {
      const codes = keys.map(() => 0);
      groups.fill(this.#groupOf(keys, codes), 0, count);
      return;
    }
    const otherCount = writeTuples(varying, count, groups);
    const groupOfTuple = carvedInt32(otherCount * last.codeCount).fill(ABSENT);
    const lookup = { last, groupOfTuple, groups, count };
    for (let row = 0; ; ) {
      row = lookUpGroups(lookup, row);
      if (row === count) return;
      const tuple = groups[row]! * last.codeCount + last.codes[last.start + row]!;
      groupOfTuple[tuple] = this.#groupOf(keys, codesOfTuple(keys, tuple));
    }
  }

  #groupOf(keys: readonly CodedKey[], codes: readonly number[]): number {
    let group = 0;
    for (let column = 0; column < keys.length; column++) {
      const id = this.#columns[column]!.idOf(keys[column]!.value(codes[column]!));
      group = column === 0 ? id : this.#pairs[column - 1]!.id(group, id);
    }
    return group;
  }

  /** Writes what the first columns, one for each vector, make of the rows; `ids` is room for as many. */
  #assignColumns(
    vectors: readonly Vector[],
    count: number,
    groups: Int32Array,
    ids: Int32Array,
  ): void {
    this.#columns[0]!.assign(vectors[0]!, count, groups);
    for (let column = 1; column < vectors.length; column++) {
      this.#columns[column]!.assign(vectors[column]!, count, ids);
      this.#pairs[column - 1]!.assign(groups, ids, count, groups);
    }
  }

  /**
   * The groups of the rows where they come in runs, as keys that are themselves in runs or constant tell;
   * `undefined` where they do not. Throws as `assign` does.
   */
  assignRuns(vectors: readonly Vector[], count: number): ChunkRuns | undefined {
    const runs = runsOf(vectors, count);
    if (runs === undefined) return undefined;
    const { ends, rowOfRun } = runs;
    const groups = this.assign(rowOfRun, ends.length).slice(0, ends.length);
    return new ChunkRuns(groups, ends, count, this.#knownTests);
  }

  /** The group of each row of what `assignRuns` gave; good until the next call, as that of `assign`. */
  spread(runs: ChunkRuns): Int32Array {
    const groups = this.#groupsFor(runs.count);
    if (this.#columns.length > 0) runs.spread(groups);
    return groups;
  }

  /**
   * Writes the group of each row where the last key is by codes and the others come in runs, each of far
   * more rows than there are codes: what group a code is of is asked once for a run. False, and nothing is
   * written, where they do not.
   */
  #assignCodesInRuns(vectors: readonly Vector[], count: number, groups: Int32Array): boolean {
    const last = this.#columns.length - 1;
    const codes = vectors[last]!;
    if (last === 0 || codes.kind !== 'dictionary') return false;
    const runs = runsOf(vectors.slice(0, last), count);
    if (runs === undefined) return false;
    const { ends, rowOfRun } = runs;
    const { dictionary } = codes;
    const codeCount = dictionary.size + 1;
    if (dictionary.split !== undefined || ends.length * codeCount * ROWS_PER_CODE > count) {
      return false;
    }
    const groupOfCode = carvedInt32(codeCount);
    const lefts = carvedInt32(ends.length);
    const ids = carvedInt32(ends.length);
    this.#assignColumns(rowOfRun, ends.length, lefts, ids);
    let row = 0;
    for (let run = 0; run < ends.length; run++) {
      groupOfCode.fill(ABSENT);
      const end = ends[run]!;
      for (;;) {
        row = assignKnown(codes.codes, row, end, groupOfCode, groups);
        if (row === end) break;
        const code = codes.codes[row]!;
        const id = this.#columns[last]!.idOfCode(dictionary, code);
        groupOfCode[code + 1] = this.#pairs[last - 1]!.id(lefts[run]!, id);
      }
    }
    return true;
  }

  /** The keys of all groups. The table may be used further; what was given does not change. */
  keys(): GroupKeys {
    const size = this.size;
    const columns = this.#columns.map((column, index) => {
      const ids = new Int32Array(size);
      for (let group = 0; group < size; group++) ids[group] = this.#idInColumn(group, index);
      return { ids, values: column.distinctValues() };
    });
    return { size, columns };
  }

  /**
   * Takes another table's keys in; its group `i` is our group `[i]` of the result. Comes to a checkpoint behind each key:
   * a hundred thousand long texts of one take some 60 ms.
   */
  combine(theirs: GroupKeys, checkpoint?: () => void): Int32Array {
    assert(theirs.columns.length === this.#columns.length, 'both tables have the same keys');
    const { size } = theirs;
    const groups = runInt32(size);
    const mapped = runInt32(size);
    for (let column = 0; column < this.#columns.length; column++) {
      const { ids, values } = theirs.columns[column]!;
      const ourIds = this.#columns[column]!.combine(values);
      const into = column === 0 ? groups : mapped;
      for (let group = 0; group < size; group++) into[group] = ourIds[ids[group]!]!;
      if (column > 0) this.#pairs[column - 1]!.assign(groups, mapped, size, groups);
      checkpoint?.();
    }
    this.#checkSize();
    return groups;
  }

  /** The value of one key of a group. */
  key(group: number, column: number): SqlValue {
    return this.#columns[column]!.value(this.#idInColumn(group, column));
  }

  /** The group whose only key is NULL, of a table of one column; -1 where there is none. */
  get nullGroup(): number {
    assert(this.#columns.length === 1, 'there is one key');
    return this.#columns[0]!.nullId;
  }

  /** The groups with a NULL or a NaN among their keys, which `=` has equal to nothing. */
  unequalGroups(): readonly number[] {
    const groups = new Set<number>();
    for (const [index, column] of this.#columns.entries()) {
      const { nullId, nanId } = column;
      if (nullId === ABSENT && nanId === ABSENT) continue;
      for (let group = 0; group < this.size; group++) {
        const id = this.#idInColumn(group, index);
        if (id === nullId || id === nanId) groups.add(group);
      }
    }
    return [...groups];
  }

  /** The keys of all groups where they lie, of a table of one column: to be read at once. */
  valuesInPlace(): DistinctValues {
    assert(this.#columns.length === 1, 'there is one key');
    return this.#columns[0]!.valuesInPlace();
  }

  /** The values of one key for the given groups. */
  keyVector(groups: Int32Array, column: number): Vector {
    const isOnly = this.#columns.length === 1;
    const ids = isOnly ? groups : groups.map((group) => this.#idInColumn(group, column));
    return this.#columns[column]!.vector(ids);
  }

  #idInColumn(group: number, column: number): number {
    // Down the chain to the number made of columns [0, column], whose last part is this column's.
    let id = group;
    for (let pair = this.#pairs.length - 1; pair >= column; pair--)
      id = this.#pairs[pair]!.left(id);
    return column === 0 ? id : this.#pairs[column - 1]!.right(id);
  }

  #checkSize(): void {
    if (this.size <= this.#groupsMax) return;
    throw new QueryError(
      'query_limit',
      `there may be at most ${this.#groupsMax} groups of one aggregation (GROUPS_MAX); got ${this.size}`,
    );
  }
}

/** Where keys change, and their values in each run between: `undefined` where they do not come in runs. */
function runsOf(
  vectors: readonly Vector[],
  count: number,
): { readonly ends: Int32Array; readonly rowOfRun: readonly Vector[] } | undefined {
  const inRuns = vectors.find((vector) => vector.form === 'run numbers');
  if (!vectors.every((vector) => vector === inRuns || vector.kind === 'constant')) return undefined;
  const ends = inRuns?.runEnds ?? Int32Array.of(count);
  // Of each run one row is as good as all.
  const rowOfRun = vectors.map((vector) =>
    vector.form === 'run numbers'
      ? numberVector(vector.runValues, ends.length)
      : constantVector(valueAt(vector, 0), ends.length),
  );
  return { ends, rowOfRun };
}

/** Writes the groups of rows from `start` on; gives the first whose code has none yet, or `end`. */
function assignKnown(
  codes: Int32Array,
  start: number,
  end: number,
  groupOfCode: Int32Array,
  groups: Int32Array,
): number {
  for (let row = start; row < end; row++) {
    const group = groupOfCode[codes[row]! + 1]!;
    if (group < 0) return row;
    groups[row] = group;
  }
  return end;
}

/** A column of keys by the codes that lie in a segment: entry `i` is `value(codes[start + i])`. */
type CodedKey = {
  /** Absent: all are code 0. */
  readonly codes: UnsignedArray | undefined;
  readonly start: number;
  /** Codes are below it. */
  readonly codeCount: number;
  readonly value: (code: number) => SqlValue;
};

/** A key of which not all rows are known to be the same. */
type VaryingKey = CodedKey & { readonly codes: UnsignedArray };

function isVarying(key: CodedKey): key is VaryingKey {
  return key.codes !== undefined;
}

/** To have a place for each tuple of codes costs as much as some rows: there should be fewer. */
const ROWS_PER_TUPLE = 8;

/** Keys by codes, where there are few tuples of these beside the rows; else `undefined`. */
function codedKeysOf(vectors: readonly Vector[], count: number): readonly CodedKey[] | undefined {
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
function writeTuples(keys: readonly VaryingKey[], count: number, tuples: Int32Array): number {
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
type GroupLookup = {
  readonly last: VaryingKey;
  readonly groupOfTuple: Int32Array;
  readonly groups: Int32Array;
  readonly count: number;
};

/**
 * Writes the groups of rows from `row` on. Gives the first whose tuple has none, which is a group below 0, and leaves it
 * as it was; `count` when all are written. Four at a time, for the loops take as long as what is in them.
 */
function lookUpGroups(lookup: GroupLookup, row: number): number {
  const { codes } = lookup.last;
  if (codes instanceof Uint8Array) return lookUpBytes(codes, lookup, row);
  if (codes instanceof Uint16Array) return lookUpShorts(codes, lookup, row);
  return lookUpWords(codes, lookup, row);
}

/** The code of each key in a tuple. */
function codesOfTuple(keys: readonly CodedKey[], tuple: number): readonly number[] {
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
