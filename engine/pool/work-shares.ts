/**
 * What threads do: runs that callers wait for; sealing, with the packing of what was sealed; merging and dividing,
 * likewise; states of segments made ahead of calls; and renewals of kept answers that no caller waits for.
 */
export type WorkKind = 'call' | 'seal' | 'merge' | 'states' | 'renewal';

/** The order in which they go where none is owed a share. */
export const WORK_KINDS: readonly WorkKind[] = ['call', 'seal', 'merge', 'states', 'renewal'];

/** Milliseconds of each kind. */
export type MsByKind = Record<WorkKind, number>;

export function noMsByKind(): MsByKind {
  return { call: 0, seal: 0, merge: 0, states: 0, renewal: 0 };
}

/** Field by field: where an object is spread V8 makes a hidden class each time. */
export function copyMsByKind({ call, seal, merge, states, renewal }: MsByKind): MsByKind {
  return { call, seal, merge, states, renewal };
}

/**
 * The part of the time of all threads that each kind has at the least while it waits, so that none starves under a
 * lasting load of calls. With two workers sealing and merging have half a thread each: to merge what was sealed takes
 * about as long as to seal it. Calls have all that is left.
 */
export const WORK_SHARES: Readonly<MsByKind> = {
  call: 0,
  seal: 1 / 4,
  merge: 1 / 4,
  states: 1 / 20,
  renewal: 1 / 20,
};

/** That of sealing while posts are about to be refused for want of it: half the threads keep up with what one takes in. */
export const URGENT_SEAL_SHARE = 1 / 2;

/**
 * The most that a kind may be owed, in turns. Without this bound a kind that found no thread for a long time would then
 * delay calls for as long.
 */
const OWED_TURNS_MAX = 4;

/** Sealing, which alone lends its claim, behind the kinds that pay it back. */
const PAYING_ORDER: readonly WorkKind[] = WORK_KINDS.toReversed();

/**
 * The order in which kinds of work get threads. Calls come first, then the other kinds in their order. Shares make the
 * exception: a kind that has work is owed its share of the time that threads run, less the time it has had. Once that is a
 * whole turn, the kind is *due*: it goes before calls, and keeps its thread until it is owed nothing. What it has had on the
 * claim of sealing it owes, and pays back to it: else sealing would be due no more, and this kind would go first again.
 */
export class WorkShares {
  readonly #turnMs: number;
  readonly #isSealUrgent: () => boolean;
  readonly #owedMs = noMsByKind();
  #sealShare = WORK_SHARES.seal;
  #isAnyOwed = false;
  #isAnyDue = false;

  /** `isSealUrgent`: whether posts are about to be refused, as sealing is behind. */
  constructor(turnMs: number, isSealUrgent: () => boolean) {
    this.#turnMs = turnMs;
    this.#isSealUrgent = isSealUrgent;
  }

  /**
   * Takes note of time that has gone by. `ranMs`: how long threads have run on the claim of each kind since it was last
   * noted. `borrowedMs`: how long jobs of each kind have run on the claim of sealing. `hasWork`: whether a kind waits, or
   * runs on its claim.
   */
  note(ranMs: MsByKind, borrowedMs: MsByKind, hasWork: (kind: WorkKind) => boolean): void {
    let totalMs = 0;
    for (const kind of WORK_KINDS) totalMs += ranMs[kind];
    if (totalMs > 0) {
      this.#sealShare = this.#isSealUrgent() ? URGENT_SEAL_SHARE : WORK_SHARES.seal;
    }
    this.#isAnyOwed = false;
    this.#isAnyDue = false;
    let paidBackMs = 0;
    for (const kind of PAYING_ORDER) {
      const partMs = totalMs * this.#shareOf(kind);
      paidBackMs += Math.min(partMs, Math.max(-this.#owedMs[kind], 0));
      const creditMs = this.#owedMs[kind] + partMs + (kind === 'seal' ? paidBackMs : 0);
      // What it had while nobody else wanted it is not held against it.
      const leastMs = Math.min(creditMs, 0);
      const leftMs = hasWork(kind) ? creditMs - ranMs[kind] : leastMs;
      const owedMs = Math.min(Math.max(leftMs, leastMs), OWED_TURNS_MAX * this.#turnMs);
      this.#owedMs[kind] = owedMs - borrowedMs[kind];
      this.#isAnyOwed ||= this.#owedMs[kind] !== 0;
      this.#isAnyDue ||= this.isDue(kind);
    }
  }

  /** Whether any kind is owed anything, or owes: else there is nothing to note while none waits. */
  get isAnyOwed(): boolean {
    return this.#isAnyOwed;
  }

  /** Whether it may keep a thread that a kind before it wants. */
  isOwed(kind: WorkKind): boolean {
    return this.#owedMs[kind] > 0;
  }

  /** Whether it goes before all that are not. */
  isDue(kind: WorkKind): boolean {
    return this.#owedMs[kind] >= this.#turnMs;
  }

  /** All kinds, in the order in which they go now: of those that are due the one that has waited longest for its share. */
  order(): readonly WorkKind[] {
    if (!this.#isAnyDue) return WORK_KINDS;
    const waitedMs = (kind: WorkKind): number => this.#owedMs[kind] / this.#shareOf(kind);
    const due = WORK_KINDS.filter((kind) => this.isDue(kind));
    const others = WORK_KINDS.filter((kind) => !this.isDue(kind));
    return [...due.sort((left, right) => waitedMs(right) - waitedMs(left)), ...others];
  }

  #shareOf(kind: WorkKind): number {
    return kind === 'seal' ? this.#sealShare : WORK_SHARES[kind];
  }
}
