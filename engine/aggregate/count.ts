import { carvedFloat64 } from '../column/carved-arrays.ts';
import { BOOL, INT64 } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { numberVector, type Vector } from '../column/vector.ts';
import type { AggregateFunction, AggregateState } from './aggregate-function.ts';
import type { ChunkRuns } from './chunk-runs.ts';
import { countPresent, countRows, countTrue } from './count-kernels.ts';
import { countRunRows, countRunsPresent, countRunsTrue } from './count-run-kernels.ts';
import { grownFloat64, NO_FLOAT64 } from './growth.ts';

/** COUNT(*) and COUNT(x): rows, and rows where x is not NULL. */
export const COUNT: AggregateFunction = {
  name: 'count',
  doc: [
    'The number of rows, or of rows whose value is not NULL.',
    'COUNT(x) FROM UNNEST([1, NULL, 3]) AS x',
    '2',
  ],
  fails: 'never',
  overloads: [
    { parameters: [], result: INT64, create: () => new CountState(countRows, countRunRows) },
    {
      parameters: ['any'],
      result: INT64,
      create: () =>
        new PresentCountState(
          (counts, groups, count, vectors) => countPresent(counts, groups, count, vectors[0]!),
          countRunsPresent,
        ),
    },
  ],
};

/** COUNTIF(condition): rows where the condition is TRUE. */
export const COUNTIF: AggregateFunction = {
  name: 'countif',
  doc: [
    'The number of rows in which a condition is TRUE.',
    'COUNTIF(x > 1) FROM UNNEST([1, 2, 3]) AS x',
    '2',
  ],
  fails: 'never',
  overloads: [
    {
      parameters: [BOOL],
      result: INT64,
      create: () =>
        new CountState(
          (counts, groups, count, vectors) => countTrue(counts, groups, count, vectors[0]!),
          countRunsTrue,
        ),
    },
  ],
};

type CountKernel = (
  counts: Float64Array,
  groups: Int32Array,
  count: number,
  vectors: readonly Vector[],
) => void;

/** The same for rows in runs; false where there is no quicker way. */
type CountRunsKernel = (
  counts: Float64Array,
  runs: ChunkRuns,
  vectors: readonly Vector[],
) => boolean;

/** One count per group, in doubles: exact to 2^53 rows. The partial is these counts. */
class CountState implements AggregateState {
  readonly isCertain = true;
  readonly #kernel: CountKernel;
  readonly #runsKernel: CountRunsKernel;
  #counts: Float64Array<ArrayBuffer> = NO_FLOAT64;

  constructor(kernel: CountKernel, runsKernel: CountRunsKernel) {
    this.#kernel = kernel;
    this.#runsKernel = runsKernel;
  }

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    this.#counts = grownFloat64(this.#counts, groupCount);
    this.#kernel(this.#counts, groups, count, vectors);
  }

  updateRuns(runs: ChunkRuns, groupCount: number, vectors: readonly Vector[]): boolean {
    this.#counts = grownFloat64(this.#counts, groupCount);
    return this.#runsKernel(this.#counts, runs, vectors);
  }

  /** Adds to the count of one group. */
  protected addTo(group: number, count: number, groupCount: number): void {
    this.#counts = grownFloat64(this.#counts, groupCount);
    this.#counts[group]! += count;
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as Float64Array; // By contract, what partial() of this class gave.
    this.#counts = grownFloat64(this.#counts, groupCount);
    for (let group = 0; group < theirs.length; group++) {
      this.#counts[groups[group]!]! += theirs[group]!;
    }
  }

  partial(groupCount: number): Float64Array {
    return this.#counts.slice(0, groupCount);
  }

  finalize(group: number): SqlValue {
    return this.#counts[group] ?? 0;
  }

  finalizeAll(groups: Int32Array): Vector {
    const answers = carvedFloat64(groups.length);
    for (let index = 0; index < groups.length; index++) {
      answers[index] = this.#counts[groups[index]!] ?? 0;
    }
    return numberVector(answers, groups.length);
  }
}

/** Of COUNT(x) alone, to which all values but NULL are alike. */
class PresentCountState extends CountState {
  addPresent(group: number, count: number, groupCount: number): void {
    this.addTo(group, count, groupCount);
  }
}
