import type { SourceStats } from '../../ingest/log-store.ts';
import { formatProjectRule, type Source } from '../../ingest/source.ts';
import { COUNT, describeList, describeObject, STRING, TIME } from '../openapi/schemas.ts';
import { HEALTH_CODES, type HealthReason } from '../readiness.ts';
import type { IngestCount } from '../store/ingest-counts.ts';
import type { CallTimes } from '../watch/call-times.ts';
import type { HistoryPoint } from '../watch/service-history.ts';
import { sendJson } from './response.ts';
import type { Access, GuardedOperation, Route } from './route.ts';

const MANAGING: Access = { scope: 'manage', tokenIn: 'headers' };

/** What the service holds, and what it did within the last hour. */
export type ServiceState = {
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly startedMs: number;
  readonly reasons: readonly HealthReason[];
  /** `found`: absent for events whose source is no longer in the settings. */
  readonly sources: readonly (SourceStats & { readonly found: Source | undefined })[];
  readonly ingest: ReadonlyMap<string, IngestCount>;
  readonly memory: {
    readonly limitBytes: number;
    readonly residentBytes: number;
    readonly parts: Readonly<Record<string, number>>;
  };
  readonly logBytes: number;
  readonly followers: number;
  readonly history: readonly HistoryPoint[];
  readonly endpoints: ReadonlyMap<string, CallTimes>;
};

/** Shows how the service is, for people: the metrics have more, for programs. */
export function serviceRoute(read: () => ServiceState): Route {
  const operation: GuardedOperation = {
    summary: 'Get the state of the service',
    description:
      'Returns what it stores, the memory that it uses, and the last hour in steps. Times of calls are exact to some 10 %.',
    tag: 'watching',
    answers: {
      200: { description: 'As it is now', content: { 'application/json': { schema: SCHEMA } } },
    },
    access: MANAGING,
    handle: (_request, response) => sendJson(response, 200, { result: toJson(read()) }),
  };
  return { path: '/api/service', operations: { GET: operation } };
}

function toJson(state: ServiceState): object {
  const { memory, reasons } = state;
  return {
    version: state.version,
    started_at: new Date(state.startedMs).toISOString(),
    status: reasons.length === 0 ? 'ok' : 'degraded',
    reasons,
    sources: state.sources.map((source) => sourceJson(source, state.ingest)),
    memory: {
      limit_bytes: Number.isFinite(memory.limitBytes) ? memory.limitBytes : null,
      resident_bytes: memory.residentBytes,
      parts: memory.parts,
    },
    log_bytes: state.logBytes,
    followers: state.followers,
    history: state.history.map(pointJson),
    endpoints: Array.from(state.endpoints, ([name, times]) => ({ name, ...timesJson(times) })),
  };
}

function sourceJson(
  { source, found, ...stats }: ServiceState['sources'][number],
  ingest: ServiceState['ingest'],
): object {
  const { segments, stored, timestampUsMin, timestampUsMax } = stats;
  const counts = ingest.get(source);
  return {
    name: source,
    project: found === undefined ? null : formatProjectRule(found),
    events: stats.rowCount,
    bytes: stats.byteSize,
    stored_bytes: stored.byteSize,
    segments: segments.open.count + segments.frozen.count + segments.sealed.count,
    oldest: timestampUsMin ?? null,
    newest: timestampUsMax ?? null,
    since_start: {
      events: counts?.events ?? 0,
      bytes: counts?.bytes ?? 0,
      refused: counts?.refusals ?? 0,
      repaired: counts?.repairs ?? 0,
      unreadable_timestamps: counts?.unreadableTimestamps ?? 0,
    },
  };
}

function timesJson(times: CallTimes): object {
  const { calls, failures } = times;
  return {
    calls,
    failed: failures,
    p50_ms: rounded(times.quantileMs(0.5)),
    p95_ms: rounded(times.quantileMs(0.95)),
  };
}

function pointJson(point: HistoryPoint): object {
  return {
    at: new Date(point.atMs).toISOString(),
    seconds: point.stepMs / 1e3,
    events: point.events,
    bytes: point.bytes,
    posts: point.posts,
    refused_posts: point.refusedPosts,
    calls: point.calls,
    failed_calls: point.failedCalls,
    p50_ms: rounded(point.p50Ms),
    p95_ms: rounded(point.p95Ms),
    resident_bytes: point.residentBytes,
    backlog_bytes: point.backlogBytes,
  };
}

/** Three digits: the times are no more exact. */
function rounded(ms: number | undefined): number | null {
  return ms === undefined ? null : Number(ms.toPrecision(3));
}

const MICROSECONDS = {
  type: ['integer', 'null'],
  description: 'Microseconds since the epoch; null if there are no events',
} as const;
const MILLISECONDS = {
  type: ['number', 'null'],
  description: 'null if there were no calls',
} as const;

const TIMES = { calls: COUNT, p50_ms: MILLISECONDS, p95_ms: MILLISECONDS };

const SOURCE = describeObject({
  name: STRING,
  project: { type: ['string', 'null'], description: 'null if no setting names the source' },
  events: COUNT,
  bytes: COUNT,
  stored_bytes: COUNT,
  segments: COUNT,
  oldest: MICROSECONDS,
  newest: MICROSECONDS,
  since_start: describeObject({
    events: COUNT,
    bytes: COUNT,
    refused: COUNT,
    repaired: COUNT,
    unreadable_timestamps: COUNT,
  }),
});

const POINT = describeObject({
  at: TIME,
  seconds: { type: 'number' },
  events: COUNT,
  bytes: COUNT,
  posts: COUNT,
  refused_posts: COUNT,
  failed_calls: COUNT,
  resident_bytes: COUNT,
  backlog_bytes: COUNT,
  ...TIMES,
});

const SCHEMA = describeObject({
  result: describeObject({
    version: STRING,
    started_at: TIME,
    status: { enum: ['ok', 'degraded'] },
    reasons: describeList(describeObject({ code: { enum: HEALTH_CODES }, message: STRING })),
    sources: describeList(SOURCE),
    memory: describeObject({
      limit_bytes: { type: ['integer', 'null'] },
      resident_bytes: COUNT,
      parts: { type: 'object', additionalProperties: COUNT },
    }),
    log_bytes: COUNT,
    followers: COUNT,
    history: describeList(POINT),
    endpoints: describeList(describeObject({ name: STRING, failed: COUNT, ...TIMES })),
  }),
});
