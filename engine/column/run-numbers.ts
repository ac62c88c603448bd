import { carvedFloat64 } from './carved-arrays.ts';

/**
 * Numbers that come in runs: entries `[runEnds[r - 1], runEnds[r])`, from 0 for the first, are
 * `runValues[r]`. None is NULL. `values`, the plain form, is made when somebody reads it.
 */
export class RunNumbers {
  readonly kind = 'number';
  readonly form = 'run numbers';
  readonly nulls = undefined;
  readonly count: number;
  readonly runValues: Float64Array;
  readonly runEnds: Int32Array;
  #values: Float64Array | undefined;

  /** As many values as ends, the last of which is `count`. */
  constructor(runValues: Float64Array, runEnds: Int32Array, count: number) {
    this.runValues = runValues;
    this.runEnds = runEnds;
    this.count = count;
  }

  get values(): Float64Array {
    this.#values ??= this.#spread();
    return this.#values;
  }

  #spread(): Float64Array {
    const values = carvedFloat64(this.count);
    let start = 0;
    for (let run = 0; run < this.runEnds.length; run++) {
      values.fill(this.runValues[run]!, start, this.runEnds[run]!);
      start = this.runEnds[run]!;
    }
    return values;
  }
}
