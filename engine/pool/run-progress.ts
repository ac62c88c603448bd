import type { SegmentHandle } from '../column/segment.ts';

/** Rows done, and tasks that threads have begun. */
const ROWS_DONE = 0;
const TASKS_BEGUN = 1;

/** Counters of one run that its threads share with the main thread: rows done, tasks begun. */
export type SharedProgress = BigInt64Array;

/**
 * How far a run is. Its threads count rows as they pass them, looked at or not; whoever asks reads
 * the counters. A run that is begun anew begins at 0.
 */
export class RunProgress {
  readonly shared: SharedProgress = new BigInt64Array(new SharedArrayBuffer(16));
  #rowsTotal = 0;

  /** Called before the tasks of the run are begun, with the segments that they scan. */
  begin(segments: readonly SegmentHandle[]): void {
    Atomics.store(this.shared, ROWS_DONE, 0n);
    Atomics.store(this.shared, TASKS_BEGUN, 0n);
    this.#rowsTotal = segments.reduce((sum, handle) => sum + rowCountOf(handle), 0);
  }

  get rowsTotal(): number {
    return this.#rowsTotal;
  }

  /** Never more than there are: a segment that several scans read counts once for each. */
  get rowsDone(): number {
    return Math.min(Number(Atomics.load(this.shared, ROWS_DONE)), this.#rowsTotal);
  }

  /** Whether a thread has taken it up. */
  get hasBegun(): boolean {
    return Atomics.load(this.shared, TASKS_BEGUN) > 0n;
  }
}

/** Counts a task of the run, on its thread. */
export function noteTask(shared: SharedProgress): void {
  Atomics.add(shared, TASKS_BEGUN, 1n);
}

/** Counts rows of a task, on its thread. */
export function noteRows(shared: SharedProgress, rowCount: number): void {
  Atomics.add(shared, ROWS_DONE, BigInt(rowCount));
}

function rowCountOf(handle: SegmentHandle): number {
  if (handle.kind === 'open') return handle.rowCount;
  return handle.content?.rowCount ?? handle.backing?.rowCount ?? 0;
}
