import type { EngineStats } from '../../engine/engine.ts';
import { WORK_KINDS } from '../../engine/pool/work-shares.ts';
import type { Reading, StatsMetric } from './read-metric.ts';

const WORK_HELP =
  'threads by kind of work: call; seal; merge; states of segments, made ahead of calls; renewal of a kept answer';

const WORK_STATES = ['waiting', 'running', 'parked'] as const;

/** Metrics of the worker threads: queries and sealing. */
export const ENGINE_METRICS: readonly StatsMetric<EngineStats>[] = [
  {
    name: 'weir_workers',
    help: 'Tasks that threads may run at a time, of all kinds of work: WORKERS, or as many as there is memory for',
    read: (s) => s.workers,
  },
  {
    name: 'weir_workers_alive',
    help: 'Threads that are there now, those of parked tasks among them',
    read: (s) => s.workersAlive,
  },
  {
    name: 'weir_workers_lost_total',
    help: 'Threads that died: out of memory, or by a mistake of ours. Each is replaced',
    read: (s) => s.workersLost,
  },
  {
    name: 'weir_workers_ended_total',
    help: 'Threads ended by force, for what they ran did not stop in time. Each is replaced',
    read: (s) => s.workersEnded,
  },
  {
    name: 'weir_queries_total',
    help: 'Runs of queries by how they ended: ok, or the code of the error',
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
    help: 'Runs that no thread has taken up yet',
    read: (s) => s.queriesWaiting,
  },
  {
    name: 'weir_queries_waiting_max',
    help: 'The most runs that have waited at once since the start',
    read: (s) => s.queriesWaitingMax,
  },
  {
    name: 'weir_work_tasks',
    help: `Tasks of ${WORK_HELP}. By state: they wait for a thread, run, or are parked: pause for others, and keep their thread and memory`,
    labels: ['kind', 'state'],
    read: (s) =>
      WORK_KINDS.flatMap((kind) =>
        WORK_STATES.map((state) => ({ labels: { kind, state }, value: s.work[kind][state] })),
      ),
  },
  {
    name: 'weir_work_wait_seconds_total',
    help: 'Time that tasks have waited for a thread, or were parked, by kind of work',
    labels: ['kind'],
    read: (s) => byKind(s, ({ waitMs }) => waitMs / 1e3),
  },
  {
    name: 'weir_work_run_seconds_total',
    help: 'Time that threads have run tasks, by kind of work; short runs on the main thread are not among them',
    labels: ['kind'],
    read: (s) => byKind(s, ({ runMs }) => runMs / 1e3),
  },
  {
    name: 'weir_query_seconds_total',
    help: 'Time of the answered runs by phase: plan on the main thread, queue between the threads, run on a worker',
    labels: ['phase'],
    read: (s) => [
      { labels: { phase: 'plan' }, value: s.planMs / 1e3 },
      { labels: { phase: 'queue' }, value: s.queueMs / 1e3 },
      { labels: { phase: 'run' }, value: s.runMs / 1e3 },
    ],
  },
  {
    name: 'weir_rows_scanned_total',
    help: 'Events that the answered runs looked at',
    read: (s) => s.scans.rowsScanned,
  },
  {
    name: 'weir_rows_skipped_total',
    help: 'Events that answered runs skipped because they cannot contain the searched text',
    read: (s) => s.scans.rowsSkipped,
  },
  {
    name: 'weir_rows_remembered_total',
    help: 'Events whose part of an answer was remembered, so that nobody looked at them',
    read: (s) => s.scans.rowsFromMemo,
  },
  {
    name: 'weir_memo_bytes_max',
    help: 'The most that remembered partial states of sealed segments may take: MEMO_LIMIT',
    read: (s) => s.memo.bytesMax,
  },
  {
    name: 'weir_memo_entries',
    help: 'Remembered partial states, and notes that one is not worth it',
    read: (s) => s.memo.entries,
  },
  {
    name: 'weir_memo_hits_total',
    help: 'Segments of runs whose partial state was remembered',
    read: (s) => s.memo.hits,
  },
  {
    name: 'weir_memo_misses_total',
    help: 'Segments of runs of which nothing was remembered',
    read: (s) => s.memo.misses,
  },
  {
    name: 'weir_memo_failures_total',
    help: 'Segments whose partial states could not be made ahead; queries look at their rows',
    read: (s) => s.statesFailed,
  },
  {
    name: 'weir_segments_scanned_total',
    help: 'Segments read by answered runs; a segment counts once per run',
    read: (s) => s.scans.segmentsScanned,
  },
  {
    name: 'weir_segments_skipped_total',
    help: 'Segments handed to runs that could tell that nothing in them was wanted',
    read: (s) => s.scans.segmentsSkipped,
  },
  {
    name: 'weir_seals_total',
    help: 'Sealings by how they ended: ok or failed. What failed is tried again',
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
