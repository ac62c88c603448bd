import {
  otlpDataPointsJson,
  otlpDataPointsProtobuf,
  otlpSpansJson,
  otlpSpansProtobuf,
} from '../../ingest/wire/otlp-counts.ts';
import type { Connection, TransportRequest, TransportResponse } from '../http/transport.ts';
import type { OtherSignal } from '../metrics/metrics.ts';
import type { Door } from './door.ts';
import {
  JSON_TYPE,
  OTLP_FAILURES,
  otlpAnswers,
  otlpBodyText,
  PROTOBUF,
  tellSuccess,
} from './otlp-door.ts';

const SIGNALS = {
  traces: {
    summary: 'Count OpenTelemetry spans, which are not stored',
    formats: { json: otlpSpansJson, protobuf: otlpSpansProtobuf },
    message: 'An ExportTraceServiceRequest',
    example: { resourceSpans: [{ scopeSpans: [{ spans: [{ name: 'order' }] }] }] },
    rejected: 'rejectedSpans',
    reason: 'weir stores logs only, and discards spans; send them to another store',
  },
  metrics: {
    summary: 'Count OpenTelemetry data points, which are not stored',
    formats: { json: otlpDataPointsJson, protobuf: otlpDataPointsProtobuf },
    message: 'An ExportMetricsServiceRequest',
    example: {
      resourceMetrics: [
        {
          scopeMetrics: [
            { metrics: [{ name: 'orders', gauge: { dataPoints: [{ asInt: '7' }] } }] },
          ],
        },
      ],
    },
    rejected: 'rejectedDataPoints',
    reason: 'weir stores logs only, and discards data points; send them to another store',
  },
} as const satisfies Readonly<Record<OtherSignal, object>>;

/**
 * Traces and metrics of OpenTelemetry's protocol, from senders that use one address for all signals. weir
 * discards them. On each connection, the first answer to a post with some says so. Later answers are empty, because
 * exporters write each partial success to their logs. `onDiscarded` gets the number of spans or data points.
 */
export function otlpOtherDoor(
  signal: OtherSignal,
  onDiscarded: (count: number) => void,
): Door<readonly number[], TransportRequest, TransportResponse> {
  const { summary, formats, message, example, rejected, reason } = SIGNALS[signal];
  const told = new WeakSet<Connection>();
  return {
    summary,
    formats: new Map([
      [PROTOBUF, formats.protobuf],
      [JSON_TYPE, formats.json],
    ]),
    bodyText: otlpBodyText(message, example),
    answers: otlpAnswers('Discarded; `partialSuccess` says so once for each connection'),
    sourceElse: 'default',
    tell: (request, response, { notes: [count = 0] }) => {
      onDiscarded(count);
      const { socket } = request;
      const isTold = told.has(socket);
      if (count > 0) told.add(socket);
      tellSuccess(request, response, {
        name: rejected,
        count: isTold ? 0 : count,
        message: reason,
      });
    },
    ...OTLP_FAILURES,
  };
}
