import type { TimeScope } from '../engine/columns.ts';
import { PARTITION_US } from './partition.ts';

const NONE: readonly number[] = [];

/**
 * Days (UTC, since the epoch) of one source for which rows or values were lost to damage. An answer over such a day may
 * be incomplete. There are at most as many as the retention has days; nearly all services have none.
 *
 * An answer over such a day is not cached, because a later start may restore the file. Partial states need no such
 * rule: they do not outlive the process.
 *
 * A day counts even if the log has restored its rows, because a file without a readable envelope does not say which
 * rows it had.
 */
export class LostDays {
  readonly #days = new Set<number>();

  add(day: number): void {
    this.#days.add(day);
  }

  /** The lost days that overlap the scope. */
  within({ timestampUsStart, timestampUsEnd }: TimeScope): readonly number[] {
    if (this.#days.size === 0) return NONE;
    return [...this.#days].filter(
      (day) => day * PARTITION_US < timestampUsEnd && (day + 1) * PARTITION_US > timestampUsStart,
    );
  }

  /** Forgets days that end before `oldestUs`: the retention has dropped them. */
  forgetBefore(oldestUs: number): void {
    for (const day of this.#days) if ((day + 1) * PARTITION_US <= oldestUs) this.#days.delete(day);
  }
}
