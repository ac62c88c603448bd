import type { Project } from '../../src/demo/traffic/log-event.ts';
import { Random } from '../../src/demo/traffic/random.ts';

/** The first of 2,000 projects has 17 % of all events, the middle one 0.01 %, the last 0.004 %. */
const EXPONENT = 1.1;

/** The projects are the same ones for every kind of events. */
const SEED = 2026;

const FUNCTIONS_PER_PROJECT = 4;

/** Steps in which a chance is looked up before the exact place is searched. */
const GUIDE_SIZE = 4096;

/** The hosted projects, by Zipf's law: the first has most events. */
export class Tenants {
  readonly projects: readonly Project[];
  /** The share of all events up to each rank, itself included. */
  readonly #shares: Float64Array;
  /** The first rank that a chance in each step can fall on. */
  readonly #guide = new Uint16Array(GUIDE_SIZE);

  /** Gets no events; -1: all get some. */
  readonly #silentRank: number;

  constructor(projectCount: number, options: { readonly silentRank?: number | undefined } = {}) {
    this.#silentRank = options.silentRank ?? -1;
    const random = new Random(SEED);
    const letter = () => String.fromCharCode(97 + random.below(26));
    this.projects = Array.from({ length: projectCount }, () => ({
      ref: Array.from({ length: 20 }, letter).join(''),
      functions: Array.from({ length: FUNCTIONS_PER_PROJECT }, () => random.uuid()),
    }));
    const weights = this.projects.map((_, rank) => (rank + 1) ** -EXPONENT);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    let share = 0;
    this.#shares = Float64Array.from(weights, (weight) => {
      share += weight / total;
      return share;
    });
    for (let step = 0, rank = 0; step < GUIDE_SIZE; step++) {
      while (rank + 1 < projectCount && this.#shares[rank]! <= step / GUIDE_SIZE) rank++;
      this.#guide[step] = rank;
    }
  }

  /** The rank of a project, where `chance` is uniform in [0, 1). */
  rank(chance: number): number {
    let rank = this.#guide[Math.floor(chance * GUIDE_SIZE)]!;
    while (this.#shares[rank]! <= chance && rank + 1 < this.#shares.length) rank++;
    if (rank === this.#silentRank) return rank > 0 ? rank - 1 : rank + 1;
    return rank;
  }

  get hot(): Project {
    return this.projects[0]!;
  }

  get median(): Project {
    return this.projects[Math.floor(this.projects.length / 2)]!;
  }

  get tiny(): Project {
    return this.projects.at(-1)!;
  }
}
