import type { Outcome } from './carry-out.ts';
import type { SideChange, SideComparison } from './side-comparison.ts';

/** Tells what comes of bringing one side in step with another: a person as it goes, or a program. */
export interface StepReport {
  /** Sentences about what is not understood where definitions come from; then nothing is changed. */
  notUnderstood(problems: readonly string[]): void;
  /** What there is to be done, before any of it is. */
  compared(comparison: SideComparison): void;
  /** None of it is begun: nobody wants it yet, or there is nothing. */
  notBegun(): void;
  /** A change was made. */
  made(change: SideChange): void;
  /** What came of all changes. */
  ended(outcome: Outcome): void;
}

/** What a change does to its definition. */
export function toAction({ before, after }: SideChange): 'make' | 'change' | 'remove' {
  if (before === undefined) return 'make';
  return after === undefined ? 'remove' : 'change';
}
