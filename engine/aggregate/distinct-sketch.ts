import { HASH_BITS } from './value-hash.ts';

/** Hashes that are counted one by one; beyond, registers take over. */
export const SKETCH_EXACT_MAX = 2048;

/** Bytes of a hash in a set, about. */
const HASH_BYTES = 40;

/** 2^14 registers: the standard error is 1.04 / √2^14, 0.8 %. */
const INDEX_BITS = 14;
const REGISTER_COUNT = 2 ** INDEX_BITS;
const RANK_BITS = HASH_BITS - INDEX_BITS;

/** Fit for `postMessage`. */
export type SketchPartial = {
  readonly hashes: Float64Array;
  readonly registers: Uint8Array | undefined;
};

/**
 * How many distinct hashes were added: exactly up to SKETCH_EXACT_MAX of them, then by HyperLogLog
 * (Flajolet et al., 2007) with the estimator of Ertl, "New cardinality estimation algorithms for
 * HyperLogLog sketches" (2017), section 4, which needs no tables of corrections. What it holds
 * depends on the set of hashes alone, and not on their order or on how sketches were combined.
 */
export class DistinctSketch {
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
