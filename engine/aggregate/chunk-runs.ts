import type { PackedNumbers } from '../column/packed-numbers.ts';
import type { Vector } from '../column/vector.ts';
import { sumCodesOfRuns } from './code-sums.ts';
import { isLatest, type RunTally, tallyRuns } from './run-tally.ts';

/** How many tests of the same integers there were in a chunk of a grouping, at most so far. */
export type KnownTests = { countMax: number };

/**
 * The groups of the rows of one chunk, where these come in runs: rows `[ends[r - 1], ends[r])`, from 0 for
 * the first, are of group `groups[r]`. A group may have several runs.
 */
export class ChunkRuns {
  /** How many rows there are. */
  readonly count: number;
  readonly groups: Int32Array;
  readonly ends: Int32Array;
  #tallied: PackedNumbers | undefined;
  #tally: RunTally | undefined;
  #tested: PackedNumbers | undefined;
  #testCount = 0;
  readonly #knownTests: KnownTests;

  /** `knownTests`: of the grouping; it is written to. */
  constructor(
    groups: Int32Array,
    ends: Int32Array,
    count: number,
    knownTests: KnownTests = { countMax: 0 },
  ) {
    this.groups = groups;
    this.ends = ends;
    this.count = count;
    this.#knownTests = knownTests;
  }

  /**
   * To be told of each test of integers; how many there are of the same ones in a chunk, as far as is known
   * from this one and those before.
   */
  noteTest(numbers: PackedNumbers): number {
    const isNext = this.#tested !== undefined && isSame(this.#tested, numbers);
    this.#testCount = isNext ? this.#testCount + 1 : 1;
    this.#tested = numbers;
    const known = this.#knownTests;
    known.countMax = Math.max(known.countMax, this.#testCount);
    return known.countMax;
  }

  /** Writes the group of each row. */
  spread(groups: Int32Array): void {
    let start = 0;
    for (let run = 0; run < this.ends.length; run++) {
      groups.fill(this.groups[run]!, start, this.ends[run]!);
      start = this.ends[run]!;
    }
  }

  /**
   * What each run's integers come to; `undefined` where a vector has others, or counting them does not pay.
   * Made once for all aggregates over the same integers, one of which mostly follows the other.
   */
  tally(numbers: Vector): RunTally | undefined {
    if (numbers.form !== 'packed numbers') return undefined;
    const isKnown = this.#tallied !== undefined && isSame(this.#tallied, numbers);
    if (isKnown && (this.#tally === undefined || isLatest(this.#tally))) return this.#tally;
    this.#tallied = numbers;
    this.#tally = tallyRuns(numbers, this.ends);
    return this.#tally;
  }

  /** The sum of each run, exact; `undefined` where a vector does not tell it by its codes. */
  sums(vector: Vector): Float64Array | undefined {
    return this.tally(vector)?.sums ?? sumCodesOfRuns(vector, this.ends);
  }
}

/** Whether both are the same entries of the same codes: of one chunk they are as many. */
function isSame(left: PackedNumbers, right: PackedNumbers): boolean {
  return left.codes === right.codes && left.start === right.start && left.coding === right.coding;
}

/** Whether a vector is known to have no NULL by its form alone. */
export function hasNoNull(vector: Vector): boolean {
  if (vector.kind === 'constant') return vector.value !== null;
  return vector.form === 'string range' || (vector.kind === 'number' && vector.nulls === undefined);
}
