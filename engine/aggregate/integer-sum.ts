import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import { valueAt } from '../column/vector.ts';
import { checkedInt64 } from '../function/number/int64.ts';
import type { AggregateState } from './aggregate-function.ts';
import type { ChunkRuns } from './chunk-runs.ts';
import { type CodeSums, sumCodes } from './code-sums.ts';
import { countPresent } from './count-kernels.ts';
import { countRunRows } from './count-run-kernels.ts';
import { comesInRuns } from './group-runs.ts';
import { grownFloat64, NO_FLOAT64 } from './growth.ts';
import { NumberReader } from './number-reader.ts';
import { addIntegerRunsUntilMiss, addIntegersUntilMiss, INTEGER_MAX } from './sum-kernels.ts';

type IntegerSumPartial = {
  readonly sums: Float64Array;
  readonly counts: Float64Array;
  readonly wideGroups: readonly number[];
  readonly wideSums: readonly bigint[];
};

/**
 * Sum of INT64 per group, exact at any size. A group's sum is `#sums[group]`, an integer below 2^53
 * in magnitude, plus `#wide.get(group)`, where there is one.
 */
export class IntegerSumState implements AggregateState {
  readonly #finish: 'sum' | 'avg';
  readonly #reader = new NumberReader();
  #sums: Float64Array<ArrayBuffer> = NO_FLOAT64;
  /** Values that were not NULL. */
  #counts: Float64Array<ArrayBuffer> = NO_FLOAT64;
  readonly #wide = new Map<number, bigint>();

  constructor(finish: 'sum' | 'avg') {
    this.#finish = finish;
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
      for (let row = 0; row < count; row++) this.#addValue(groups[row]!, valueAt(vector, row));
      return;
    }
    const { values, nulls } = numbers;
    countPresent(this.#counts, groups, count, numbers);
    const kernel = comesInRuns(groups, count) ? addIntegerRunsUntilMiss : addIntegersUntilMiss;
    for (let row = 0; row < count; row++) {
      row = kernel(this.#sums, { groups, count, values, nulls }, row);
      if (row < count) this.#addWide(groups[row]!, BigInt(values[row]!));
    }
  }

  updateRuns(runs: ChunkRuns, groupCount: number, vectors: readonly Vector[]): boolean {
    const sums = runs.sums(vectors[0]!);
    if (sums === undefined) return false;
    this.#reserve(groupCount);
    for (let run = 0; run < sums.length; run++) this.#addInteger(runs.groups[run]!, sums[run]!);
    return countRunRows(this.#counts, runs);
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as IntegerSumPartial; // By contract, what partial() of this class gave.
    this.#reserve(groupCount);
    for (let index = 0; index < theirs.sums.length; index++) {
      const group = groups[index]!;
      this.#addInteger(group, theirs.sums[index]!);
      this.#counts[group]! += theirs.counts[index]!;
    }
    theirs.wideGroups.forEach((index, position) => {
      this.#addWide(groups[index]!, theirs.wideSums[position]!);
    });
  }

  partial(groupCount: number): IntegerSumPartial {
    return {
      sums: this.#sums.slice(0, groupCount),
      counts: this.#counts.slice(0, groupCount),
      wideGroups: [...this.#wide.keys()],
      wideSums: [...this.#wide.values()],
    };
  }

  finalize(group: number): SqlValue {
    const count = this.#counts[group] ?? 0;
    if (count === 0) return null;
    const sum = this.#sums[group]!;
    const wide = this.#wide.get(group);
    if (this.#finish === 'avg') {
      return (wide === undefined ? sum : Number(wide + BigInt(sum))) / count;
    }
    if (wide === undefined) return sum + 0;
    const total = wide + BigInt(sum);
    return checkedInt64(total, () => `the sum ${total}`);
  }

  #reserve(groupCount: number): void {
    this.#sums = grownFloat64(this.#sums, groupCount);
    this.#counts = grownFloat64(this.#counts, groupCount);
  }

  #addSums({ sums, counts }: CodeSums): void {
    for (let group = 0; group < sums.length; group++) {
      if (counts[group] === 0) continue;
      this.#addInteger(group, sums[group]!);
      this.#counts[group]! += counts[group]!;
    }
  }

  #addInteger(group: number, value: number): void {
    const sum = this.#sums[group]! + value;
    // Rounding is monotone, so a rounded sum below 2^53 was below it, and therefore exact.
    if (sum < INTEGER_MAX && sum > -INTEGER_MAX) this.#sums[group] = sum;
    else this.#addWide(group, BigInt(value));
  }

  #addWide(group: number, value: bigint): void {
    this.#wide.set(group, (this.#wide.get(group) ?? 0n) + value);
  }

  #addValue(group: number, value: SqlValue): void {
    if (typeof value === 'number') this.#addInteger(group, value);
    else if (typeof value === 'bigint') this.#addWide(group, value);
    else return;
    this.#counts[group]!++;
  }
}
