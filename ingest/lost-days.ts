import type { TimeScope } from '../engine/column/snapshot.ts';
import { PARTITION_US } from './partition.ts';

const NONE: readonly number[] = [];

/**
 * Days of one source (UTC, since the epoch) of which rows, or values of rows, were lost to damage: an answer over one
 * of them may lack some. There are at most as many as the retention has days, and in nearly all services none.
 *
 * An answer over such a day is not kept, as a later start may put the file back. Partial states need no such rule: they
 * live no longer than the process.
 *
 * A day counts even where the log has brought its rows back: a file without a readable envelope does not say which rows
 * it had.
 */
export class LostDays {
  readonly #days = new Set<number>();

  add(day: number): void {
    this.#days.add(day);
  }

  /** Those with any time of the scope. */
  within({ timestampUsStart, timestampUsEnd }: TimeScope): readonly number[] {
    if (this.#days.size === 0) return NONE;
    return [...this.#days].filter(
      (day) => day * PARTITION_US < timestampUsEnd && (day + 1) * PARTITION_US > timestampUsStart,
    );
  }

  /** Forgets the days that end before `oldestUs`: the retention has taken them. */
  forgetBefore(oldestUs: number): void {
    for (const day of this.#days) if ((day + 1) * PARTITION_US <= oldestUs) this.#days.delete(day);
  }
}
