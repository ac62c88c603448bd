import { must } from '../../../engine/assert.ts';
import type { HttpAnswer } from '../../support/http-client.ts';
import { lokiPushBytes } from '../../support/loki-push.ts';
import type { ServiceUnderTest } from '../../support/service-under-test.ts';

/** A receiver with one of its formats, and a body of two events that it accepts. */
export type Receiver = {
  readonly path: string;
  readonly type: string;
  /**
   * The letter `Q` occurs only in texts, in keys and values, of each event. Tests replace it by
   * other bytes; in syslog, whose frames have lengths, by as many.
   */
  readonly body: string | Buffer;
  /** Whether each line of the body is an independent text. */
  readonly isLines?: true;
  /** Makes a body of the protocol from `body`, whose texts it encodes. */
  readonly enclose?: (body: Uint8Array) => Uint8Array;
  /** Whether the body is JSON values one after another; this one has a value in each line. */
  readonly isStream?: true;
  /** Headers beside the type. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** A syslog message for a frame with a length prefix. */
const FRAMED = '<13>1 2026-01-15T11:55:00+00:00 host app - - - Qa';

/** A delivery of Firehose with a record for each line. */
export function firehoseDelivery(lines: Uint8Array): Buffer {
  const records: { readonly data: string }[] = [];
  const bytes = Buffer.from(lines);
  for (let start = 0; start < bytes.length; ) {
    const lineFeed = bytes.indexOf('\n', start);
    const end = lineFeed < 0 ? bytes.length : lineFeed;
    records.push({ data: bytes.toString('base64', start, end) });
    start = end + 1;
  }
  return Buffer.from(JSON.stringify({ requestId: 'r', timestamp: 1, records }));
}

/**
 * The receivers that take two events in one body. A new one is also listed in `bench/workload/hostile-posts.ts`, READERS of
 * `test/ingest/decoding-thread.test.ts` and, if its success is not 200, SUCCESSES of `test/crash/receiver-cells.ts`: tests fail
 * without it. `strangers`, `malformed`, `timestamps` and `too-old` beside this file, and `fuzz` and `large-events` of
 * `test/ingest/wire`, have lists of their own and do not notice a missing one.
 */
export const RECEIVERS: readonly Receiver[] = [
  {
    path: '/logs',
    type: 'application/json',
    body: '[{"message":"Qa","Qk":[1,{}]},{"message":"Qb"}]',
  },
  {
    path: '/api/logs',
    type: 'application/json',
    body: '{"batch":[{"message":"Qa","metadata":{"Qk":1}},{"message":"Qb"}]}',
  },
  {
    path: '/api/events',
    type: 'application/x-ndjson',
    body: '{"message":"Qa","n":[1,{"Qk":2}]}\n{"message":"Qb"}\n',
    isLines: true,
  },
  {
    path: '/v1/logs',
    type: 'application/json',
    body: '{"resourceLogs":[{"resource":{},"scopeLogs":[{"logRecords":[{"body":{"stringValue":"Qa"}},{"body":{"intValue":"5"},"attributes":[{"key":"Qk","value":{"stringValue":"b"}}]}]}]}]}',
  },
  // Two records in a scope in a resource, with the bodies "Qa" and "Qb".
  {
    path: '/v1/logs',
    type: 'application/x-protobuf',
    body: Buffer.from('0a12121012062a040a02516112062a040a025162', 'hex'),
  },
  {
    path: '/loki/api/v1/push',
    type: 'application/json',
    body: '{"streams":[{"stream":{"Qk":"Qv"},"values":[["1768478100000000000","Qa"],["1768478100000000001","b"]]}]}',
  },
  {
    path: '/firehose',
    type: 'application/json',
    body: '{"messageType":"DATA_MESSAGE","owner":"1","logEvents":[{"id":"1","timestamp":1768478100000,"message":"Qa"}]}\nQb',
    enclose: firehoseDelivery,
  },
  {
    path: '/gelf',
    type: 'application/x-ndjson',
    body: '{"version":"1.1","host":"h","short_message":"Qa","timestamp":1768478100.5}\n{"short_message":"b","_Qk":1}\n',
    isLines: true,
  },
  {
    path: '/upload',
    type: 'application/vnd.fdo.journal',
    body: '__REALTIME_TIMESTAMP=1768478100000000\nMESSAGE=Qa\n\nMESSAGE\n\x02\0\0\0\0\0\0\0Qb\n\n',
  },
  {
    path: '/loki/api/v1/push',
    type: 'application/x-protobuf',
    // Without it, a body is Snappy.
    headers: { 'Content-Encoding': 'identity' },
    body: Buffer.from(
      lokiPushBytes([
        {
          labels: '{Qk="Qv"}',
          lines: [
            { seconds: 1_768_478_100n, line: 'Qa' },
            { seconds: 1_768_478_101n, line: 'b' },
          ],
        },
      ]),
    ),
  },
  {
    path: '/_bulk',
    type: 'application/x-ndjson',
    body: '{"index":{"_index":"postgres.logs"}}\n{"message":"Qa"}\n{"create":{}}\n{"message":"b","Qk":"Qv"}\n',
    isLines: true,
  },
  {
    path: '/logs/json',
    type: 'application/json',
    body: '[{"message":"Qa","n":[1,{}]},{"message":"b","Qk":1}]',
  },
  {
    path: '/logs/vector',
    type: 'application/x-ndjson',
    body: '{"message":"Qa","n":[1,{}]}\n{"message":"b","Qk":1}\n',
    isLines: true,
  },
  {
    path: '/logs/elixir/logger',
    type: 'application/json',
    body: '{"batch":[{"message":"Qa","metadata":{"level":"info"}},{"message":"b","metadata":{"Qk":1}}]}',
  },
  {
    path: '/logs/typecasts',
    type: 'application/json',
    body: '{"batch":[{"body":{"n":"1","metadata":{"Qk":2}},"typecasts":[{"path":["n"],"from":"string","to":"float"}]},{"message":"Qb"}]}',
  },
  {
    path: '/logs/cloud-event',
    type: 'application/cloudevents-batch+json',
    body: '[{"id":"1","type":"t","data":{"message":"Qa"}},{"id":"2","type":"t","Qk":"b"}]',
  },
  {
    path: '/logs/cloudflare',
    type: 'application/x-ndjson',
    body: '{"ClientRequestMethod":"GET","Timestamp":1768478100,"ClientRequestURI":"/Qa"}\n{"Outcome":"ok","Qk":1}\n',
    isLines: true,
  },
  {
    path: '/logs/syslog',
    type: 'text/plain',
    body: `${FRAMED.length} ${FRAMED}\n<13>Jan 15 11:55:00 host app: Qb\n`,
  },
  {
    path: '/services/collector/event',
    type: 'application/json',
    body: '{"event":"Qa","time":1768478100,"host":"h"}\n{"event":{"message":"b"},"fields":{"Qk":"Qv"}}',
    isStream: true,
  },
  { path: '/services/collector/raw', type: 'text/plain', body: 'Qa\nQb\n' },
  {
    path: '/api/v2/logs',
    type: 'application/json',
    body: '[{"message":"Qa","ddtags":"env:Qv","n":[1,{}]},{"message":"b","Qk":1}]',
  },
  { path: '/v1/input', type: 'text/plain', body: '{"message":"Qa","n":[1]}\nQb\n' },
];

/** The current value of a metric, summed over all sources. */
export async function countOf(service: ServiceUnderTest, name: string): Promise<number> {
  const { text } = await service.ask('GET', '/metrics');
  return sumIn(text, name);
}

/** The numbers of events stored and refused so far. */
export async function eventCounts(
  service: ServiceUnderTest,
): Promise<{ readonly stored: number; readonly refused: number }> {
  const { text } = await service.ask('GET', '/metrics');
  return {
    stored: sumIn(text, 'weir_ingested_events_total'),
    refused: sumIn(text, 'weir_refused_events_total'),
  };
}

function sumIn(metrics: string, name: string): number {
  let sum = 0;
  for (const [, value] of metrics.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))) {
    sum += Number(must(value, 'the pattern has a group'));
  }
  return sum;
}

/**
 * The warnings of an answer, except about events without a project, which most tests' events lack.
 */
export function warningsOf({ headers }: HttpAnswer): string | undefined {
  const text = String(headers['weir-warnings'] ?? '');
  const rest = text.replace(/(?:^|; )\d+ events? names? no project: .*$/, '');
  return rest === '' ? undefined : rest;
}

/** Posts a body to a receiver. */
export function postTo(
  service: ServiceUnderTest,
  { path, type, headers, enclose }: Receiver,
  body: string | Uint8Array,
): Promise<HttpAnswer> {
  const whole = enclose?.(Buffer.from(body)) ?? body;
  return service.ask('POST', `${path}?source_name=gotrue.logs.prod`, whole, {
    'Content-Type': type,
    ...headers,
  });
}
