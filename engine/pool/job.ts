import type { Tenant } from './tenant-sets.ts';
import type { MsByKind, WorkKind } from './work-shares.ts';

/** Something that takes one thread from `start` until its promise settles. It never rejects. */
export type Job = {
  /** `waited` goes on while the job is parked. */
  readonly start: (waited: Waited) => Promise<void>;
  /** A call where left out. */
  readonly kind?: WorkKind | undefined;
  /** Whose time it takes. */
  readonly tenant?: Tenant | undefined;
  /** There where the job can be parked. */
  readonly parking?: Parking | undefined;
};

/** How long a job has waited for a thread, and what the threads ran meanwhile. */
export type Waited = { ms: number; readonly besideMs: MsByKind };

/** Steers a job that has started and not ended. The methods return at once; the job obeys at its next checkpoint. */
export interface Parking {
  /** The job pauses, and keeps its thread and its memory. */
  park(): void;
  /** The job, which is parked, goes on; it has run for so long in all. */
  resume(ranMs: number): void;
  /** The job ends, parked or not: others need its place. Absent where none of its kind is ended. */
  end?(): void;
}

/**
 * Whose turn it is among those of a kind. `ahead` jobs go first: the last task of a query that has had its turn, whose
 * partial states hold memory.
 */
export type Lane = 'ahead' | 'turn';
