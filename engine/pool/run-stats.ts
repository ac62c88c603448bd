import type { Waited } from './job.ts';
import type { TaskStats } from './task.ts';

/** What a run did, and how long each part of it took. */
export type RunStats = Omit<TaskStats, 'profile'> & {
  /** Milliseconds on the main thread: folding, rewriting, physical plan, snapshot. */
  readonly planMs: number;
  /** Milliseconds between the threads: waiting for a worker, and messages there and back. */
  readonly queueMs: number;
  /** Of these, waiting for a worker, and what the workers ran meanwhile; absent where the run had none. */
  readonly waited?: Waited | undefined;
};

/** Field by field: to leave one out of an object by `...` takes a microsecond. */
export function runStatsOf(
  task: TaskStats,
  main: Pick<RunStats, 'planMs' | 'queueMs' | 'waited'>,
): RunStats {
  return {
    rowsScanned: task.rowsScanned,
    rowsFromMemo: task.rowsFromMemo,
    rowsSkipped: task.rowsSkipped,
    segmentsScanned: task.segmentsScanned,
    segmentsSkipped: task.segmentsSkipped,
    runMs: task.runMs,
    planMs: main.planMs,
    queueMs: main.queueMs,
    waited: main.waited,
  };
}
