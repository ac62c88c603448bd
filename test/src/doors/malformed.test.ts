import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ask, type Stored, withApp } from '../harness.ts';

const BODIES_PER_DOOR = 60;

/** A syslog message for a frame with a length prefix. */
const FRAMED = '<13>1 2026-01-15T11:55:00Z host app - - - a message';

/** A receiver, its content type, and a body of two events. */
const DOORS: readonly (readonly [path: string, type: string, body: string | Buffer])[] = [
  [
    '/v1/logs',
    'application/json',
    '{"resourceLogs":[{"resource":{},"scopeLogs":[{"logRecords":[{"body":{"stringValue":"a"}},{"body":{"intValue":"5"}}]}]}]}',
  ],
  // Two records in a scope in a resource, each with the body "a".
  [
    '/v1/logs',
    'application/x-protobuf',
    Buffer.from('0a10120e12052a030a016112052a030a0161', 'hex'),
  ],
  [
    '/loki/api/v1/push',
    'application/json',
    '{"streams":[{"stream":{"a":"b"},"values":[["1768478100000000000","a"],["1768478100000000001","b"]]}]}',
  ],
  [
    '/firehose',
    'application/json',
    // The records are {"message":"a"} and b.
    '{"requestId":"r","timestamp":1,"records":[{"data":"eyJtZXNzYWdlIjoiYSJ9"},{"data":"Yg=="}]}',
  ],
  ['/gelf', 'application/json', '{"short_message":"a","_k":[1]}\n{"short_message":"b"}\n'],
  [
    '/upload',
    'application/vnd.fdo.journal',
    'MESSAGE=a\nA=1\n\nMESSAGE\n\x01\0\0\0\0\0\0\0b\nA=1\n',
  ],
  [
    '/_bulk',
    'application/x-ndjson',
    '{"index":{"_index":"postgres.logs"}}\n{"message":"a"}\n{"create":{}}\n{"message":"b"}\n',
  ],
  ['/logs/json', 'application/json', '[{"message":"a","n":[1,{}]},{"message":"b"}]'],
  ['/logs/vector', 'application/x-ndjson', '{"message":"a","n":[1,{}]}\n{"message":"b"}\n'],
  [
    '/logs/elixir/logger',
    'application/json',
    '{"batch":[{"message":"a","metadata":{"level":"info"}},{"message":"b"}]}',
  ],
  [
    '/logs/typecasts',
    'application/json',
    '{"batch":[{"body":{"n":"1"},"typecasts":[{"path":["n"],"from":"string","to":"float"}]},{"message":"b"}]}',
  ],
  [
    '/logs/cloud-event',
    'application/cloudevents-batch+json',
    '[{"id":"1","type":"t","data":{"message":"a"}},{"id":"2","type":"t"}]',
  ],
  [
    '/logs/cloudflare',
    'application/x-ndjson',
    '{"ClientRequestMethod":"GET","Timestamp":1768478100}\n{"Outcome":"ok"}\n',
  ],
  [
    '/services/collector/event',
    'application/json',
    '{"event":"a","time":1768478100}{"event":{"n":[1,{}]},"index":"postgres.logs"}',
  ],
  ['/services/collector/raw', 'text/plain', 'a\nb\n'],
  ['/api/v2/logs', 'application/json', '[{"message":"a","ddtags":"a:b,c"},{"message":"b"}]'],
  ['/v1/input', 'text/plain', '{"message":"a"}\nb\n'],
  ['/logs/syslog', 'text/plain', `${FRAMED.length} ${FRAMED}\n<13>Jan 15 11:55:00 host app: b\n`],
];

/** A truncated body, or one with some bytes changed. */
function spoilt(body: Buffer): fc.Arbitrary<Buffer> {
  const cut = fc.nat(body.length).map((size) => body.subarray(0, size));
  const changed = fc
    .tuple(fc.nat(body.length), fc.nat(3), fc.uint8Array({ maxLength: 3 }))
    .map(([at, removed, added]) =>
      Buffer.concat([body.subarray(0, at), added, body.subarray(at + removed)]),
    );
  return fc.oneof(cut, changed);
}

for (const [path, type, body] of DOORS) {
  const whole = Buffer.from(body);
  const post = (app: { readonly port: number }, bytes: Buffer): ReturnType<typeof ask> =>
    ask(app, {
      method: 'POST',
      path: `${path}?source_name=gotrue.logs.prod`,
      headers: { 'Content-Type': type },
      body: bytes,
    });
  const countOf = (stored: readonly Stored[]): number =>
    stored.reduce((count, { events }) => count + events.length, 0);

  test(`${path} stores nothing of a malformed ${type}`, async () => {
    await withApp({}, async (app) => {
      assert.equal(Math.trunc((await post(app, whole)).status / 100), 2);
      assert.equal(countOf(app.stored), 2);
      const property = fc.asyncProperty(spoilt(whole), async (bytes) => {
        const before = app.stored.length;
        const { status, text } = await post(app, bytes);
        assert.ok(status < 500, `${status} ${text}`);
        // A 406, or a 400 of Datadog, names the refused events, and the others are stored.
        const isStored = path === '/api/v2/logs' && status === 400 && app.stored.length > before;
        if (status === 406 || isStored) assert.match(text, /event \d+: /);
        else if (status >= 400) assert.equal(app.stored.length, before, `${status} ${text}`);
      });
      await fc.assert(property, { numRuns: BODIES_PER_DOOR });
    });
  });
}
