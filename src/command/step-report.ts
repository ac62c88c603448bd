import type { Outcome } from './carry-out.ts';
import type { SideChange, SideComparison } from './side-comparison.ts';

/**
 * Reports the synchronisation of one side with the other: to a person during the work, or to a
 * program at the end.
 */
export interface StepReport {
  /** Reports entries of the source side that are not understood. Nothing is changed then. */
  notUnderstood(problems: readonly string[]): void;
  /** Reports the planned changes before any is made. */
  compared(comparison: SideComparison): void;
  /** Reports that no change is made: it was not confirmed, or there is none. */
  notBegun(): void;
  /** Reports that a change was made. */
  made(change: SideChange): void;
  /** Reports the result of all changes. */
  ended(outcome: Outcome): void;
}

/** What a change does to its definition, as a word. */
export function toAction({ before, after }: SideChange): 'make' | 'change' | 'remove' {
  if (before === undefined) return 'make';
  return after === undefined ? 'remove' : 'change';
}
