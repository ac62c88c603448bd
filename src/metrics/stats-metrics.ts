import type { Registry } from 'prom-client';
import type { LogStats } from '../../ingest/log/write-ahead-log.ts';
import type { SourceStats } from '../../ingest/log-store.ts';
import type { MemoryStats } from '../../ingest/memory-budget.ts';
import type { CallStats } from '../call/result-cache.ts';
import type { DefinitionStats } from '../definition/definitions.ts';
import {
  type BackendStats,
  DAMAGE_KINDS,
  type DamageKind,
  type ShippingStats,
} from '../store/backend.ts';
import type { IngestCount } from '../store/ingest-counts.ts';
import { ENGINE_METRICS } from './engine-metrics.ts';
import type { Delays } from './event-loop-delay.ts';
import { type RequestMemory, readMemoryParts } from './memory-parts.ts';
import { addReadMetric, type Reading, type StatsMetric } from './read-metric.ts';

/** The numbers of one scrape. */
export type Snapshot = {
  readonly backend: BackendStats;
  readonly calls: CallStats;
  /** Bytes held by requests in progress; zero if absent. */
  readonly requests?: RequestMemory;
  /** The number of followers now. */
  readonly followerCount?: number;
  /** Places of damage found so far, by kind; absent if nothing looks for damage. */
  readonly damagedPlaces?: ReadonlyMap<DamageKind, number>;
  /**
   * Definitions in force, by origin, and problems of their files; absent if definitions cannot
   * change.
   */
  readonly definitions?: DefinitionStats;
  readonly delays: Delays;
};

/**
 * Adds the metrics that are read from other parts. `snapshot` returns the numbers of the running
 * scrape.
 */
export function addStatsMetrics(registry: Registry, snapshot: () => Snapshot): void {
  const add = <T>(entries: readonly StatsMetric<T>[], of: (all: Snapshot) => T): void => {
    for (const { read, ...entry } of entries) {
      addReadMetric(registry, { ...entry, read: () => read(of(snapshot())) });
    }
  };
  add(ENGINE_METRICS, ({ backend }) => backend.engine);
  add(CALLS, ({ calls }) => calls);
  add(SOURCES, ({ backend }) => backend.sources);
  add(INGEST, ({ backend }) => backend);
  add(MEMORY_PARTS, (all) => all);
  add(MEMORY, ({ backend }) => backend.memory);
  add(LOG, ({ backend }) => backend.log);
  add(SHIPPING, ({ backend }) => backend.shipping);
  add(FOLLOWERS, ({ followerCount }) => followerCount);
  add(DAMAGE, ({ damagedPlaces }) => damagedPlaces);
  add(DEFINITIONS, ({ definitions }) => definitions);
  add(PROCESS, ({ delays }) => delays);
}

const CALLS: readonly StatsMetric<CallStats>[] = [
  {
    name: 'weir_runs_under_way',
    help: 'Runs that calls or renewals wait for, or that are still being stopped',
    read: (s) => s.runsUnderWay,
  },
  { name: 'weir_cache_answers', help: 'Answers kept', read: (s) => s.cache.entryCount },
  {
    name: 'weir_cache_lookups_total',
    help: 'Calls of cacheable endpoints: hit; miss, which began a run; collapsed, which waited for another call’s run',
    labels: ['result'],
    read: ({ cache }) => [
      { labels: { result: 'hit' }, value: cache.hitCount },
      { labels: { result: 'miss' }, value: cache.missCount },
      { labels: { result: 'collapsed' }, value: cache.collapsedCount },
    ],
  },
  {
    name: 'weir_cache_renewals_total',
    help: 'Renewals of kept answers, by result',
    labels: ['result'],
    read: ({ cache }) => [
      { labels: { result: 'ok' }, value: cache.renewalCount },
      { labels: { result: 'failed' }, value: cache.renewalFailureCount },
    ],
  },
  {
    name: 'weir_cache_evictions_total',
    help: 'Cached answers evicted before they expired, to free memory',
    read: (s) => s.cache.evictionCount,
  },
];

const KINDS = ['open', 'frozen', 'sealed'] as const;

const SOURCES: readonly StatsMetric<readonly SourceStats[]>[] = [
  {
    name: 'weir_source_events',
    help: 'Events that queries see',
    labels: ['source'],
    read: (all) => all.map(({ source, rowCount: value }) => ({ labels: { source }, value })),
  },
  {
    name: 'weir_source_segments',
    help: 'Segments by kind: open takes events, frozen waits to be sealed, sealed never changes',
    labels: ['source', 'kind'],
    read: (all) => bySegmentKind(all, ({ count }) => count),
  },
  {
    name: 'weir_source_segment_bytes',
    help: 'Bytes of segments in memory by kind, without reserved space',
    labels: ['source', 'kind'],
    read: (all) => bySegmentKind(all, ({ byteSize }) => byteSize),
  },
  {
    name: 'weir_source_seal_failures_total',
    help: 'Failed sealings of a source, for any reason',
    labels: ['source'],
    read: (all) =>
      all.map(({ source, sealFailureCount: value }) => ({ labels: { source }, value })),
  },
];

const INGEST: readonly StatsMetric<BackendStats>[] = [
  {
    name: 'weir_ingested_events_total',
    help: 'Events taken in',
    labels: ['source'],
    read: ({ ingest }) => bySource(ingest, ({ events }) => events),
  },
  {
    name: 'weir_ingested_bytes_total',
    help: 'Bytes of accepted bodies after decompression',
    labels: ['source'],
    read: ({ ingest }) => bySource(ingest, ({ bytes }) => bytes),
  },
  {
    name: 'weir_refused_events_total',
    help: 'Events refused individually, in posts answered with 406',
    labels: ['source'],
    read: ({ ingest }) => bySource(ingest, ({ refusals }) => refusals),
  },
  {
    name: 'weir_unreadable_timestamps_total',
    help: 'Events stored with the time of receipt, because their timestamp could not be read',
    labels: ['source'],
    read: ({ ingest }) => bySource(ingest, ({ unreadableTimestamps }) => unreadableTimestamps),
  },
  {
    name: 'weir_repaired_events_total',
    help: 'Events stored with U+FFFD for bytes that were not UTF-8',
    labels: ['source'],
    read: ({ ingest }) => bySource(ingest, ({ repairs }) => repairs),
  },
];

const MEMORY_PARTS: readonly StatsMetric<Snapshot>[] = [
  {
    name: 'weir_memory_bytes',
    help: 'Bytes that the service counts, by use; process_resident_memory_bytes also has garbage, code and memory that the allocator retains',
    labels: ['part'],
    read: ({ backend, calls, requests }) =>
      readMemoryParts({ backend, calls, requests, heapBytes: process.memoryUsage().heapTotal }),
  },
];

const MEMORY: readonly StatsMetric<MemoryStats>[] = [
  {
    name: 'weir_memory_limit_bytes',
    help: 'MEMORY_LIMIT: bytes that the process may use',
    read: (s) => s.memoryBytesMax,
  },
  {
    name: 'weir_memory_segment_limit_bytes',
    help: 'Bytes that sealed segments (blocks and unstored) may use at present: what other uses leave of the limit',
    read: (s) => s.segmentBytesMax,
  },
  {
    name: 'weir_memory_segments',
    help: 'Stored segments that are at least partly in memory',
    read: (s) => s.residentCount,
  },
  {
    name: 'weir_memory_evicted_blocks_total',
    help: 'Blocks of segments evicted from memory, to be read again when needed',
    read: (s) => s.evictedBlocks,
  },
  {
    name: 'weir_memory_evicted_bytes_total',
    help: 'Bytes of the evicted blocks',
    read: (s) => s.evictedBytes,
  },
  {
    name: 'weir_memory_passing_bytes_total',
    help: 'Bytes of segments read for a single query, because there was no room to keep them',
    read: (s) => s.passingBytes,
  },
  {
    name: 'weir_memory_exceeded',
    help: '1 while segments exceed their memory and nothing can be evicted; else 0',
    read: (s) => (s.isExceeded ? 1 : 0),
  },
];

/** Absent until the log has been read. */
const LOG: readonly StatsMetric<LogStats | undefined>[] = [
  { name: 'weir_log_files', help: 'Files of the log on disk', read: (s) => ofLog(s?.fileCount) },
  { name: 'weir_log_bytes', help: 'Bytes of the log on disk', read: (s) => ofLog(s?.byteSize) },
  {
    name: 'weir_log_syncs_total',
    help: 'Syncs of the log, each for one post or several',
    read: (s) => ofLog(s?.syncCount),
  },
  {
    name: 'weir_log_records_total',
    help: 'Posts written to the log',
    read: (s) => ofLog(s?.recordCount),
  },
  {
    name: 'weir_log_waiting_bytes',
    help: 'Bytes that wait to be written to the log, or are being written',
    read: (s) => ofLog(s?.waitingBytes),
  },
  {
    name: 'weir_log_group_seconds',
    help: 'Recent time for a group of posts to become durable in the log',
    read: (s) => ofLog(s && s.groupMs / 1e3),
  },
  {
    name: 'weir_log_refuses',
    help: '1 while the log accepts no posts, because the disk is full or a write failed; else 0',
    read: (s) => ofLog(s && (s.refusal === undefined ? 0 : 1)),
  },
];

/** Absent unless events are kept in ClickHouse, and until the log has been read. */
const SHIPPING: readonly StatsMetric<ShippingStats | undefined>[] = [
  {
    name: 'weir_unsent_events',
    help: 'Events in the log that ClickHouse may not have yet',
    read: (s) => ofLog(s?.events),
  },
  {
    name: 'weir_unsent_bytes',
    help: 'Bytes of these events, about',
    read: (s) => ofLog(s?.bytes),
  },
  {
    name: 'weir_unsent_age_seconds',
    help: 'Age of the oldest of these events; 0 if there is none',
    read: (s) => ofLog(s && s.ageUs / 1e6),
  },
  {
    name: 'weir_sent_events_total',
    help: 'Events that ClickHouse has acknowledged since the start',
    read: (s) => ofLog(s?.rowCount),
  },
  {
    name: 'weir_sent_batches_total',
    help: 'Batches of these events',
    read: (s) => ofLog(s?.batchCount),
  },
  {
    name: 'weir_send_failures_total',
    help: 'Attempts to send events to ClickHouse that failed, and were tried again',
    read: (s) => ofLog(s?.failureCount),
  },
];

/**
 * All kinds, including those not found: a counter that appears with its first damage would show no
 * increase.
 */
const FOLLOWERS: readonly StatsMetric<number | undefined>[] = [
  {
    name: 'weir_followers',
    help: 'Connected followers of a source',
    read: (followerCount) => followerCount ?? 0,
  },
];

const DAMAGE: readonly StatsMetric<Snapshot['damagedPlaces']>[] = [
  {
    name: 'weir_damaged_places_total',
    help: 'Damage found in stored data, at the start and since. log: a place in the log; envelope: one of two of a file, nothing is lost; segment: its events are lost; column: its values are lost',
    labels: ['kind'],
    read: (places) =>
      DAMAGE_KINDS.map((kind) => ({ labels: { kind }, value: places?.get(kind) ?? 0 })),
  },
];

const DEFINITIONS: readonly StatsMetric<Snapshot['definitions']>[] = [
  {
    name: 'weir_definitions',
    help: 'Definitions that may be called, by origin: built-in, folder, api',
    labels: ['origin'],
    read: (stats) =>
      Array.from(stats?.counts ?? [], ([origin, value]) => ({ labels: { origin }, value })),
  },
  {
    name: 'weir_definition_problems',
    help: 'Definition files that are not in force',
    read: (stats) => stats?.problemCount ?? 0,
  },
];

/** Uses the metric names that dashboards for Node know. */
const PROCESS: readonly StatsMetric<Delays>[] = [
  {
    name: 'process_cpu_seconds_total',
    help: 'Processor time of all threads',
    read: () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
  },
  {
    name: 'process_start_time_seconds',
    help: 'Start time of the process, since the epoch',
    read: () => performance.timeOrigin / 1e3,
  },
  {
    name: 'process_resident_memory_bytes',
    help: 'Memory of the process that is in RAM',
    read: () => process.memoryUsage.rss(),
  },
  {
    name: 'nodejs_heap_size_total_bytes',
    help: 'Heap of the main thread, reserved; workers have heaps of their own',
    read: () => process.memoryUsage().heapTotal,
  },
  {
    name: 'nodejs_heap_size_used_bytes',
    help: 'Heap of the main thread, in use',
    read: () => process.memoryUsage().heapUsed,
  },
  {
    name: 'nodejs_external_memory_bytes',
    help: 'Memory outside of the heap that the main thread holds, including array buffers',
    read: () => process.memoryUsage().external,
  },
  {
    name: 'nodejs_array_buffers_bytes',
    help: 'Array buffers of the main thread, including shared ones, which hold the events',
    read: () => process.memoryUsage().arrayBuffers,
  },
  ...(['p50', 'p99', 'max'] as const).map((which) => ({
    name: `nodejs_eventloop_lag_${which}_seconds`,
    help: `Delay of the event loop since the last scrape, ${which}`,
    read: (delays: Delays) => delays[which],
  })),
];

function bySource(
  counts: ReadonlyMap<string, IngestCount>,
  of: (count: IngestCount) => number,
): readonly Reading[] {
  return Array.from(counts, ([source, count]) => ({ labels: { source }, value: of(count) }));
}

function bySegmentKind(
  all: readonly SourceStats[],
  of: (segments: SourceStats['segments']['open']) => number,
): readonly Reading[] {
  return all.flatMap(({ source, segments }) =>
    KINDS.map((kind) => ({ labels: { source, kind }, value: of(segments[kind]) })),
  );
}

function ofLog(value: number | undefined): readonly Reading[] {
  return value === undefined ? [] : [{ value }];
}
