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

/**
 * The part of the time of all threads that each kind has at the least while it waits, so that none starves under a
 * lasting load of calls. With two workers sealing has half a thread, and merging a fifth of one: a day's merges
 * take five times as long then, and are done before the next day's. Calls have all that is left.
 */
export const WORK_SHARES: Readonly<MsByKind> = {
  call: 0,
  seal: 1 / 4,
  merge: 1 / 10,
  states: 1 / 20,
  renewal: 1 / 20,
};

/** That of sealing while posts are about to be refused for want of it: half the threads keep up with what one takes in. */
export const URGENT_SEAL_SHARE = 1 / 2;

/**
 * The most that a kind may be owed, in turns: what could not go for long, as no thread was there for it, would hold up
 * calls for as long.
 */
const OWED_TURNS_MAX = 4;

/**
 * Who goes first. Calls go before all others, and each kind before those behind it, but for the shares: a kind that has
 * work is owed its part of the time that threads run, less what it has had. Once that makes a turn it is *due*: it goes before calls, and
 * keeps its thread until it is owed nothing.
 */
export class WorkShares {
  readonly #turnMs: number;
  readonly #isSealUrgent: () => boolean;
  readonly #owedMs = noMsByKind();

  /** `isSealUrgent`: whether posts are about to be refused, as sealing is behind. */
  constructor(turnMs: number, isSealUrgent: () => boolean) {
    this.#turnMs = turnMs;
    this.#isSealUrgent = isSealUrgent;
  }

  /**
   * Takes note of time that has gone by. `ranMs`: how long threads have run on the claim of each kind that has any,
   * since it was last noted.
   */
  note(ranMs: ReadonlyMap<WorkKind, number>, isWaiting: (kind: WorkKind) => boolean): void {
    let totalMs = 0;
    for (const ms of ranMs.values()) totalMs += ms;
    for (const kind of WORK_KINDS) {
      const hadMs = ranMs.get(kind);
      const isHere = hadMs !== undefined || isWaiting(kind);
      const owedMs = isHere ? this.#owedMs[kind] + this.#partOf(kind, totalMs) - (hadMs ?? 0) : 0;
      // What it had while nobody else wanted it is not held against it.
      this.#owedMs[kind] = Math.min(Math.max(owedMs, 0), OWED_TURNS_MAX * this.#turnMs);
    }
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
    if (!WORK_KINDS.some((kind) => this.isDue(kind))) return WORK_KINDS;
    const waitedMs = (kind: WorkKind): number => this.#owedMs[kind] / WORK_SHARES[kind];
    const due = WORK_KINDS.filter((kind) => this.isDue(kind));
    const others = WORK_KINDS.filter((kind) => !this.isDue(kind));
    return [...due.sort((left, right) => waitedMs(right) - waitedMs(left)), ...others];
  }

  #partOf(kind: WorkKind, ms: number): number {
    const isUrgent = ms > 0 && kind === 'seal' && this.#isSealUrgent();
    return ms * (isUrgent ? URGENT_SEAL_SHARE : WORK_SHARES[kind]);
  }
}
