import { carvedFloat64, carvedUint8 } from '../column/carved-arrays.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import { numberVector, valueAt } from '../column/vector.ts';
import { checkedInt64 } from '../function/number/int64.ts';
import { QueryError } from '../query-error.ts';
import type { AggregateState } from './aggregate-function.ts';
import type { ChunkRuns } from './chunk-runs.ts';
import { type CodeSums, sumCodes } from './code-sums.ts';
import { countPresent } from './count-kernels.ts';
import { countRunRows } from './count-run-kernels.ts';
import { exactInteger, exactSum, wholeOf } from './exact-number.ts';
import type { ExactSumsPartial } from './exact-sums.ts';
import { ExactSums } from './exact-sums.ts';
import { comesInRuns } from './group-runs.ts';
import type { GroupedNumbers } from './grouped-numbers.ts';
import { grownFloat64, grownUint8, NO_FLOAT64, NO_UINT8 } from './growth.ts';
import { NumberReader } from './number-reader.ts';
import { addIntegerRunsUntilMiss, addIntegersUntilMiss, INTEGER_MAX } from './sum-kernels.ts';

/** Bits of `#specials`: what a group has seen beside finite values. */
const SAW_NAN = 1;
const SAW_INFINITY = 2;
const SAW_MINUS_INFINITY = 4;

/** AVG divides in a range this many powers of two lower when the sum itself is beyond a double. */
const AVG_SCALE = 64;

/** So many bits of a larger integer are added at a time. */
const PART_BITS = 48;

type FloatSumPartial = {
  readonly integers: Float64Array;
  readonly counts: Float64Array;
  readonly specials: Uint8Array;
  readonly fractions: Uint8Array;
  readonly exact: ExactSumsPartial | undefined;
};

/**
 * Sum of FLOAT64 per group, or of NUMBER: the exact sum, rounded once. So it is the same to the bit however rows
 * are ordered, split and combined. A group's sum is `#integers[group]`, an integer below 2^53 in
 * magnitude that takes all integers while it can, plus its sum in `#exact`.
 */
export class FloatSumState implements AggregateState {
  readonly isCertain: boolean;
  readonly #finish: 'sum' | 'avg';
  readonly #reader = new NumberReader();
  #integers: Float64Array<ArrayBuffer> = NO_FLOAT64;
  /** Values that were not NULL. */
  #counts: Float64Array<ArrayBuffer> = NO_FLOAT64;
  #specials: Uint8Array<ArrayBuffer> = NO_UINT8;
  readonly #exact = new ExactSums();
  /** 1 for each group with a number that is not whole, if the others stay INT64. */
  #fractions: Uint8Array<ArrayBuffer> = NO_UINT8;
  readonly #keepsInteger: boolean;

  /** `keepsInteger`: whether a sum of whole numbers is an INT64. */
  constructor(finish: 'sum' | 'avg', keepsInteger = false) {
    this.isCertain = finish === 'avg';
    this.#finish = finish;
    this.#keepsInteger = keepsInteger;
  }

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    this.#reserve(groupCount);
    const vector = vectors[0]!;
    if (!comesInRuns(groups, count)) {
      const coded = sumCodes(vector, groups, count, groupCount);
      if (coded !== undefined) {
        this.#addSums(coded);
        return;
      }
    }
    const numbers = this.#reader.read(vector, count);
    if (numbers === undefined) {
      this.#addValues(groups, count, vector);
      return;
    }
    const { values, nulls } = numbers;
    countPresent(this.#counts, groups, count, numbers);
    this.#addNumbers({ groups, count, values, nulls });
  }

  updateRuns(runs: ChunkRuns, groupCount: number, vectors: readonly Vector[]): boolean {
    const sums = runs.sums(vectors[0]!);
    if (sums === undefined) return false;
    this.#reserve(groupCount);
    for (let run = 0; run < sums.length; run++) this.#addNumber(runs.groups[run]!, sums[run]!);
    return countRunRows(this.#counts, runs);
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as FloatSumPartial; // By contract, what partial() of this class gave.
    this.#reserve(groupCount);
    for (let index = 0; index < theirs.integers.length; index++) {
      const group = groups[index]!;
      this.#addNumber(group, theirs.integers[index]!);
      this.#counts[group]! += theirs.counts[index]!;
      this.#specials[group]! |= theirs.specials[index]!;
      if (this.#keepsInteger) this.#fractions[group]! |= theirs.fractions[index]!;
    }
    if (theirs.exact !== undefined) {
      this.#exact.combine(theirs.exact, groups, this.#integers.length);
    }
  }

  partial(groupCount: number): FloatSumPartial {
    return {
      integers: this.#integers.slice(0, groupCount),
      counts: this.#counts.slice(0, groupCount),
      specials: this.#specials.slice(0, groupCount),
      fractions: this.#fractions.slice(0, groupCount),
      exact: this.#exact.partial(groupCount),
    };
  }

  finalize(group: number): SqlValue {
    const count = this.#counts[group] ?? 0;
    if (count === 0) return null;
    const special = specialSum(this.#specials[group]!);
    if (special !== undefined) return special;
    if (this.#keepsInteger && this.#fractions[group] === 0) return this.#integerSum(group);
    // `+ 0` makes 0 of the -0 that cancelling may leave.
    const sum = this.#sum(group, 0) + 0;
    if (this.#finish === 'avg') {
      if (Number.isFinite(sum)) return sum / count;
      return (this.#sum(group, -AVG_SCALE) / count) * 2 ** AVG_SCALE;
    }
    if (Number.isFinite(sum)) return sum;
    throw new QueryError(
      'query_failed',
      `SUM of FLOAT64 must lie within ±${Number.MAX_VALUE}; the sum of ${count} values is beyond`,
    );
  }

  /** Where all values were integers, whose sums are exact as they are. */
  finalizeAll(groups: Int32Array): Vector | undefined {
    if (!this.#exact.isEmpty) return undefined;
    const answers = carvedFloat64(groups.length);
    const isAverage = this.#finish === 'avg';
    let nulls: Uint8Array | undefined;
    for (let index = 0; index < groups.length; index++) {
      const group = groups[index]!;
      const count = this.#counts[group] ?? 0;
      if (count === 0) {
        nulls ??= carvedUint8(groups.length);
        nulls[index] = 1;
      } else {
        if (this.#specials[group] !== 0) return undefined;
        const sum = this.#integers[group]! + 0;
        answers[index] = isAverage ? sum / count : sum;
      }
    }
    return numberVector(answers, groups.length, nulls);
  }

  #integerSum(group: number): SqlValue {
    const sum = exactSum(exactInteger(this.#integers[group]!), this.#exact.exact(group));
    const total = wholeOf(sum);
    return checkedInt64(total, () => `the sum ${total}`);
  }

  /** The sum of all finite values times 2^`scale`, rounded once. */
  #sum(group: number, scale: number): number {
    if (this.#exact.isEmpty) return this.#integers[group]! * 2 ** scale;
    this.#exact.add(group, this.#integers[group]!, this.#integers.length);
    this.#integers[group] = 0;
    return this.#exact.rounded(group, scale);
  }

  #reserve(groupCount: number): void {
    this.#integers = grownFloat64(this.#integers, groupCount);
    this.#counts = grownFloat64(this.#counts, groupCount);
    this.#specials = grownUint8(this.#specials, groupCount);
    if (this.#keepsInteger) this.#fractions = grownUint8(this.#fractions, groupCount);
  }

  #addSums({ sums, counts }: CodeSums): void {
    for (let group = 0; group < sums.length; group++) {
      if (counts[group] === 0) continue;
      this.#addNumber(group, sums[group]!);
      this.#counts[group]! += counts[group]!;
    }
  }

  /** Adds plain sums of integers up to the first other value, and exact sums from there on. */
  #addNumbers(numbers: GroupedNumbers): void {
    const { groups, count, values } = numbers;
    const kernel = comesInRuns(groups, count) ? addIntegerRunsUntilMiss : addIntegersUntilMiss;
    let row = kernel(this.#integers, numbers, 0);
    if (this.#keepsInteger) this.#noteFractions(numbers, row);
    while (row < count) {
      this.#addInexact(groups[row]!, values[row]!);
      row = this.#exact.addUntilMiss(numbers, row + 1, this.#integers.length);
    }
  }

  /** Numbers before `start` were whole. */
  #noteFractions({ groups, count, values, nulls }: GroupedNumbers, start: number): void {
    for (let row = start; row < count; row++) {
      if (nulls?.[row] !== 1 && !Number.isSafeInteger(values[row]!)) {
        this.#fractions[groups[row]!] = 1;
      }
    }
  }

  /** A bigint is an INT64 beyond 2^53. */
  #addValues(groups: Int32Array, count: number, vector: Vector): void {
    for (let row = 0; row < count; row++) {
      const value = valueAt(vector, row);
      if (typeof value === 'bigint') this.#addInteger(groups[row]!, value);
      else if (typeof value === 'number') this.#addNumber(groups[row]!, value);
      else continue;
      this.#counts[groups[row]!]!++;
    }
  }

  /** In parts that doubles hold. */
  #addInteger(group: number, value: bigint): void {
    let rest = value;
    for (let unit = 1; rest !== 0n; unit *= 2 ** PART_BITS) {
      const part = BigInt.asIntN(PART_BITS, rest);
      this.#exact.add(group, Number(part) * unit, this.#integers.length);
      rest = (rest - part) >> BigInt(PART_BITS);
    }
  }

  #addNumber(group: number, value: number): void {
    const sum = this.#integers[group]! + value;
    // Rounding is monotone, so a rounded sum of integers below 2^53 was below it, and exact.
    if (Number.isSafeInteger(value) && sum < INTEGER_MAX && sum > -INTEGER_MAX) {
      this.#integers[group] = sum;
    } else {
      this.#addInexact(group, value);
    }
  }

  #addInexact(group: number, value: number): void {
    if (this.#keepsInteger && !Number.isSafeInteger(value)) this.#fractions[group] = 1;
    if (Number.isFinite(value)) this.#exact.add(group, value, this.#integers.length);
    else this.#specials[group]! |= specialBit(value);
  }
}

function specialBit(value: number): number {
  if (value === Number.POSITIVE_INFINITY) return SAW_INFINITY;
  return value === Number.NEGATIVE_INFINITY ? SAW_MINUS_INFINITY : SAW_NAN;
}

/** The sum as IEEE 754 has it when there was a NaN or an infinity; `undefined` when there was none. */
function specialSum(bits: number): number | undefined {
  if (bits === 0) return undefined;
  if (bits === SAW_INFINITY) return Number.POSITIVE_INFINITY;
  return bits === SAW_MINUS_INFINITY ? Number.NEGATIVE_INFINITY : Number.NaN;
}
