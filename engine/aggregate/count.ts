import { BOOL, INT64 } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import type { AggregateFunction, AggregateState } from './aggregate-function.ts';
import { countPresent, countRows, countTrue } from './count-kernels.ts';
import { grownFloat64 } from './growth.ts';

/** COUNT(*) and COUNT(x): rows, and rows where x is not NULL. */
export const COUNT: AggregateFunction = {
  name: 'count',
  overloads: [
    { parameters: [], result: INT64, create: () => new CountState(countRows) },
    {
      parameters: ['any'],
      result: INT64,
      create: () =>
        new CountState((counts, groups, count, vectors) =>
          countPresent(counts, groups, count, vectors[0]!),
        ),
    },
  ],
};

/** COUNTIF(condition): rows where the condition is TRUE. */
export const COUNTIF: AggregateFunction = {
  name: 'countif',
  overloads: [
    {
      parameters: [BOOL],
      result: INT64,
      create: () =>
        new CountState((counts, groups, count, vectors) =>
          countTrue(counts, groups, count, vectors[0]!),
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

/** One count per group, in doubles: exact to 2^53 rows. The partial is these counts. */
class CountState implements AggregateState {
  readonly #kernel: CountKernel;
  #counts = new Float64Array(0);

  constructor(kernel: CountKernel) {
    this.#kernel = kernel;
  }

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    this.#counts = grownFloat64(this.#counts, groupCount);
    this.#kernel(this.#counts, groups, count, vectors);
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
}
