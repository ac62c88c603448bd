import { type EngineStats, WORK_KINDS } from '../../engine/index.ts';
import type { Reading, StatsMetric } from './read-metric.ts';

const WORK_HELP =
  'threads by kind of work: call; seal; merge; partial states of segments, made in advance; renewal of a kept answer';

const WORK_STATES = ['waiting', 'running', 'parked'] as const;

/** Metrics of the worker threads: queries and sealing. */
export const ENGINE_METRICS: readonly StatsMetric<EngineStats>[] = [
  {
    name: 'weir_workers',
    help: 'Tasks that may run at once, of all kinds of work: WORKERS, or as many as there is memory for',
    read: (s) => s.workers,
  },
  {
    name: 'weir_workers_alive',
    help: 'Worker threads, including those of parked tasks',
    read: (s) => s.workersAlive,
  },
  {
    name: 'weir_workers_lost_total',
    help: 'Threads that died from lack of memory or a bug. Each is replaced',
    read: (s) => s.workersLost,
  },
  {
    name: 'weir_workers_ended_total',
    help: 'Threads that were ended because a task did not stop in time. Each is replaced',
    read: (s) => s.workersEnded,
  },
  {
    name: 'weir_queries_total',
    help: 'Runs of queries by result: ok, or the code of the error',
    labels: ['code'],
    read: (s) => [
      { labels: { code: 'ok' }, value: s.queriesSucceeded },
      ...byLabel('code', s.queriesFailed),
    ],
  },
  {
    name: 'weir_queries_ended_total',
    help: 'Runs stopped by ending their thread, by the code of the error',
    labels: ['code'],
    read: (s) => byLabel('code', s.queriesEnded),
  },
  {
    name: 'weir_queries_waiting',
    help: 'Runs that wait for a thread',
    read: (s) => s.queriesWaiting,
  },
  {
    name: 'weir_queries_waiting_max',
    help: 'The maximum number of runs that have waited at once since the start',
    read: (s) => s.queriesWaitingMax,
  },
  {
    name: 'weir_work_tasks',
    help: `Tasks of ${WORK_HELP}. By state: waiting for a thread, running, or parked, which pauses for others and keeps the thread and its memory`,
    labels: ['kind', 'state'],
    read: (s) =>
      WORK_KINDS.flatMap((kind) =>
        WORK_STATES.map((state) => ({ labels: { kind, state }, value: s.work[kind][state] })),
      ),
  },
  {
    name: 'weir_work_wait_seconds_total',
    help: 'Time that tasks have waited for a thread or were parked, by kind of work',
    labels: ['kind'],
    read: (s) => byKind(s, ({ waitMs }) => waitMs / 1e3),
  },
  {
    name: 'weir_work_run_seconds_total',
    help: 'Time that threads have run tasks, by kind of work; without short runs on the main thread',
    labels: ['kind'],
    read: (s) => byKind(s, ({ runMs }) => runMs / 1e3),
  },
  {
    name: 'weir_query_seconds_total',
    help: 'Seconds of successful runs by phase: plan (on the main thread), queue (waiting for a thread), run (on a worker)',
    labels: ['phase'],
    read: (s) => [
      { labels: { phase: 'plan' }, value: s.planMs / 1e3 },
      { labels: { phase: 'queue' }, value: s.queueMs / 1e3 },
      { labels: { phase: 'run' }, value: s.runMs / 1e3 },
    ],
  },
  {
    name: 'weir_rows_scanned_total',
    help: 'Events read by answered runs',
    read: (s) => s.scans.rowsScanned,
  },
  {
    name: 'weir_rows_skipped_total',
    help: 'Events that answered runs skipped because they cannot contain the searched text',
    read: (s) => s.scans.rowsSkipped,
  },
  {
    name: 'weir_rows_remembered_total',
    help: 'Events that did not have to be read, because a cached partial state covers them',
    read: (s) => s.scans.rowsFromMemo,
  },
  {
    name: 'weir_memo_bytes_max',
    help: 'Maximum bytes of cached partial states of sealed segments: MEMO_LIMIT',
    read: (s) => s.memo.bytesMax,
  },
  {
    name: 'weir_memo_entries',
    help: 'Cached partial states, including notes that caching is not worthwhile',
    read: (s) => s.memo.entries,
  },
  {
    name: 'weir_memo_hits_total',
    help: 'Segments of runs with a cached partial state',
    read: (s) => s.memo.hits,
  },
  {
    name: 'weir_memo_misses_total',
    help: 'Segments of runs without a cached partial state',
    read: (s) => s.memo.misses,
  },
  {
    name: 'weir_memo_failures_total',
    help: 'Segments whose partial states could not be made in advance; queries read their rows',
    read: (s) => s.statesFailed,
  },
  {
    name: 'weir_segments_scanned_total',
    help: 'Segments read by answered runs; a segment counts once per run',
    read: (s) => s.scans.segmentsScanned,
  },
  {
    name: 'weir_segments_skipped_total',
    help: 'Segments that a run skipped, because they contain no wanted rows',
    read: (s) => s.scans.segmentsSkipped,
  },
  {
    name: 'weir_seals_total',
    help: 'Sealings by result: ok or failed. Failed ones are tried again',
    labels: ['result'],
    read: (s) => [
      { labels: { result: 'ok' }, value: s.sealsSucceeded },
      { labels: { result: 'failed' }, value: s.sealsFailed },
    ],
  },
];

function byKind(
  { work }: EngineStats,
  of: (stats: EngineStats['work']['call']) => number,
): readonly Reading[] {
  return WORK_KINDS.map((kind) => ({ labels: { kind }, value: of(work[kind]) }));
}

function byLabel(label: string, counts: ReadonlyMap<string, number>): readonly Reading[] {
  return Array.from(counts, ([key, value]) => ({ labels: { [label]: key }, value }));
}
