import { isNested, type SqlValue } from './value.ts';
import { type NestedVector, type Vector, valueAt } from './vector.ts';

/** The most different values of one field that are held while they are counted. */
const VALUES_MAX = 16_384;

/** The most frequent values that are told. */
const TOP_COUNT = 10;

export type TopValue = {
  readonly value: string | number | bigint | boolean;
  readonly count: number;
};

/** The values of one field in some rows, and what they say of all rows. */
export class FieldValues {
  readonly #path: readonly string[];
  readonly #rowCount: number;
  readonly #sampledCount: number;
  /** By the kind and text of the value. */
  readonly #counts = new Map<string, { readonly value: TopValue['value']; count: number }>();
  #valueCount = 0;
  /** Whether there were more different values than are kept. */
  #isCut = false;

  /** `sampledCount`: so many of the rows will be added. */
  constructor(path: readonly string[], rowCount: number, sampledCount: number) {
    this.#path = path;
    this.#rowCount = rowCount;
    this.#sampledCount = sampledCount;
  }

  add(roots: NestedVector): void {
    let values: Vector = roots;
    for (const [depth, key] of this.#path.entries()) {
      const records: Vector = depth === 0 ? values : elementsOf(values);
      values = fieldOf(records, key);
    }
    this.#addVector(values);
  }

  result() {
    const isWhole = this.#sampledCount === this.#rowCount && !this.#isCut;
    const scale = this.#sampledCount === 0 ? 0 : this.#rowCount / this.#sampledCount;
    const byCount = [...this.#counts].sort(
      ([leftKey, left], [rightKey, right]) =>
        right.count - left.count || (leftKey < rightKey ? -1 : 1),
    );
    const all = byCount.map(([, each]) => each);
    return {
      distinctCount: isWhole ? all.length : this.#estimateDistinct(scale),
      isDistinctExact: isWhole,
      top: all.slice(0, TOP_COUNT).map(({ value, count }) => ({
        value,
        count: isWhole ? count : Math.round(count * scale),
      })),
      isTopExact: isWhole,
    };
  }

  /**
   * From how many values come once in the sample: Haas and Stokes, "Estimating the number of classes in a finite population"
   * (1998), the estimator that PostgreSQL's ANALYZE takes.
   */
  #estimateDistinct(scale: number): number {
    const sampled = this.#valueCount;
    if (sampled === 0) return 0;
    let onceCount = 0;
    for (const { count } of this.#counts.values()) onceCount += Number(count === 1);
    const distinct = this.#counts.size;
    const all = sampled * scale;
    const estimate = (sampled * distinct) / (sampled - onceCount + (onceCount * sampled) / all);
    return Math.round(Math.min(Math.max(estimate, distinct), all));
  }

  #addVector(vector: Vector): void {
    if (vector.kind === 'constant') {
      this.#addValue(vector.value, vector.count);
    } else if (vector.kind === 'dictionary') {
      const counts = new Map<number, number>();
      for (const code of vector.codes.subarray(0, vector.count)) {
        if (code >= 0) counts.set(code, (counts.get(code) ?? 0) + 1);
      }
      for (const [code, count] of counts) this.#addValue(vector.dictionary.value(code), count);
    } else {
      for (let index = 0; index < vector.count; index++) this.#addValue(valueAt(vector, index), 1);
    }
  }

  #addValue(value: SqlValue, count: number): void {
    if (value === null) return;
    if (isNested(value)) {
      // A list; records in it are fields of their own.
      if (!value.isList) return;
      for (const element of value.elements()) {
        if (!isNested(element)) this.#addValue(element, count);
      }
      return;
    }
    if (typeof value === 'object') return;
    this.#valueCount += count;
    const key = `${typeof value} ${value}`;
    const known = this.#counts.get(key);
    if (known !== undefined) known.count += count;
    else if (this.#counts.size < VALUES_MAX) this.#counts.set(key, { value, count });
    else this.#isCut = true;
  }
}

/** The records of lists, and records as they are. */
function elementsOf(vector: Vector): Vector {
  if (vector.kind === 'nested') return vector.source.unnest(vector).elements;
  const elements: SqlValue[] = [];
  for (let index = 0; index < vector.count; index++) {
    const value = valueAt(vector, index);
    if (isNested(value)) elements.push(...value.elements());
  }
  return { kind: 'value', count: elements.length, values: elements };
}

function fieldOf(records: Vector, key: string): Vector {
  if (records.kind === 'nested') return records.source.field(records, key);
  const values: SqlValue[] = [];
  for (let index = 0; index < records.count; index++) {
    const value = valueAt(records, index);
    values.push(isNested(value) ? value.field(key) : null);
  }
  return { kind: 'value', count: values.length, values };
}
