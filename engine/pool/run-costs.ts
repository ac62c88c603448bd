import type { CalledPlan } from '../plan/late-texts.ts';

/** Rows from which a run tells what its plan takes for one: fewer tell what it takes to begin. */
export const COST_ROWS_MIN = 1024;

/** What a run took: milliseconds of all threads together, and the rows they looked at. */
type RunTime = {
  readonly busyMs: number;
  readonly rowCount: number;
  /** Whether all of it was run on the main thread. */
  readonly isHere?: boolean;
};

/** What came of the fragments of a run: bytes of their partial states, and the rows they looked at. */
type FragmentStates = { readonly byteSize: number; readonly rowCount: number };

/** The same object for all calls of a plan with the same texts: rows of one project may be many, of another few. */
export function callIdentity({ plan, template }: CalledPlan): object {
  return template === undefined || template.texts.values.size === 0 ? plan : template.texts;
}

/** What costs are known of: a plan, and where it looks for a pattern that a call puts in, the plan with that pattern. */
function costlyPart({ plan, template }: CalledPlan): object {
  return template === undefined || template.texts.patterns.size === 0 ? plan : template.texts;
}

type Cost = {
  msPerRow: number | undefined;
  /** On the main thread, where the code for it may not be compiled yet. */
  msPerRowHere: number | undefined;
  /** Of whole runs of all calls. */
  wholeMs: number | undefined;
  stateBytesPerRow: number | undefined;
  runCount: number;
};

/** How far a cost follows one that is higher. */
const RISE = 1 / 64;

/** After so many runs the states of a plan are looked at again: what it groups may have changed. */
const STATES_KNOWN_RUNS = 64;

/**
 * What runs of a plan have taken lately, so that it is known where the next is best run. A matter of speed only.
 * Plans that calls share are the same object each time; others are met once and nothing is known of them. What a pattern
 * costs says nothing of the next.
 */
export class RunCosts {
  readonly #costs = new WeakMap<object, Cost>();
  /** Milliseconds of whole runs, by the identity of the call. */
  readonly #wholeMs = new WeakMap<object, number>();
  /** Likewise how many of the next runs are not to be divided: a project has many groups where others have few. */
  readonly #wholeRunsLeft = new WeakMap<object, number>();

  /** `isWhole`: nothing of it was remembered from other runs. */
  note(call: CalledPlan, { busyMs, rowCount, isHere }: RunTime, isWhole: boolean): void {
    const cost = this.#costOf(call);
    if (++cost.runCount % STATES_KNOWN_RUNS === 0) cost.stateBytesPerRow = undefined;
    if (rowCount >= COST_ROWS_MIN) {
      cost.msPerRow = followed(cost.msPerRow, busyMs / rowCount);
      if (isHere === true) cost.msPerRowHere = followed(cost.msPerRowHere, busyMs / rowCount);
    }
    if (!isWhole) return;
    cost.wholeMs = followed(cost.wholeMs, busyMs);
    const identity = callIdentity(call);
    this.#wholeMs.set(identity, followed(this.#wholeMs.get(identity), busyMs));
    const runsLeft = this.#wholeRunsLeft.get(identity) ?? 0;
    if (runsLeft > 0) this.#wholeRunsLeft.set(identity, runsLeft - 1);
  }

  noteStates(call: CalledPlan, { byteSize, rowCount }: FragmentStates): void {
    if (rowCount > 0) this.#costOf(call).stateBytesPerRow = byteSize / rowCount;
  }

  /** That the partial states were too large, or of too many groups: the call is run as a whole for some time. */
  noteOversized(call: CalledPlan): void {
    this.#wholeRunsLeft.set(callIdentity(call), STATES_KNOWN_RUNS);
  }

  /** Whether they were. */
  isOversized(call: CalledPlan): boolean {
    return (this.#wholeRunsLeft.get(callIdentity(call)) ?? 0) > 0;
  }

  /** How many rows take so long; 0 where it is not known. */
  rowsWithin(call: CalledPlan, ms: number): number {
    return rowsIn(ms, this.#costs.get(costlyPart(call))?.msPerRow);
  }

  /** How many rows take so long on the main thread; 0 where it is not known. */
  rowsWithinHere(call: CalledPlan, ms: number): number {
    return rowsIn(ms, this.#costs.get(costlyPart(call))?.msPerRowHere);
  }

  /** Milliseconds of a run without remembered partial states; `undefined` if not known. */
  wholeMs(call: CalledPlan): number | undefined {
    return this.#wholeMs.get(callIdentity(call));
  }

  /**
   * Milliseconds of such a run of a call with few rows. For a new call it is what other calls of its plan take: a plan
   * that takes little for one project takes little for each project with few rows.
   */
  wholeMsOfFew(call: CalledPlan): number | undefined {
    return this.wholeMs(call) ?? this.#costs.get(costlyPart(call))?.wholeMs;
  }

  /** The bytes of partial states that fragments make of a row; `undefined` where it is not known. */
  stateBytesPerRow(call: CalledPlan): number | undefined {
    return this.#costs.get(costlyPart(call))?.stateBytesPerRow;
  }

  #costOf(call: CalledPlan): Cost {
    const part = costlyPart(call);
    let cost = this.#costs.get(part);
    if (cost === undefined) {
      cost = {
        msPerRow: undefined,
        msPerRowHere: undefined,
        wholeMs: undefined,
        stateBytesPerRow: undefined,
        runCount: 0,
      };
      this.#costs.set(part, cost);
    }
    return cost;
  }
}

function rowsIn(ms: number, msPerRow: number | undefined): number {
  return msPerRow === undefined ? 0 : Math.floor(ms / msPerRow);
}

/** A lower cost is believed at once: a higher one may be that of waiting for a processor. */
function followed(known: number | undefined, measured: number): number {
  if (known === undefined || measured < known) return measured;
  return known + RISE * (measured - known);
}
