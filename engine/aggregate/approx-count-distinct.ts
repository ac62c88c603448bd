import { INT64 } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import { valueAt } from '../column/vector.ts';
import { QueryError } from '../query-error.ts';
import type { AggregateFunction, AggregateState } from './aggregate-function.ts';
import { DictionaryMemo } from './dictionary-memo.ts';
import { DistinctSketch, SKETCH_EXACT_MAX, type SketchPartial } from './distinct-sketch.ts';
import { hashOfValue } from './value-hash.ts';

/** Bytes of the sketches of one APPROX_COUNT_DISTINCT: 16,384 groups of many values each. */
const SKETCHES_BYTES_MAX = 256 * 1024 * 1024;

/**
 * APPROX_COUNT_DISTINCT(x): how many distinct values there are; NULL is none. Up to SKETCH_EXACT_MAX
 * of a group it is their number (but for hashes of 53 bits that fall together), beyond it has a
 * standard error of 0.8 %. The same values give the same answer, in any order and division.
 */
export const APPROX_COUNT_DISTINCT: AggregateFunction = {
  name: 'approx_count_distinct',
  doc: [
    `The number of distinct values, without NULL: exact up to ${SKETCH_EXACT_MAX} in a group, with a standard error of 0.8 % beyond.`,
    'APPROX_COUNT_DISTINCT(x) FROM UNNEST([1, 1, 2, NULL]) AS x',
    '2',
  ],
  modifiers: [],
  overloads: [{ parameters: ['orderable'], result: INT64, create: () => new SketchesState() }],
};

type SketchesPartial = {
  readonly groups: readonly number[];
  readonly sketches: readonly SketchPartial[];
};

const UNKNOWN_HASH = -1;

/** A sketch for each group that has a value. */
class SketchesState implements AggregateState {
  readonly #sketches = new Map<number, DistinctSketch>();
  readonly #hashesOfCodes = new DictionaryMemo((dictionary) =>
    new Float64Array(dictionary.size).fill(UNKNOWN_HASH),
  );
  /** Bytes of all sketches. */
  #size = 0;

  update(groups: Int32Array, count: number, _groupCount: number, vectors: readonly Vector[]): void {
    const vector = vectors[0]!;
    if (vector.kind !== 'dictionary') {
      for (let row = 0; row < count; row++) {
        const value = valueAt(vector, row);
        if (value !== null) this.#add(groups[row]!, hashOfValue(value));
      }
      return;
    }
    const { codes, dictionary } = vector;
    const hashes = this.#hashesOfCodes.get(dictionary);
    for (let row = 0; row < count; row++) {
      const code = codes[row]!;
      if (code < 0) continue;
      if (hashes[code] === UNKNOWN_HASH) hashes[code] = hashOfValue(dictionary.value(code));
      this.#add(groups[row]!, hashes[code]!);
    }
  }

  combine(partial: unknown, groups: Int32Array): void {
    const theirs = partial as SketchesPartial; // By contract, what partial() of this class gave.
    for (const [index, sketch] of theirs.sketches.entries()) {
      this.#change(groups[theirs.groups[index]!]!, (own) => own.combine(sketch));
    }
  }

  partial(): SketchesPartial {
    return {
      groups: [...this.#sketches.keys()],
      sketches: Array.from(this.#sketches.values(), (sketch) => sketch.partial()),
    };
  }

  finalize(group: number): SqlValue {
    return this.#sketches.get(group)?.count() ?? 0;
  }

  #add(group: number, hash: number): void {
    this.#change(group, (sketch) => sketch.add(hash));
  }

  #change(group: number, change: (sketch: DistinctSketch) => void): void {
    let sketch = this.#sketches.get(group);
    if (sketch === undefined) {
      sketch = new DistinctSketch();
      this.#sketches.set(group, sketch);
    }
    const before = sketch.size;
    change(sketch);
    this.#size += sketch.size - before;
    if (this.#size > SKETCHES_BYTES_MAX) {
      throw new QueryError(
        'query_limit',
        `APPROX_COUNT_DISTINCT may take ${SKETCHES_BYTES_MAX} bytes (SKETCHES_BYTES_MAX); ` +
          `${this.#sketches.size} groups take more`,
      );
    }
  }
}
