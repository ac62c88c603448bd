import type { GrpcMethod } from '../grpc/grpc-listener.ts';
import type { TransportRequest, TransportResponse } from '../http/transport.ts';
import { type Metrics, OTHER_SIGNALS } from '../metrics/metrics.ts';
import type { ServiceHistory } from '../watch/service-history.ts';
import { type Door, type DoorOptions, doorHandler } from './door.ts';
import { DOOR_ACCESS, recordPosts } from './doors.ts';
import { OTLP_DOOR } from './otlp-door.ts';
import { otlpOtherDoor } from './otlp-other-door.ts';

/** The methods of OpenTelemetry's protocol (opentelemetry-proto, `collector/`). */
const PATHS = {
  logs: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
  traces: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  metrics: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
} as const;

/** The receivers of OpenTelemetry's protocol over gRPC, by the paths of their methods: those of HTTP. */
export function otlpGrpcMethods(
  options: DoorOptions & {
    readonly metrics?: Metrics | undefined;
    readonly history: ServiceHistory;
  },
): ReadonlyMap<string, GrpcMethod> {
  const ended = recordPosts(options);
  const method = <Notes>(door: Door<Notes, TransportRequest, TransportResponse>): GrpcMethod => ({
    access: DOOR_ACCESS,
    handle: doorHandler(door, options),
    ended,
  });
  return new Map([
    [PATHS.logs, method(OTLP_DOOR)],
    ...OTHER_SIGNALS.map((signal): [string, GrpcMethod] => {
      const onDiscarded = (count: number): void => options.metrics?.countDiscarded(signal, count);
      return [PATHS[signal], method(otlpOtherDoor(signal, onDiscarded))];
    }),
  ]);
}
