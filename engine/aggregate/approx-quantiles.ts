import { carvedFloat64, carvedUint8, grownFloat64, NO_FLOAT64 } from '../column/arrays.ts';
import { NumberLists } from '../column/number-vectors.ts';
import { arrayOf, INT64, type SqlType } from '../column/type.ts';
import { isInterval, type SqlValue } from '../column/value.ts';
import { TRUE, UNKNOWN, type Vector, valueAt } from '../column/vector.ts';
import { orderedKind } from '../function/dynamic.ts';
import { intervalOfSortText, sortTextOf } from '../function/time/interval.ts';
import { EXACT_QUANTILE_VALUES_MAX, QUANTILES_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import type { AggregateFunction, AggregateState } from './aggregate-function.ts';
import type { ChunkRuns } from './chunk-runs.ts';
import { NumberCounts, type NumberCountsPartial } from './number-counts.ts';
import { codeValue, NumberReader } from './number-reader.ts';
import {
  pickQuantiles,
  type SortedCounts,
  ValueCounts,
  type ValueCountsPartial,
  writeQuantiles,
} from './quantile-ranks.ts';

/**
 * APPROX_QUANTILES(x, n): n + 1 values of x, the first its least and the last its greatest; NULL
 * when there is none. NULLs are left out, with RESPECT NULLS they are less than all; NaN is less than
 * all numbers.
 *
 * Element i is the value of rank max(⌈i·N/n⌉, 1) among the N values, exactly, as long as a group has
 * at most EXACT_QUANTILE_VALUES_MAX distinct values; integers in [0, 65,536) are not counted for that and
 * always exact. Exact answers do not depend on how rows are ordered or split.
 *
 * Beyond, the further values of the group go to a digest (`quantile-digest.ts`): elements are still values
 * of x, their rank is off by at most 0.1 % of N, and the same rows in the same order and the same
 * partition give the same answer, but another order may give another within that error. Strings, and
 * integers beyond 2^53, are not digested: more distinct ones in a group are a `query_limit`.
 */
export const APPROX_QUANTILES: AggregateFunction = {
  name: 'approx_quantiles',
  doc: [
    `The bounds of this many parts of equal size: the least value, the values between the parts, and the greatest value. NULLs are ignored unless the call says RESPECT NULLS. Exact up to ${EXACT_QUANTILE_VALUES_MAX} distinct values in a group, with ranks off by 0.1 % at most beyond.`,
    'APPROX_QUANTILES(x, 2) FROM UNNEST([1, 2, 3, 4, 5]) AS x',
    '[1, 3, 5]',
  ],
  modifiers: ['distinct', 'nulls'],
  elementCount: ([count]) => (typeof count === 'number' ? count + 1 : 0),
  overloads: [
    {
      parameters: ['orderable'],
      constants: [INT64],
      result: (types: readonly SqlType[]) => arrayOf(types[0]!),
      create: ([type], [count], { nulls, elements }) =>
        new QuantilesState({
          areIntervals: type?.kind === 'INTERVAL',
          count: quantileCount(count),
          wanted: elements,
          respectsNulls: nulls === 'respect',
        }),
    },
  ],
};

function quantileCount(value: SqlValue | undefined): number {
  if (typeof value === 'number' && value >= 1 && value <= QUANTILES_MAX) return value;
  throw new QueryError(
    'query_failed',
    `the number of quantiles must be from 1 to ${QUANTILES_MAX} (QUANTILES_MAX); ` +
      `got ${value === null ? 'NULL' : String(value)}`,
  );
}

type QuantilesPartial = {
  readonly numbers: NumberCountsPartial;
  readonly strings: ValueCountsPartial<string>;
  /** Counts of FALSE at 2·group, of TRUE at 2·group + 1. */
  readonly truths: Float64Array;
  readonly nulls: Float64Array;
};

/** Groups finished between two pauses: a thousand quantiles of each take some milliseconds. */
const PAUSE_GROUPS = 16;

/** Elements of lists that are made in one array: more take memory that is better looked at in between. */
const LISTED_ELEMENTS_MAX = 1_048_576;

const NOTHING: SortedCounts<SqlValue> = { values: [], counts: [], total: 0 };

/** How often each value came, by group and kind; which kind counts is decided at the end. */
class QuantilesState implements AggregateState {
  readonly #quantileCount: number;
  /** Offsets that are read, ascending, of which alone there are elements; `undefined`: of all. */
  readonly #wanted: readonly number[] | undefined;
  readonly #reader = new NumberReader();
  readonly #numbers = new NumberCounts();
  readonly #strings = new ValueCounts<string>('strings');
  #truths: Float64Array<ArrayBuffer> = NO_FLOAT64;
  /** These are counted as texts that sort as they do. */
  readonly #areIntervals: boolean;
  readonly #respectsNulls: boolean;
  /** Counts of NULLs, where they are respected. */
  #nulls: Float64Array<ArrayBuffer> = NO_FLOAT64;

  constructor(options: {
    readonly count: number;
    readonly wanted: readonly number[] | undefined;
    readonly areIntervals: boolean;
    readonly respectsNulls: boolean;
  }) {
    this.#areIntervals = options.areIntervals;
    this.#quantileCount = options.count;
    this.#wanted = options.wanted;
    this.#respectsNulls = options.respectsNulls;
  }

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    this.#numbers.reserve(groupCount);
    const vector = vectors[0]!;
    if (this.#respectsNulls) this.#addNulls(groups, count, groupCount, vector);
    const numbers = this.#reader.read(vector, count);
    if (numbers !== undefined) {
      const { values, nulls } = numbers;
      this.#numbers.addAll({ groups, count, values, nulls });
    } else if (vector.kind === 'dictionary') {
      const values = this.#reader.codeValues(vector.dictionary);
      for (let row = 0; row < count; row++) {
        const code = vector.codes[row]!;
        if (code >= 0) this.#addValue(groups[row]!, codeValue(values, code));
      }
    } else if (vector.kind === 'boolean') {
      for (let row = 0; row < count; row++) {
        const truth = vector.values[row];
        if (truth !== UNKNOWN) this.#addTruth(groups[row]!, truth === TRUE, 1);
      }
    } else if (vector.kind !== 'nested' || this.#areIntervals) {
      for (let row = 0; row < count; row++) this.#addValue(groups[row]!, valueAt(vector, row));
    }
  }

  updateRuns(runs: ChunkRuns, groupCount: number, vectors: readonly Vector[]): boolean {
    const tally = runs.tally(vectors[0]!);
    if (tally === undefined) return false;
    this.#numbers.reserve(groupCount, tally.ends.at(-1));
    for (let run = 0; run < tally.ends.length; run++) {
      this.#numbers.addTallied(runs.groups[run]!, tally, run);
    }
    return true;
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as QuantilesPartial; // By contract, what partial() of this class gave.
    this.#numbers.reserve(groupCount);
    this.#numbers.combine(theirs.numbers, groups);
    this.#strings.combine(theirs.strings, groups);
    for (let index = 0; index < theirs.truths.length; index++) {
      this.#addTruth(groups[index >> 1]!, (index & 1) === 1, theirs.truths[index]!);
    }
    this.#nulls = grownFloat64(this.#nulls, groupCount);
    for (let index = 0; index < theirs.nulls.length; index++) {
      this.#nulls[groups[index]!]! += theirs.nulls[index]!;
    }
  }

  partial(groupCount: number): QuantilesPartial {
    return {
      numbers: this.#numbers.partial(groupCount),
      strings: this.#strings.partial(),
      truths: this.#truths.slice(0, 2 * groupCount),
      nulls: this.#nulls.slice(0, groupCount),
    };
  }

  finalize(group: number): SqlValue {
    const falses = this.#truths[2 * group] ?? 0;
    const trues = this.#truths[2 * group + 1] ?? 0;
    const nulls = this.#nulls[group] ?? 0;
    const inPlace = nulls === 0 ? this.#numbers.sortedInPlace(group) : undefined;
    const numbers = inPlace ?? this.#numbers.sorted(group);
    const kind = orderedKind({
      number: numbers.total > 0,
      text: this.#strings.has(group),
      BOOL: falses + trues > 0,
    });
    switch (kind) {
      case 'number':
        return this.#pick(numbers, group);
      case 'text':
        return this.#pickTexts(group);
      case 'BOOL': {
        const sorted = { values: [false, true], counts: [falses, trues], total: falses + trues };
        return this.#pick(sorted, group);
      }
      case undefined:
        return nulls === 0 ? null : this.#pick(NOTHING, group);
    }
  }

  /** Where they are lists of doubles, or NULL, though not NULL alone. */
  finalizeAll(groups: Int32Array, pause: () => void): Vector | undefined {
    const areNumbers = this.#numbers.areDoubles && this.#strings.isEmpty;
    if (!areNumbers || this.#truths.length > 0 || this.#respectsNulls) return undefined;
    const ranks = { n: this.#quantileCount, wanted: this.#wanted };
    const length = this.#wanted?.length ?? this.#quantileCount + 1;
    if (groups.length * length > LISTED_ELEMENTS_MAX) return undefined;
    const elements = carvedFloat64(groups.length * length);
    let nulls: Uint8Array | undefined;
    let listCount = 0;
    for (let index = 0; index < groups.length; index++) {
      if (index % PAUSE_GROUPS === 0) pause();
      const group = groups[index]!;
      // Of doubles alone, as was asked above.
      const sorted = (this.#numbers.sortedInPlace(group) ??
        this.#numbers.sorted(group)) as SortedCounts<number>;
      if (sorted.total > 0) {
        writeQuantiles(sorted, ranks, elements, index * length);
        listCount++;
      } else {
        nulls ??= carvedUint8(groups.length);
        nulls[index] = 1;
      }
    }
    if (listCount === 0) return undefined;
    return new NumberLists(elements, { count: groups.length, length }, nulls);
  }

  #pickTexts(group: number): readonly SqlValue[] {
    const texts = this.#pick(this.#strings.sorted(group), group);
    if (!this.#areIntervals) return texts;
    return texts.map((text) => (typeof text === 'string' ? intervalOfSortText(text) : text));
  }

  #pick(sorted: SortedCounts<SqlValue>, group: number): readonly SqlValue[] {
    const nulls = this.#nulls[group] ?? 0;
    const all =
      nulls === 0
        ? sorted
        : {
            values: [null, ...sorted.values],
            counts: [nulls, ...sorted.counts],
            total: nulls + sorted.total,
          };
    return pickQuantiles(all, this.#quantileCount, this.#wanted);
  }

  #addNulls(groups: Int32Array, count: number, groupCount: number, vector: Vector): void {
    this.#nulls = grownFloat64(this.#nulls, groupCount);
    for (let row = 0; row < count; row++) {
      if (valueAt(vector, row) === null) this.#nulls[groups[row]!]!++;
    }
  }

  #addValue(group: number, value: SqlValue): void {
    if (typeof value === 'string') this.#strings.add(group, value, 1);
    else if (typeof value === 'boolean') this.#addTruth(group, value, 1);
    else if (typeof value === 'number' || typeof value === 'bigint') {
      this.#numbers.add(group, value, 1);
    } else if (isInterval(value)) this.#strings.add(group, sortTextOf(value), 1);
  }

  #addTruth(group: number, truth: boolean, count: number): void {
    this.#truths = grownFloat64(this.#truths, 2 * group + 2);
    this.#truths[2 * group + (truth ? 1 : 0)]! += count;
  }
}
