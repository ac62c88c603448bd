/**
 * The work of this thread's functions, counted in steps: a value or a character looked at or made, some
 * nanoseconds each. State of the module: a function of values knows no context; so what it spends is counted here, and
 * whoever runs it says what is to happen when much of it was spent.
 */
const meter: { stepsLeft: number; pause: () => number } = {
  stepsLeft: Number.POSITIVE_INFINITY,
  pause: () => Number.POSITIVE_INFINITY,
};

/** Counts work, before it is done where that is known; throws what the `pause` of whoever meters it throws. */
export function spendSteps(count: number): void {
  meter.stepsLeft -= count;
  if (meter.stepsLeft < 0) meter.stepsLeft = meter.pause();
}

/**
 * Runs `work`, and calls `checkpoint` each time that it has spent `steps`. What is metered within is
 * not counted.
 */
export function pausingEvery<T>(steps: number, checkpoint: () => void, work: () => T): T {
  return metered(
    steps,
    () => {
      checkpoint();
      return steps;
    },
    work,
  );
}

/** Thrown through work that has spent its budget; not an error of the query. */
class BudgetSpent extends Error {}

/** Steps that all that is run within it may spend together. */
export class WorkBudget {
  #stepsLeft: number;

  constructor(steps: number) {
    this.#stepsLeft = steps;
  }

  /** What `work` gives; `undefined` when its steps are too many, or nothing is left. Throws what it throws. */
  run<T>(work: () => T): T | undefined {
    if (this.#stepsLeft < 0) return undefined;
    const refuse = (): never => {
      throw new BudgetSpent('the budget of this work is spent');
    };
    try {
      return metered(this.#stepsLeft, refuse, () => {
        try {
          return work();
        } finally {
          this.#stepsLeft = meter.stepsLeft;
        }
      });
    } catch (error) {
      if (error instanceof BudgetSpent) return undefined;
      throw error;
    }
  }
}

function metered<T>(steps: number, next: () => number, work: () => T): T {
  const { stepsLeft, pause } = meter;
  meter.stepsLeft = steps;
  meter.pause = next;
  try {
    return work();
  } finally {
    meter.stepsLeft = stepsLeft;
    meter.pause = pause;
  }
}

/** The steps it takes to look at a value or to make it. */
export function stepsOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length + 1 : 1;
}
