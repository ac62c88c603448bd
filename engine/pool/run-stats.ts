import { must } from '../assert.ts';
import { addScanCounters, newScanCounters } from '../operator/scan.ts';
import { combineProfiles } from '../plan/plan-profile.ts';
import type { Waited } from './job.ts';
import { type TaskStats, taskStatsOf } from './task.ts';

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

/** Of a query in fragments, which ran side by side: it took as long as its longest, and the finish. */
export function statsOfAll(fragments: readonly TaskStats[], finish: TaskStats): TaskStats {
  const counters = newScanCounters();
  for (const stats of [...fragments, finish]) addScanCounters(counters, stats);
  const runMs = finish.runMs + Math.max(0, ...fragments.map((stats) => stats.runMs));
  const { profile } = finish;
  if (profile === undefined) return taskStatsOf(counters, runMs);
  const profiles = fragments.map((stats) => must(stats.profile, 'each fragment is profiled'));
  return taskStatsOf(counters, runMs, combineProfiles(profiles, profile));
}
