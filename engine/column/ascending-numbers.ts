/** Doubles that are known to ascend, equal ones beside each other. None is NULL. */
export class AscendingNumbers {
  readonly kind = 'number';
  readonly form = 'ascending numbers';
  readonly nulls = undefined;
  readonly count: number;
  readonly values: Float64Array;

  constructor(values: Float64Array) {
    this.values = values;
    this.count = values.length;
  }
}
