import { assert, must } from '../assert.ts';
import { runInt32 } from '../column/arrays.ts';
import { isReadingPassing } from '../column/segment-reader.ts';
import type { UnsignedArray } from '../column/slice.ts';
import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import {
  type Dictionary,
  type DictionaryVector,
  dictionaryVector,
  isOfStrings,
  type Vector,
  valueVector,
} from '../column/vector.ts';
import type { AggregateState } from './aggregate-function.ts';
import { rangeOfText } from './byte-index.ts';
import type { ChunkRuns } from './chunk-runs.ts';
import { numberOfKey } from './distinct-values.ts';
import { type GroupKeys, GroupTable } from './group-table.ts';
import { KeyColumn } from './key-column.ts';
import { PairSet } from './pair-index.ts';
import { type ReadPairs, type Spillable, SpilledPairs, type SpillSpace } from './spilled-pairs.ts';
import { countUuidUnion, type UuidSet } from './uuid-index.ts';

/**
 * Values that the plain aggregate is given at a time: their vectors stay small beside the values
 * themselves, and a checkpoint comes between.
 */
export const DISTINCT_FED_MAX = 8_192;

/**
 * Bytes of marks, one for a code of a dictionary in a group, that one aggregate with DISTINCT keeps before it makes
 * values of them: some hundred segments. The dictionaries are held as long.
 */
const DISTINCT_MARKS_BYTES_MAX = 4 * 1024 * 1024;

/** Marked codes that become pairs between two checkpoints of a state that may spill. */
const DISTINCT_SETTLED_MAX = 65_536;

/** Types whose values can be read back from bytes. */
const NUMERIC_KINDS: ReadonlySet<SqlType['kind']> = new Set(['INT64', 'FLOAT64', 'NUMBER']);

/**
 * The DISTINCT form of an aggregate, given its plain one: each group's distinct vectors, of these
 * types, count once. The keys of an order are among the arguments, so they make no more of them.
 * `isOrderFree`: the plain one gives the same in whatever order it is given the values.
 */
export function distinctState(
  plain: AggregateState,
  types: readonly SqlType[],
  isOrderFree = false,
): AggregateState {
  return new DistinctState(plain, types, isOrderFree);
}

type DistinctPartial = {
  readonly tuples: GroupKeys;
  readonly groups: Int32Array;
  readonly tupleOfPair: Int32Array;
};

/**
 * Numbers the distinct arguments (one number for all groups) and keeps the distinct pairs of a group
 * and such a number; the plain aggregate sees them once, at the end. How many they are is bounded by the
 * bytes that the query may hold, and by no count of their own. A repeated code of a dictionary
 * costs one look-up of its number and one of a bit; in runs of one group it is marked, and becomes a pair at
 * the end, where a count of marks does not tell all that is wanted.
 *
 * If they do not fit into memory, the pairs are written to disk (`spill`), and new sets begin. At the end all are written,
 * and read back part by part.
 */
class DistinctState implements AggregateState, Spillable {
  readonly #plain: AggregateState;
  readonly #types: readonly SqlType[];
  readonly #isSpillable: boolean;
  #tuples: GroupTable;
  readonly #marked = new MarkedCodes();
  #pairs = new PairSet();
  /** Groups seen by `update` or `combine`. */
  #groupCount = 0;
  #isFed = false;
  /** Set while the tuples and the pairs do not match. */
  #isChanging = false;
  #space: SpillSpace | undefined;
  /** Present once pairs were written. */
  #spilled: SpilledPairs | undefined;

  constructor(plain: AggregateState, types: readonly SqlType[], isOrderFree: boolean) {
    const [type] = types;
    this.#plain = plain;
    this.#types = types;
    this.#isSpillable =
      types.length === 1 &&
      (plain.addPresent !== undefined || (isOrderFree && NUMERIC_KINDS.has(type!.kind)));
    this.#tuples = newTuples(types);
  }

  spillTo(space: SpillSpace): void {
    if (!this.#isSpillable) return;
    this.#space = space;
    space.add(this);
  }

  spill(): boolean {
    return !this.#isChanging && this.#write(must(this.#space).runBytesMin);
  }

  get entryCount(): number {
    return this.#pairs.size;
  }

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    this.#isChanging = true;
    this.#add(groups, this.#tuples.assign(vectors, count), count, groupCount);
    this.#isChanging = false;
  }

  updateRuns(runs: ChunkRuns, groupCount: number, vectors: readonly Vector[]): boolean {
    const [vector] = vectors;
    if (vectors.length !== 1 || vector?.kind !== 'dictionary' || isReadingPassing()) return false;
    if (!isOfStrings(vector.dictionary) || !this.#marked.add(runs, vector)) return false;
    this.#groupCount = Math.max(this.#groupCount, groupCount);
    if (this.#marked.byteSize > DISTINCT_MARKS_BYTES_MAX) this.#settleAll();
    return true;
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as DistinctPartial; // By contract, what partial() of this class gave.
    this.#isChanging = true;
    const ourTuples = this.#tuples.combine(theirs.tuples);
    const { length } = theirs.groups;
    const [pairGroups, pairTuples] = [runInt32(length), runInt32(length)];
    for (let pair = 0; pair < length; pair++) {
      pairGroups[pair] = groups[theirs.groups[pair]!]!;
      pairTuples[pair] = ourTuples[theirs.tupleOfPair[pair]!]!;
    }
    this.#add(pairGroups, pairTuples, length, groupCount);
    this.#isChanging = false;
  }

  partial(): DistinctPartial {
    assert(this.#space === undefined, 'a state that may spill stays on its thread');
    this.#settleAll();
    return {
      tuples: this.#tuples.keys(),
      groups: this.#pairs.groups.slice(),
      tupleOfPair: this.#pairs.values.slice(),
    };
  }

  finalize(group: number): SqlValue {
    if (!this.#isFed) this.#feed(() => {});
    return this.#plain.finalize(group);
  }

  finalizeAll(groups: Int32Array, pause: () => void): Vector | undefined {
    if (!this.#isFed) this.#feed(pause);
    return this.#plain.finalizeAll?.(groups, pause);
  }

  #add(groups: Int32Array, tuples: Int32Array, count: number, groupCount: number): void {
    this.#pairs.add(groups, tuples, count, { groupCount, valueCount: this.#tuples.size });
    this.#groupCount = Math.max(this.#groupCount, groupCount);
  }

  #write(bytesMin: number): boolean {
    const { groups, values: ids } = this.#pairs;
    // To a count NULL is no value.
    const nullId = this.#plain.addPresent === undefined ? -1 : this.#tuples.nullGroup;
    const spilled = this.#spilled ?? new SpilledPairs(must(this.#space));
    const values = this.#tuples.valuesInPlace();
    if (!spilled.write({ values, groups, ids, nullId }, bytesMin)) return false;
    this.#spilled = spilled;
    this.#tuples = newTuples(this.#types);
    this.#pairs = new PairSet();
    return true;
  }

  #feed(pause: () => void): void {
    this.#isFed = true;
    if (this.#spilled !== undefined) this.#settleAll();
    // From here on nothing makes this state spill, and no checkpoint comes where there was none without a space.
    this.#space?.delete(this);
    this.#space = undefined;
    if (this.#spilled !== undefined) this.#feedSpilled(this.#spilled, pause);
    else if (this.#plain.addPresent === undefined) {
      this.#settleAll();
      this.#handOn(pause);
    } else {
      this.#countMarked();
      this.#countPairs();
    }
  }

  #feedSpilled(spilled: SpilledPairs, pause: () => void): void {
    this.#write(0);
    const counts = new Float64Array(this.#plain.addPresent === undefined ? 0 : this.#groupCount);
    spilled.readAll(this.#groupCount, pause, (pairs) => {
      if (this.#plain.addPresent === undefined) this.#handOnNumbers(pairs);
      else for (const group of pairs.groups) counts[group]!++;
    });
    this.#addCounts(counts);
  }

  #handOnNumbers({ groups, values, keys }: ReadPairs): void {
    for (let start = 0; start < values.length; start += DISTINCT_FED_MAX) {
      const fed = values.subarray(start, start + DISTINCT_FED_MAX);
      const numbers = Array.from(fed, (value) => {
        const { bytes, start, end } = rangeOfText(keys, value);
        return numberOfKey(bytes, start, end);
      });
      const fedGroups = groups.subarray(start, start + DISTINCT_FED_MAX);
      this.#plain.update(fedGroups, fed.length, this.#groupCount, [valueVector(numbers)]);
    }
  }

  /** Gives the plain aggregate all pairs, some at a time. */
  #handOn(pause: () => void): void {
    const { groups, values: tuples } = this.#pairs;
    for (let start = 0; start < tuples.length; start += DISTINCT_FED_MAX) {
      pause();
      const fed = tuples.subarray(start, start + DISTINCT_FED_MAX);
      const vectors = this.#types.map((_, column) => this.#tuples.keyVector(fed, column));
      const fedGroups = groups.subarray(start, start + DISTINCT_FED_MAX);
      this.#plain.update(fedGroups, fed.length, this.#groupCount, vectors);
    }
  }

  /** Tells how many values each group has among the pairs: what they are makes no difference. */
  #countPairs(): void {
    const { groups, values: tuples } = this.#pairs;
    if (groups.length === 0) return;
    const { nullGroup: nullTuple } = this.#tuples;
    const counts = new Float64Array(this.#groupCount);
    for (let pair = 0; pair < groups.length; pair++) {
      counts[groups[pair]!]! += Number(tuples[pair] !== nullTuple);
    }
    this.#addCounts(counts);
  }

  #addCounts(counts: Float64Array): void {
    for (let group = 0; group < counts.length; group++) {
      if (counts[group]! > 0) this.#plain.addPresent!(group, counts[group]!, this.#groupCount);
    }
  }

  /** Makes pairs of all that is marked. */
  #settleAll(): void {
    for (const [group, marked] of this.#marked.take()) this.#settle(group, marked);
  }

  #settle(group: number, marked: readonly CodeMarks[]): void {
    for (const { dictionary, marks } of marked) {
      const all = nullAndCodes(marks);
      const settledMax = this.#space === undefined ? all.length : DISTINCT_SETTLED_MAX;
      for (let start = 0; start < all.length; start += settledMax) {
        const codes = all.subarray(start, start + settledMax);
        const { length } = codes;
        const vectors = [dictionaryVector(codes, length, dictionary)];
        this.update(new Int32Array(length).fill(group), length, this.#groupCount, vectors);
        this.#space?.checkpoint();
      }
    }
  }

  /** Tells how many values are marked of each group that has no others. */
  #countMarked(): void {
    const hasPairs = new Uint8Array(this.#groupCount);
    for (const group of this.#pairs.groups) hasPairs[group] = 1;
    for (const [group, marked] of this.#marked.take()) {
      if (hasPairs[group] === 1) {
        this.#settle(group, marked);
        continue;
      }
      const count = countDistinct(marked, this.#types[0]!);
      this.#plain.addPresent!(group, count, this.#groupCount);
    }
  }
}

function newTuples(types: readonly SqlType[]): GroupTable {
  return new GroupTable(types, Number.POSITIVE_INFINITY);
}

/** How many values are marked, NULL left out. */
function countDistinct(marked: readonly CodeMarks[], type: SqlType): number {
  const [first] = marked;
  if (marked.length === 1 && first!.dictionary.isDistinct) return countMarks(first!.marks);
  return countUuids(marked) ?? countValues(marked, type);
}

function countUuids(marked: readonly CodeMarks[]): number | undefined {
  const sets: UuidSet[] = [];
  for (const { dictionary, marks } of marked) {
    const { uuids, isDistinct } = dictionary;
    if (uuids === undefined) return undefined;
    sets.push({ uuids, codes: markedCodes(marks), isDistinct });
  }
  return countUuidUnion(sets);
}

function countValues(marked: readonly CodeMarks[], type: SqlType): number {
  const values = new KeyColumn(type);
  for (const { dictionary, marks } of marked) {
    const codes = markedCodes(marks);
    const { length } = codes;
    values.assign(dictionaryVector(codes, length, dictionary), length, new Int32Array(length));
  }
  return values.size;
}

/** Bytes of new marks for each row of a chunk: beyond, to make and to count them takes longer than to look codes up. */
const BYTES_PER_ROW_MAX = 4;

/** The codes of a dictionary that a group has met: byte 0 is 1 for NULL, byte `c + 1` for code `c`. */
type CodeMarks = { readonly dictionary: Dictionary; readonly marks: Uint8Array };

/**
 * Which codes of which dictionaries each group has met, where its rows come in runs: a byte for each code. To mark one
 * needs no look-up, and what codes mean is asked when all rows have been seen, once of each.
 */
export class MarkedCodes {
  readonly #marks = new Map<Dictionary, Map<number, Uint8Array>>();
  #byteSize = 0;

  get byteSize(): number {
    return this.#byteSize;
  }

  /**
   * Marks the codes of the rows; false, and nothing is marked, where runs have few rows beside the codes there
   * are. The dictionary is kept until `take`.
   */
  add({ groups, ends, count }: ChunkRuns, vector: DictionaryVector): boolean {
    const { dictionary } = vector;
    const known = this.#marks.get(dictionary);
    let newCount = 0;
    for (const group of groups) newCount += known?.has(group) === true ? 0 : 1;
    if (newCount * dictionary.size > BYTES_PER_ROW_MAX * count) return false;
    const marks = known ?? new Map<number, Uint8Array>();
    this.#marks.set(dictionary, marks);
    let start = 0;
    for (let run = 0; run < ends.length; run++) {
      markRows(vector, start, ends[run]!, this.#marksOf(marks, groups[run]!, dictionary.size + 1));
      start = ends[run]!;
    }
    return true;
  }

  /** All marks by group. They are no longer here. */
  take(): ReadonlyMap<number, readonly CodeMarks[]> {
    const taken = new Map<number, CodeMarks[]>();
    for (const [dictionary, ofGroups] of this.#marks) {
      for (const [group, marks] of ofGroups) {
        const ofGroup = taken.get(group) ?? [];
        ofGroup.push({ dictionary, marks });
        taken.set(group, ofGroup);
      }
    }
    this.#marks.clear();
    this.#byteSize = 0;
    return taken;
  }

  #marksOf(ofGroups: Map<number, Uint8Array>, group: number, length: number): Uint8Array {
    const known = ofGroups.get(group);
    if (known !== undefined) return known;
    const marks = new Uint8Array(length);
    ofGroups.set(group, marks);
    this.#byteSize += length;
    return marks;
  }
}

/** How many codes are marked, NULL left out. */
export function countMarks(marks: Uint8Array): number {
  let count = 0;
  for (let at = 1; at < marks.length; at++) count += marks[at]!;
  return count;
}

/** The codes that are marked, ascending, NULL left out. */
export function markedCodes(marks: Uint8Array): Int32Array {
  const codes = nullAndCodes(marks);
  return marks[0] === 1 ? codes.subarray(1) : codes;
}

/** The codes that are marked, ascending; NULL, which is -1, is the first. */
function nullAndCodes(marks: Uint8Array): Int32Array {
  const codes = new Int32Array(countMarks(marks) + marks[0]!);
  let count = 0;
  for (let at = 0; at < marks.length; at++) if (marks[at] === 1) codes[count++] = at - 1;
  return codes;
}

function markRows(vector: DictionaryVector, start: number, end: number, marks: Uint8Array): void {
  if (vector.form !== 'string range') {
    markCodes(vector.codes, start, end, marks);
    return;
  }
  const { firstCode, codesInPlace } = vector;
  if (firstCode !== undefined) marks.fill(1, firstCode + start + 1, firstCode + end + 1);
  else if (codesInPlace === undefined) markCodes(vector.codes, start, end, marks);
  else markInPlace(codesInPlace, vector.start + start, vector.start + end, marks);
}

/** A loop for each width of codes, for each is compiled for its own. */
function markInPlace(codes: UnsignedArray, start: number, end: number, marks: Uint8Array): void {
  if (codes instanceof Uint8Array) markBytes(codes, start, end, marks);
  else if (codes instanceof Uint16Array) markShorts(codes, start, end, marks);
  else markWords(codes, start, end, marks);
}

function markCodes(codes: Int32Array, start: number, end: number, marks: Uint8Array): void {
  for (let row = start; row < end; row++) marks[codes[row]! + 1] = 1;
}

function markBytes(codes: Uint8Array, start: number, end: number, marks: Uint8Array): void {
  for (let row = start; row < end; row++) marks[codes[row]! + 1] = 1;
}

function markShorts(codes: Uint16Array, start: number, end: number, marks: Uint8Array): void {
  for (let row = start; row < end; row++) marks[codes[row]! + 1] = 1;
}

function markWords(codes: Uint32Array, start: number, end: number, marks: Uint8Array): void {
  for (let row = start; row < end; row++) marks[codes[row]! + 1] = 1;
}
