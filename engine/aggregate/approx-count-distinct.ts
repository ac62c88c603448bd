import { ObjectCache } from '../column/caches.ts';
import { INT64 } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { type Dictionary, type Vector, valueAt } from '../column/vector.ts';
import { dynamicKey } from '../function/dynamic.ts';
import { QueryError } from '../query-error.ts';
import type { AggregateFunction, AggregateState } from './aggregate-function.ts';
import { canonicalNumber, DOUBLE, mixBits, WORDS } from './number-index.ts';

/** Hashes that are counted one by one; beyond, registers take over. */
export const SKETCH_EXACT_MAX = 2048;

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
  readonly #hashesOfCodes = new ObjectCache((dictionary: Dictionary) =>
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

/** Bytes of a hash in a set, about. */
const HASH_BYTES = 40;

/** Bits of a hash: as many as a double has. */
const HASH_BITS = 53;

/** 2^14 registers: the standard error is 1.04 / √2^14, 0.8 %. */
const INDEX_BITS = 14;
const REGISTER_COUNT = 2 ** INDEX_BITS;
const RANK_BITS = HASH_BITS - INDEX_BITS;

/** Fit for `postMessage`. */
type SketchPartial = {
  readonly hashes: Float64Array;
  readonly registers: Uint8Array | undefined;
};

/**
 * How many distinct hashes were added: exactly up to SKETCH_EXACT_MAX of them, then by HyperLogLog
 * (Flajolet et al., 2007) with the estimator of Ertl, "New cardinality estimation algorithms for
 * HyperLogLog sketches" (2017), section 4, which needs no tables of corrections. What it holds
 * depends on the set of hashes alone, and not on their order or on how sketches were combined.
 */
class DistinctSketch {
  readonly #hashes = new Set<number>();
  #registers: Uint8Array | undefined;

  /** Bytes it takes, about. */
  get size(): number {
    return this.#registers?.length ?? this.#hashes.size * HASH_BYTES;
  }

  add(hash: number): void {
    if (this.#registers !== undefined) {
      raise(this.#registers, hash);
      return;
    }
    this.#hashes.add(hash);
    if (this.#hashes.size > SKETCH_EXACT_MAX) this.#useRegisters();
  }

  combine({ hashes, registers }: SketchPartial): void {
    for (const hash of hashes) this.add(hash);
    if (registers === undefined) return;
    const own = this.#useRegisters();
    for (let index = 0; index < REGISTER_COUNT; index++) {
      if (registers[index]! > own[index]!) own[index] = registers[index]!;
    }
  }

  partial(): SketchPartial {
    return { hashes: Float64Array.from(this.#hashes), registers: this.#registers };
  }

  count(): number {
    return this.#registers === undefined
      ? this.#hashes.size
      : Math.round(estimate(this.#registers));
  }

  #useRegisters(): Uint8Array {
    if (this.#registers === undefined) {
      this.#registers = new Uint8Array(REGISTER_COUNT);
      for (const hash of this.#hashes) raise(this.#registers, hash);
      this.#hashes.clear();
    }
    return this.#registers;
  }
}

/** The upper bits of the hash choose a register; it holds the greatest rank of the lower ones. */
function raise(registers: Uint8Array, hash: number): void {
  const index = Math.floor(hash / 2 ** RANK_BITS);
  const high = Math.floor(hash / 2 ** 32) & (2 ** (RANK_BITS - 32) - 1);
  // The rank is the position of the first bit that is set, from 1; RANK_BITS + 1 when none is.
  const rank =
    high === 0
      ? RANK_BITS - 32 + Math.clz32(hash >>> 0) + 1
      : Math.clz32(high) - (64 - RANK_BITS) + 1;
  if (rank > registers[index]!) registers[index] = rank;
}

function estimate(registers: Uint8Array): number {
  const counts = new Float64Array(RANK_BITS + 2);
  for (const rank of registers) counts[rank]!++;
  let z = REGISTER_COUNT * tau(1 - counts[RANK_BITS + 1]! / REGISTER_COUNT);
  for (let rank = RANK_BITS; rank >= 1; rank--) z = (z + counts[rank]!) / 2;
  z += REGISTER_COUNT * sigma(counts[0]! / REGISTER_COUNT);
  return (REGISTER_COUNT * REGISTER_COUNT) / (2 * Math.LN2 * z);
}

/** x + Σ x^(2^k) · 2^(k−1), k from 1: for registers that are still empty. */
function sigma(x: number): number {
  if (x === 1) return Number.POSITIVE_INFINITY;
  let power = x;
  let sum = x;
  for (let weight = 1, last = -1; sum !== last; weight *= 2) {
    power *= power;
    last = sum;
    sum += power * weight;
  }
  return sum;
}

/** (1 − x − Σ (1 − x^(2^−k))² · 2^−k) / 3, k from 1: for registers that are full. */
function tau(x: number): number {
  if (x === 0 || x === 1) return 0;
  let root = x;
  let sum = 1 - x;
  for (let weight = 0.5, last = -1; sum !== last; weight /= 2) {
    root = Math.sqrt(root);
    last = sum;
    sum -= (1 - root) ** 2 * weight;
  }
  return sum / 3;
}

/**
 * A hash of a value that is not NULL, an integer in [0, 2^HASH_BITS): the same for values that are
 * equal as keys of groups, whatever their form. It is the same in every thread and every run.
 */
function hashOfValue(value: SqlValue): number {
  const canonical = typeof value === 'number' ? canonicalNumber(value + 0) : value;
  if (typeof canonical === 'number') return hashOfNumber(canonical);
  return hashOfText(dynamicKey(canonical));
}

function hashOfNumber(value: number): number {
  DOUBLE[0] = Number.isNaN(value) ? Number.NaN : value;
  let first = FIRST_START;
  let second = SECOND_START;
  for (const word of WORDS) {
    first = Math.imul(first ^ word, FIRST_FACTOR);
    first ^= first >>> 15;
    second = Math.imul(second ^ word, SECOND_FACTOR);
    second ^= second >>> 13;
  }
  return finished(first, second);
}

function hashOfText(text: string): number {
  let first = FIRST_START;
  let second = SECOND_START;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    first = Math.imul(first ^ unit, FIRST_FACTOR);
    second = Math.imul(second ^ unit, SECOND_FACTOR);
  }
  return finished(first, second);
}

/** Two hashes side by side, and their factors, as in cyrb53 (bryc, public domain). */
const FIRST_START = 0xdeadbeef | 0;
const SECOND_START = 0x41c6ce57;
const FIRST_FACTOR = 2654435761;
const SECOND_FACTOR = 1597334677;

/** Mixes the two as MurmurHash3 ends, so that every bit depends on all of the value. */
function finished(first: number, second: number): number {
  const high = mixBits(first) ^ mixBits(Math.imul(second, 0x85ebca6b));
  const low = mixBits(second ^ Math.imul(first, 0xc2b2ae35));
  return (high >>> (64 - HASH_BITS)) * 2 ** 32 + (low >>> 0);
}
