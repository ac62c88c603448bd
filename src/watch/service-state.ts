import type { EndpointCaller } from '../call/endpoint-call.ts';
import type { Clock } from '../clock.ts';
import type { Definitions } from '../definition/definitions.ts';
import type { Followers } from '../follow/followers.ts';
import type { ServiceState } from '../http/service-route.ts';
import { type RequestMemory, readMemoryParts } from '../metrics/memory-parts.ts';
import { Metrics } from '../metrics/metrics.ts';
import type { Readiness } from '../readiness.ts';
import type { Backend } from '../store/backend.ts';
import { packageVersion } from '../version.ts';
import { ServiceHistory } from './service-history.ts';

type Parts = {
  readonly backend: Backend;
  readonly caller: EndpointCaller;
  readonly followers: Followers;
  readonly readiness: Readiness;
  readonly clock: Clock;
  /** What requests under way hold. */
  readonly requests: () => RequestMemory;
};

/** The history of a service that starts now. */
export function beginHistory({ backend, clock }: Pick<Parts, 'backend' | 'clock'>): ServiceHistory {
  const { wallMs, monotonicMs } = clock;
  return new ServiceHistory({
    ...{ wallMs, monotonicMs },
    read: () => {
      const { ingest, memory } = backend.stats();
      const counts = [...ingest.values()];
      const { open, queued, unstored } = memory.held;
      return {
        storedEvents: counts.reduce((sum, { events }) => sum + events, 0),
        storedBytes: counts.reduce((sum, { bytes }) => sum + bytes, 0),
        residentBytes: process.memoryUsage.rss(),
        backlogBytes: open + queued + unstored,
      };
    },
  });
}

/** Reads the state of the service whenever it is asked for. */
export function createStateReader(
  parts: Parts & { readonly history: ServiceHistory },
): () => ServiceState {
  const { backend, caller, followers, readiness, requests, history, clock } = parts;
  const startedMs = clock.wallMs();
  return () => {
    const stats = backend.stats();
    const memoryParts = readMemoryParts({
      ...{ backend: stats, calls: caller.stats(), requests: requests() },
      heapBytes: process.memoryUsage().heapTotal,
    });
    return {
      version: packageVersion(),
      startedMs,
      reasons: readiness.healthReasons,
      sources: stats.sources.map((source) => ({
        ...source,
        found: backend.intake.findSource(source.source),
      })),
      ingest: stats.ingest,
      memory: {
        limitBytes: stats.memory.memoryBytesMax,
        residentBytes: process.memoryUsage.rss(),
        parts: Object.fromEntries(
          memoryParts.map(({ labels, value }) => [labels?.['part'] ?? '', value]),
        ),
      },
      logBytes: stats.log?.byteSize ?? 0,
      followers: followers.count,
      history: history.points(),
      endpoints: history.endpoints(),
    };
  };
}

/** The metrics of the service; `close` ends them. */
export function createMetrics(
  parts: Omit<Parts, 'clock'> & { readonly definitions: Definitions },
): Metrics {
  const { backend, caller, followers, readiness, definitions, requests } = parts;
  return new Metrics({
    version: packageVersion(),
    hasEndpoint: (name) => definitions.catalogue.find(name) !== undefined,
    read: () => ({
      backend: backend.stats(),
      calls: caller.stats(),
      requests: requests(),
      followerCount: followers.count,
      damagedPlaces: readiness.damagedPlaces,
      definitions: definitions.stats(),
    }),
  });
}
