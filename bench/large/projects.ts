import type { Project } from '../../src/demo/traffic/log-event.ts';
import { Random } from '../../src/demo/traffic/random.ts';

const PROJECT_COUNT = 2_000;

/** Rows of each kind that a tiny project has. */
export const TINY_ROWS = 3;

/** The projects are the same ones for every kind of events, and for every number of them. */
const SEED = 3_801;

const REF_LENGTH = 20;
const FUNCTIONS_MAX = 6;

/** The hosted projects by rank, the busiest first, and some that have three rows each. */
export class LargeProjects {
  readonly ranked: readonly Project[];
  readonly tiny: readonly Project[];

  constructor(tinyCount: number) {
    const random = new Random(SEED);
    this.ranked = Array.from({ length: PROJECT_COUNT }, () => makeProject(random));
    this.tiny = Array.from({ length: tinyCount }, () => makeProject(random));
  }

  /** A project by its share of the traffic: the first has 9 % of it, the last 0.007 %. */
  draw(random: Random): Project {
    return this.ranked[random.zipf(this.ranked.length)]!;
  }
}

function makeProject(random: Random): Project {
  const letter = (): string => String.fromCharCode(97 + random.below(26));
  return {
    ref: Array.from({ length: REF_LENGTH }, letter).join(''),
    functions: Array.from({ length: 1 + random.below(FUNCTIONS_MAX) }, () => random.uuid()),
  };
}
