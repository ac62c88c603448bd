import { isNested, type SqlValue } from './value.ts';
import { type Vector, valueAt } from './vector.ts';

/** The most different values of one field that are held while they are counted. */
const VALUES_MAX = 16_384;

/** The most frequent values that are told. */
const TOP_COUNT = 10;

/** Values that come once or twice in a sample are rare. */
const RARE_COUNT_MAX = 2;

export type TopValue = {
  readonly value: string | number | bigint | boolean;
  readonly count: number;
};

/** The values of one field in some rows, and what they say of all rows. */
export class FieldValues {
  readonly #rowCount: number;
  readonly #sampledCount: number;
  /** As keys of a Map, 5, '5' and 5n are three. */
  readonly #counts = new Map<TopValue['value'], number>();
  /** Whether there were more different values than are kept. */
  #isCut = false;

  /** `sampledCount`: so many of the rows will be added. */
  constructor(rowCount: number, sampledCount: number) {
    this.#rowCount = rowCount;
    this.#sampledCount = sampledCount;
  }

  /** Adds what some of the rows have at its path. */
  add(values: Vector): void {
    if (values.kind === 'constant') {
      this.#addValue(values.value, values.count);
    } else if (values.kind === 'dictionary') {
      const { codes, count, dictionary } = values;
      this.#addCodes(codes, { start: 0, count, size: dictionary.size }, (code) =>
        dictionary.value(code),
      );
    } else if (values.form === 'packed numbers') {
      const { codes, start, count, coding } = values;
      this.#addCodes(codes, { start, count, size: coding.codeMax + 1 }, (code) =>
        coding.value(code),
      );
    } else {
      for (let index = 0; index < values.count; index++) this.#addValue(valueAt(values, index), 1);
    }
  }

  result() {
    const isWhole = this.#sampledCount === this.#rowCount && !this.#isCut;
    const scale = this.#sampledCount === 0 ? 0 : this.#rowCount / this.#sampledCount;
    return {
      distinctCount: isWhole ? this.#counts.size : this.#estimateDistinct(scale),
      isDistinctExact: isWhole,
      top: this.#top().map(({ value, count }) => ({
        value,
        count: isWhole ? count : Math.round(count * scale),
      })),
      isTopExact: isWhole,
    };
  }

  /** Without sorting all: mostly there are few or very many. */
  #top(): readonly TopValue[] {
    const top: TopValue[] = [];
    for (const [value, count] of this.#counts) {
      const last = top[TOP_COUNT - 1];
      if (last !== undefined && compare(last, { value, count }) < 0) continue;
      const place = top.findIndex((other) => compare({ value, count }, other) < 0);
      top.splice(place < 0 ? top.length : place, 0, { value, count });
      if (top.length > TOP_COUNT) top.pop();
    }
    return top;
  }

  /**
   * The values that come more often in the sample, as they are, and an estimate of the rare ones: from how many of these come
   * once, as PostgreSQL's ANALYZE does of all (Haas and Stokes, "Estimating the number of classes in a finite population",
   * 1998). Of all together that is far too few where some values are in most rows and the others are unique; to take the
   * rare ones apart is due to Chao and Lee, "Estimating the number of classes via sample coverage" (1992).
   */
  #estimateDistinct(scale: number): number {
    let rareCount = 0;
    let onceCount = 0;
    for (const count of this.#counts.values()) {
      rareCount += Number(count <= RARE_COUNT_MAX);
      onceCount += Number(count === 1);
    }
    if (rareCount === 0) return this.#counts.size;
    const sampled = onceCount + RARE_COUNT_MAX * (rareCount - onceCount);
    const all = sampled * scale;
    const estimate = (sampled * rareCount) / (sampled - onceCount + (onceCount * sampled) / all);
    const rare = Math.min(Math.max(estimate, rareCount), all);
    return Math.round(this.#counts.size - rareCount + rare);
  }

  /** Each code once, where values are fewer than rows. */
  #addCodes(
    codes: ArrayLike<number>,
    {
      start,
      count,
      size,
    }: { readonly start: number; readonly count: number; readonly size: number },
    value: (code: number) => SqlValue,
  ): void {
    if (size > count) {
      for (let index = start; index < start + count; index++) {
        if (codes[index]! >= 0) this.#addValue(value(codes[index]!), 1);
      }
      return;
    }
    const counts = new Uint32Array(size);
    for (let index = start; index < start + count; index++) {
      if (codes[index]! >= 0) counts[codes[index]!]! += 1;
    }
    for (let code = 0; code < size; code++) {
      if (counts[code]! > 0) this.#addValue(value(code), counts[code]!);
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
    const known = this.#counts.get(value);
    if (known !== undefined) this.#counts.set(value, known + count);
    else if (this.#counts.size < VALUES_MAX) this.#counts.set(value, count);
    else this.#isCut = true;
  }
}

/** Most frequent first, those as frequent by their kinds and texts. */
function compare(left: TopValue, right: TopValue): number {
  if (left.count !== right.count) return right.count - left.count;
  const leftKind = typeof left.value;
  const rightKind = typeof right.value;
  if (leftKind !== rightKind) return leftKind < rightKind ? -1 : 1;
  return String(left.value) < String(right.value) ? -1 : 1;
}
