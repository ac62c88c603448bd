import { carvedInt32 } from '../column/carved-arrays.ts';
import { consecutivePositions } from '../column/chunk.ts';
import { isReadingPassing } from '../column/segment-reader.ts';
import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import { dictionaryVector, isOfStrings, takeVector } from '../column/vector.ts';
import type { AggregateState, ValueParts } from './aggregate-function.ts';
import type { ChunkRuns } from './chunk-runs.ts';
import type { GroupKeys } from './group-table.ts';
import { GroupTable } from './group-table.ts';
import { KeyColumn } from './key-column.ts';
import {
  type CodeMarks,
  countMarks,
  MarkedCodes,
  markedCodes,
  nullAndCodes,
} from './marked-codes.ts';
import { PairSet } from './pair-set.ts';
import { countUuidUnion, type UuidSet } from './uuid-union.ts';
import { type SelectedRows, ValuePart } from './value-part.ts';

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

/** Part of the bytes allowed for values that marks may have: a value takes some dozen bytes, a mark one. */
const MARKS_PART = 1 / 32;

/** Passes over the rows at most. A query that needs more mostly ends by its time. */
export const DISTINCT_PASSES_MAX = 64;

/**
 * The DISTINCT form of an aggregate, given its plain one: each group's distinct vectors, of these
 * types, count once. The keys of an order are among the arguments, so they make no more of them. `isOrderFree`: the
 * plain one gives the same answer in whatever order it is given values, and does not keep them itself.
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
 * As `ValueParts` it begins with all values, and keeps half of those at hand whenever they hold too much. Their bytes are
 * counted, and no garbage with them: so the number of parts depends on the values alone.
 */
class DistinctState implements AggregateState, ValueParts {
  readonly parts: ValueParts | undefined;
  readonly #plain: AggregateState;
  readonly #types: readonly SqlType[];
  #tuples: GroupTable;
  readonly #marked = new MarkedCodes();
  #pairs = new PairSet();
  /** Groups seen by `update` or `combine`. */
  #groupCount = 0;
  #isFed = false;
  /** The only values that are kept, by the first argument; absent: all. */
  #part: ValuePart | undefined;
  #partCount = 1;
  #bytesMax = Number.POSITIVE_INFINITY;
  #pause: (() => void) | undefined;

  constructor(plain: AggregateState, types: readonly SqlType[], isOrderFree: boolean) {
    this.parts = isOrderFree ? this : undefined;
    this.#plain = plain;
    this.#tuples = newTuples(types);
    this.#types = types;
  }

  get heldBytes(): number {
    return this.#tuples.byteSize + this.#pairs.byteSize;
  }

  bound(bytesMax: number, pause?: () => void): void {
    this.#bytesMax = bytesMax;
    this.#pause = pause;
  }

  endPass(): number {
    // What is marked of groups that have pairs becomes pairs, too, and may make more parts.
    if (this.#pairs.size > 0) this.#settleAll();
    this.#bytesMax = Number.POSITIVE_INFINITY;
    return this.#partCount;
  }

  beginPass(index: number): void {
    this.#feed(() => this.#pause?.());
    this.#isFed = false;
    this.#keepPart(index);
  }

  #keepPart(index: number): void {
    this.#part = new ValuePart(this.#types[0]!, { index, count: this.#partCount });
    this.#tuples = newTuples(this.#types);
    this.#pairs = new PairSet();
  }

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    const isBounded = this.#bytesMax !== Number.POSITIVE_INFINITY;
    if (isBounded && count > DISTINCT_FED_MAX && hasManyTexts(vectors[0]!)) {
      this.#updateSliced(groups, count, groupCount, vectors);
    } else {
      this.#update(groups, count, groupCount, vectors);
    }
  }

  /** A large chunk of long texts alone may hold more than is allowed: bytes are counted more often. */
  #updateSliced(
    groups: Int32Array,
    count: number,
    groupCount: number,
    vectors: readonly Vector[],
  ): void {
    for (let start = 0; start < count; start += DISTINCT_FED_MAX) {
      const end = Math.min(start + DISTINCT_FED_MAX, count);
      const positions = consecutivePositions(start, end);
      const slice = vectors.map((vector) => takeVector(vector, positions, end - start));
      this.#update(groups.subarray(start, end), end - start, groupCount, slice);
    }
  }

  #update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    const own = this.#part?.select(vectors[0]!, count);
    if (own === undefined) {
      this.#add(groups, this.#tuples.assign(vectors, count), count, groupCount);
    } else {
      this.#addSelected(own, groups, groupCount, vectors);
    }
  }

  #addSelected(
    { positions, count, isOfOther }: SelectedRows,
    groups: Int32Array,
    groupCount: number,
    vectors: readonly Vector[],
  ): void {
    // What is known of codes would grow with the dictionaries, whatever the part.
    if (isOfOther) this.#tuples.forgetCodes();
    const own = carvedInt32(count);
    for (let row = 0; row < count; row++) own[row] = groups[positions[row]!]!;
    const selected = vectors.map((vector) => takeVector(vector, positions, count));
    this.#add(own, this.#tuples.assign(selected, count), count, groupCount);
  }

  updateRuns(runs: ChunkRuns, groupCount: number, vectors: readonly Vector[]): boolean {
    const [vector] = vectors;
    if (this.#part !== undefined) return false;
    if (vectors.length !== 1 || vector?.kind !== 'dictionary' || isReadingPassing()) return false;
    if (!isOfStrings(vector.dictionary) || !this.#marked.add(runs, vector)) return false;
    this.#groupCount = Math.max(this.#groupCount, groupCount);
    const marksBytesMax = Math.min(DISTINCT_MARKS_BYTES_MAX, MARKS_PART * this.#bytesMax);
    if (this.#marked.byteSize > marksBytesMax) this.#settleAll();
    return true;
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as DistinctPartial; // By contract, what partial() of this class gave.
    const ourTuples = this.#tuples.combine(theirs.tuples);
    const pairGroups = theirs.groups.map((group) => groups[group]!);
    const pairTuples = theirs.tupleOfPair.map((tuple) => ourTuples[tuple]!);
    this.#add(pairGroups, pairTuples, pairGroups.length, groupCount);
  }

  partial(): DistinctPartial {
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
    if (this.#bytesMax !== Number.POSITIVE_INFINITY && this.heldBytes > this.#bytesMax)
      this.#halve();
  }

  /** From now on one of twice as many parts is kept; it lies within the one before. */
  #halve(): void {
    if (this.#partCount === DISTINCT_PASSES_MAX) return;
    const [all, { groups, values }] = [this.#tuples, this.#pairs];
    this.#partCount *= 2;
    this.#keepPart(0);
    for (let start = 0; start < values.length; start += DISTINCT_FED_MAX) {
      this.#pause?.();
      const fed = values.subarray(start, start + DISTINCT_FED_MAX);
      const vectors = this.#types.map((_, column) => all.keyVector(fed, column));
      const fedGroups = groups.subarray(start, start + DISTINCT_FED_MAX);
      this.update(fedGroups, fed.length, this.#groupCount, vectors);
    }
    this.#settleAll();
    // It knows the values before as a dictionary, and would keep them.
    this.#part?.forgetDictionary();
    this.#tuples.forgetCodes();
  }

  #feed(pause: () => void): void {
    this.#isFed = true;
    if (this.#plain.addPresent === undefined) {
      this.#settleAll();
      this.#handOn(pause);
    } else {
      this.#countMarked();
      this.#countPairs();
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
      const codes = nullAndCodes(marks);
      const { length } = codes;
      const vectors = [dictionaryVector(codes, length, dictionary)];
      this.update(new Int32Array(length).fill(group), length, this.#groupCount, vectors);
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

/** Whether a chunk may have many texts that are new. */
function hasManyTexts(vector: Vector): boolean {
  if (vector.kind === 'dictionary') return vector.dictionary.size > DISTINCT_FED_MAX;
  return vector.kind === 'value' || vector.kind === 'nested';
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
