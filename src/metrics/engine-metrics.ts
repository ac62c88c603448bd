import type { EngineStats } from '../../engine/engine.ts';
import type { Reading, StatsMetric } from './read-metric.ts';

/** What the worker threads do: queries, and sealing. */
export const ENGINE_METRICS: readonly StatsMetric<EngineStats>[] = [
  {
    name: 'weir_workers',
    help: 'Threads that may run queries, seal and merge at a time; they start when they are needed',
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
    name: 'weir_query_tasks_running',
    help: 'Threads busy with queries',
    read: (s) => s.queryTasksRunning,
  },
  {
    name: 'weir_query_tasks_parked',
    help: 'Tasks of queries that pause for those of other tenants, and keep their thread and memory',
    read: (s) => s.queryTasksParked,
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
    help: 'Events in the window of answered runs that nobody looked at, for they cannot hold a text asked for',
    read: (s) => s.scans.rowsSkipped,
  },
  {
    name: 'weir_rows_remembered_total',
    help: 'Events whose part of an answer was remembered, so that nobody looked at them',
    read: (s) => s.scans.rowsFromMemo,
  },
  {
    name: 'weir_memo_bytes',
    help: 'Memory of remembered partial states of sealed segments',
    read: (s) => s.memo.bytes,
  },
  {
    name: 'weir_memo_bytes_max',
    help: 'The most that they may take: MEMO_LIMIT',
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
    help: 'Segments that the answered runs read, each each time',
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
  {
    name: 'weir_seals_running',
    help: 'Threads busy with sealing or merging',
    read: (s) => s.sealsRunning,
  },
  {
    name: 'weir_seals_waiting',
    help: 'Sealings that wait for a thread',
    read: (s) => s.sealsWaiting,
  },
];

function byLabel(label: string, counts: ReadonlyMap<string, number>): readonly Reading[] {
  return Array.from(counts, ([key, value]) => ({ labels: { [label]: key }, value }));
}
