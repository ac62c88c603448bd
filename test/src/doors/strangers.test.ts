import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ServiceUnderTest } from '../../support/service-under-test.ts';
import { countOf, postTo } from './receivers.ts';

/** Bodies for receivers: an empty one, and JSON that no receiver expects. */
const STRANGERS = ['', '{}', '{"hello":1}', '[]', '42', '"x"'] as const;

type Row = {
  readonly path: string;
  readonly type: string;
  /** A valid body without events, which succeeds and stores nothing. */
  readonly empty?: string;
  /** The status for each of STRANGERS and, for a success, how many events are stored. */
  readonly answers: readonly (number | readonly [status: number, stored: number])[];
  /** What the 400 for `{"hello":1}` asks for. */
  readonly wants?: RegExp;
};

const LINES = {
  type: 'application/x-ndjson',
  empty: '\n\n',
  // No line means no event. Any object is an event, whatever its keys. Other values are refused as
  // events.
  answers: [[200, 0], [200, 1], [200, 1], 406, 406, 406],
} as const;

const BATCH = {
  type: 'application/json',
  empty: '{"batch":[]}',
  // Events are only under "batch", so without it there is nothing to store.
  answers: [400, 400, 400, 400, 400, 400],
  wants: /the body must have \\?"batch\\?"; got \\?"hello\\?"/,
} as const;

const ROWS: readonly Row[] = [
  {
    path: '/logs',
    type: 'application/json',
    empty: '{"batch":[]}',
    // Any object is an event, whatever its keys.
    answers: [400, [200, 1], [200, 1], [200, 0], 406, 406],
  },
  { path: '/logs', ...LINES },
  {
    path: '/v1/logs',
    type: 'application/json',
    empty: '{"resourceLogs":[]}',
    // In this protocol an empty request is a success.
    answers: [400, [200, 0], 400, 400, 400, 400],
    wants: /a request to store logs must have \\"resourceLogs\\"; got \\"hello\\"/,
  },
  {
    path: '/v1/logs',
    type: 'application/x-protobuf',
    empty: '',
    // An empty protobuf request has no bytes. JSON is not protobuf.
    answers: [[200, 0], 400, 400, 400, 400, 400],
    wants: /the body is not an ExportLogsServiceRequest/,
  },
  {
    path: '/v1/traces',
    type: 'application/json',
    empty: '{"resourceSpans":[]}',
    // No body of this path is stored.
    answers: [400, [200, 0], 400, 400, 400, 400],
    wants: /an ExportTraceServiceRequest must have \\"resourceSpans\\"; got \\"hello\\"/,
  },
  {
    path: '/v1/metrics',
    type: 'application/x-protobuf',
    empty: '',
    answers: [[200, 0], 400, 400, 400, 400, 400],
    wants: /the body is not an ExportMetricsServiceRequest/,
  },
  {
    path: '/loki/api/v1/push',
    type: 'application/json',
    empty: '{"streams":[]}',
    answers: [400, 400, 400, 400, 400, 400],
    wants: /a push of Loki must have \\"streams\\"; got \\"hello\\"/,
  },
  {
    path: '/firehose',
    type: 'application/json',
    empty: '{"records":[]}',
    answers: [400, 400, 400, 400, 400, 400],
    wants: /a delivery of Firehose must have \\"records\\"; got \\"hello\\"/,
  },
  {
    path: '/gelf',
    type: 'application/json',
    empty: '\n\n',
    // No line means no message. Values other than objects are refused as events.
    answers: [[202, 0], 400, 400, 406, 406, 406],
    wants: /a message of GELF must have \\"short_message\\"/,
  },
  {
    path: '/upload',
    type: 'application/vnd.fdo.journal',
    empty: '\n',
    // What systemd-journal-upload sends when there is no entry.
    answers: [[202, 0], 400, 400, 400, 400, 400],
    wants: /expected the name of a field at byte 1/,
  },
  {
    path: '/_bulk',
    type: 'application/x-ndjson',
    // Like Elasticsearch, it refuses a bulk request without an action, so there is no empty one.
    answers: [400, 400, 400, 400, 400, 400],
    wants: /expected an object; got \\"1\\"/,
  },
  {
    path: '/logs-2026/_doc',
    type: 'application/json',
    // Any object is the event, whatever its keys.
    answers: [400, [201, 1], [201, 1], 400, 400, 400],
  },
  {
    path: '/logs/json',
    type: 'application/json',
    empty: '[]',
    // Any object is an event, whatever its keys.
    answers: [400, [200, 1], [200, 1], [200, 0], 406, 406],
  },
  { path: '/logs/vector', ...LINES },
  { path: '/logs/elixir/logger', ...BATCH },
  { path: '/logs/typecasts', ...BATCH },
  {
    path: '/logs/cloud-event',
    type: 'application/cloudevents-batch+json',
    empty: '[]',
    answers: [400, 400, 400, [200, 0], 400, 400],
    wants: /expected a list; got/,
  },
  {
    path: '/logs/cloud-event',
    type: 'application/cloudevents+json',
    // An event may have any attributes, and all of them are stored.
    answers: [400, [200, 1], [200, 1], 406, 406, 406],
  },
  {
    path: '/logs/cloud-event',
    type: 'application/json',
    // The attributes are in headers, and the body is the data of one event of any form.
    answers: [400, [200, 1], [200, 1], [200, 1], [200, 1], [200, 1]],
  },
  { path: '/logs/cloudflare', ...LINES },
  {
    path: '/logs/syslog',
    type: 'text/plain',
    empty: '\n',
    // Any text is a message.
    answers: [
      [200, 0],
      [200, 1],
      [200, 1],
      [200, 1],
      [200, 1],
      [200, 1],
    ],
  },
  {
    path: '/services/collector/event',
    type: 'application/json',
    // As Splunk does, it refuses a body without an event, so there is no empty one.
    answers: [400, 400, 400, 400, 400, 400],
    wants: /Event field is required: an event must have \\"event\\"; got none/,
  },
  {
    path: '/services/collector/raw',
    type: 'text/plain',
    // Any text but an empty one is a message.
    answers: [400, [200, 1], [200, 1], [200, 1], [200, 1], [200, 1]],
  },
  {
    path: '/api/v2/logs',
    type: 'application/json',
    empty: '[]',
    // The agent posts `{}` to see whether it may send. Any other object is a log.
    answers: [400, [202, 0], [202, 1], [202, 0], 400, 400],
  },
  {
    path: '/v1/input',
    type: 'text/plain',
    empty: '\n',
    // Any text is a message.
    answers: [
      [200, 0],
      [200, 1],
      [200, 1],
      [200, 1],
      [200, 1],
      [200, 1],
    ],
  },
];

let service: ServiceUnderTest;
before(async () => {
  service = await ServiceUnderTest.start();
});
after(() => service.stop());

test('OTLP ignores unknown names beside known ones, and refuses a body with unknown names only', async () => {
  const row = { path: '/v1/logs', type: 'application/json', answers: [] };
  const beside = await outcome(row, '{"hello":1,"resourceLogs":[]}');
  assert.deepEqual(beside.slice(0, 2), [200, 0]);
  const alone = await outcome(row, '{"logs":[{"body":"order made"}]}');
  assert.deepEqual(alone.slice(0, 2), [400, 0]);
  assert.match(alone[2], /a request to store logs must have .*resourceLogs.*; got .*logs/);
});

/** The status of an answer, and how many events were stored. */
async function outcome(row: Row, body: string): Promise<readonly [number, number, string]> {
  const before = await countOf(service, 'weir_ingested_events_total');
  const { status, text } = await postTo(service, { ...row, body }, body);
  const stored = (await countOf(service, 'weir_ingested_events_total')) - before;
  return [status, stored, text];
}

for (const row of ROWS) {
  test(`${row.path} (${row.type}) succeeds only for what it understands`, async () => {
    if (row.empty !== undefined) {
      const [status, stored] = await outcome(row, row.empty);
      assert.deepEqual([Math.trunc(status / 100), stored], [2, 0], row.empty);
    }
    for (const [index, body] of STRANGERS.entries()) {
      const [status, stored, text] = await outcome(row, body);
      const wanted = row.answers[index]!;
      const pair = typeof wanted === 'number' ? [wanted, 0] : wanted;
      assert.deepEqual([status, stored], pair, `${body}: ${text}`);
      if (body === '{"hello":1}' && row.wants !== undefined) assert.match(text, row.wants);
      if (status >= 400) assert.match(text, /expected|must|is not/, `${body}: ${text}`);
    }
  });
}

test('an object of another format is refused at any depth', async () => {
  const bodies = [
    ['/loki/api/v1/push', { streams: [{ labels: '{a="b"}', entries: [{ line: 'x' }] }] }],
    ['/v1/logs', { resourceSpans: [] }],
    ['/v1/logs', { resource_logs: [] }],
    ['/v1/logs', { resourceLogs: [{ scopeSpans: [] }] }],
    ['/v1/logs', { resourceLogs: [{ scopeLogs: [{ spans: [] }] }] }],
  ] as const;
  for (const [path, body] of bodies) {
    const row = { path, type: 'application/json', answers: [] };
    const [status, , text] = await outcome(row, JSON.stringify(body));
    assert.equal(status, 400, path);
    assert.match(text, /must have .*; got /);
  }
  const known = { resourceLogs: [{ schemaUrl: 'u', scopeLogs: [{ schemaUrl: 'u' }] }], more: 1 };
  const row = { path: '/v1/logs', type: 'application/json', answers: [] };
  assert.deepEqual((await outcome(row, JSON.stringify(known))).slice(0, 2), [200, 0]);
});
