import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { compress } from 'snappyjs';
import { type ErrorCode, ServiceError } from '../../../src/errors.ts';
import { GrpcServer } from '../../../src/grpc/grpc-server.ts';
import {
  frame,
  GrpcClient,
  LOGS_METHOD,
  logsMessage,
  METRICS_METHOD,
  TRACES_METHOD,
  under,
} from '../../support/grpc-client.ts';
import { zstdFrame } from '../../support/zstd-frame.ts';
import { fakeIntake, NOW_US, PRIVATE, PUBLIC, post, type TestApp, withApp } from '../harness.ts';

const PROTOBUF = 'application/x-protobuf';
const MESSAGE = logsMessage('order made', NOW_US);
const EMPTY = new Uint8Array(0);

/** Calls `work` with an app that also listens for gRPC, and a connection to it. */
async function withGrpc(
  options: Parameters<typeof withApp>[0],
  work: (client: GrpcClient, app: TestApp & { readonly grpcPort: number }) => Promise<void>,
): Promise<void> {
  await withApp(options, async (app) => {
    const server = await GrpcServer.listen(app.grpc, { host: '127.0.0.1', port: 0 });
    try {
      await GrpcClient.use({ port: server.port, token: PUBLIC }, (client) =>
        work(client, { ...app, grpcPort: server.port }),
      );
    } finally {
      await server.drain({ drainMs: 0 });
    }
  });
}

test('a record is stored over gRPC as over HTTP, with all that it has', async () => {
  await withGrpc({}, async (client, app) => {
    const { status, body, headers } = await client.call(MESSAGE);
    assert.equal(status, 0);
    // An empty message: everything is stored.
    assert.deepEqual(body, Buffer.alloc(0));
    assert.equal(headers[':status'], 200);
    assert.match(String(headers['content-type']), /^application\/grpc/);
    await post(app, '/v1/logs', Buffer.from(MESSAGE), { 'Content-Type': PROTOBUF });
    const [overGrpc, overHttp] = app.stored;
    assert.deepEqual(overGrpc, overHttp);
    const [event] = overGrpc!.events as readonly { readonly metadata: object }[];
    assert.deepEqual(event!.metadata, {
      severity_number: 17,
      severity_text: 'ERROR',
      trace_id: '5b8efff798038103d269b633813fc60c',
      span_id: 'eee19b7ec3c1b174',
      flags: 1,
      attributes: { 'http.route': '/orders' },
      resource: { 'service.name': 'shop', project: 'alpha' },
      scope: { name: 'orders', version: '1.0' },
    });
  });
});

test('metadata names the source and the token, as headers do', async () => {
  await withGrpc({}, async (client, { stored }) => {
    const none = { authorization: undefined };
    for (const headers of [
      { 'x-source': 'postgres.logs' },
      { ...none, 'x-api-key': PUBLIC, 'x-source': 'postgres.logs' },
      { authorization: `bearer ${PRIVATE}`, 'x-collection': 'postgres.logs' },
    ]) {
      assert.equal((await client.call(MESSAGE, { headers })).status, 0);
      assert.equal(stored.at(-1)!.source, 'postgres.logs');
    }
    for (const headers of [none, { authorization: 'Bearer another' }]) {
      const refused = await client.call(MESSAGE, { headers });
      assert.equal(refused.status, 16);
      assert.match(refused.message, /access token/);
      assert.equal(refused.body, undefined);
    }
    const unknown = await client.call(MESSAGE, { headers: { 'x-source': 'nowhere' } });
    assert.equal(unknown.status, 5);
    assert.match(unknown.message, /there is no source "nowhere"/);
    assert.equal(stored.length, 3);
  });
});

test('a message may be compressed as grpc-encoding says', async () => {
  await withGrpc({}, async (client, { stored }) => {
    for (const [encoding, packed] of [
      ['gzip', gzipSync(MESSAGE)],
      ['deflate', deflateSync(MESSAGE)],
      ['zstd', zstdFrame(Buffer.from(MESSAGE))],
      ['snappy', Buffer.from(compress(MESSAGE))],
    ] as const) {
      const headers = { 'grpc-encoding': encoding };
      assert.equal((await client.send(frame(packed, 1), { headers })).status, 0, encoding);
      // A message that says that it is not compressed is not, whatever the call says.
      assert.equal((await client.call(MESSAGE, { headers })).status, 0, encoding);
    }
    assert.equal(stored.length, 8);
    for (const { events } of stored) assert.deepEqual(events, stored[0]!.events);
  });
});

test('what does not decompress is refused', async () => {
  await withGrpc({}, async (client, { stored }) => {
    const gzip = { 'grpc-encoding': 'gzip' };
    const packed = gzipSync(MESSAGE);
    const cases = [
      [frame(packed, 1), { 'grpc-encoding': 'lz4' }, 12, /must be one of gzip, deflate/],
      [frame(packed, 1), {}, 3, /grpc-encoding does not say how/],
      [frame(Buffer.from(MESSAGE), 1), gzip, 3, /is not whole gzip/],
      [frame(packed.subarray(0, -9), 1), gzip, 3, /is not whole gzip/],
      [frame(Buffer.concat([packed, packed.subarray(0, 3)]), 1), gzip, 3, /is not whole gzip/],
    ] as const;
    for (const [body, headers, status, message] of cases) {
      const answer = await client.send(body, { headers });
      assert.equal(answer.status, status, String(message));
      assert.match(answer.message, message);
      assert.match(String(answer.headers['grpc-accept-encoding']), /\bgzip\b/);
    }
    assert.deepEqual(stored, []);
  });
});

test('a call has exactly one message', async () => {
  await withGrpc({}, async (client, { stored }) => {
    const whole = frame(MESSAGE);
    const cases = [
      [EMPTY, /ended before its message did/],
      [whole.subarray(0, 4), /ended before its message did/],
      [whole.subarray(0, -1), /ended before its message did/],
      [Buffer.concat([whole, whole]), /has one message; got more/],
      [Buffer.concat([whole, Buffer.from([0])]), /has one message; got more/],
      [frame(MESSAGE, 7), /must be 0 or 1; got 7/],
      [frame(Buffer.from('no message')), /ExportLogsServiceRequest/],
    ] as const;
    for (const [body, message] of cases) {
      const answer = await client.send(body);
      assert.equal(answer.status, 3, String(message));
      assert.match(answer.message, message);
    }
    assert.deepEqual(stored, []);
    // The connection is as good as before; an empty request is one.
    assert.equal((await client.call(EMPTY)).status, 0);
    assert.equal((await client.call(MESSAGE)).status, 0);
  });
});

test('a message may come in pieces of any size', async () => {
  await withGrpc({}, async (client, { stored }) => {
    const large = logsMessage('a'.repeat(1_000_000), NOW_US);
    const whole = frame(MESSAGE);
    const stream = client.begin();
    for (const byte of whole.subarray(0, -1)) {
      stream.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    stream.end(whole.subarray(-1)).resume();
    await new Promise((resolve) => stream.once('close', resolve));
    assert.equal((await client.call(large)).status, 0);
    assert.equal(stored.length, 2);
    const [event] = stored[1]!.events as readonly { readonly event_message: string }[];
    assert.equal(event!.event_message.length, 1_000_000);
  });
});

test('traces and metrics are answered, once for each connection with a partial success', async () => {
  const spans = under(1, under(2, under(2, EMPTY, EMPTY)));
  const points = under(1, under(2, under(2, under(5, under(1, EMPTY, EMPTY, EMPTY)))));
  await withGrpc({}, async (first, { grpcPort, stored }) => {
    const onOne = async (client: GrpcClient): Promise<void> => {
      for (const [path, message, count] of [
        [TRACES_METHOD, spans, 2],
        [METRICS_METHOD, points, 3],
      ] as const) {
        const { status, body } = await client.call(message, { path });
        assert.equal(status, 0);
        const outer = new BinaryReader(body!);
        assert.deepEqual(outer.tag(), [1, WireType.LengthDelimited]);
        const partial = new BinaryReader(outer.bytes());
        assert.deepEqual(partial.tag(), [1, WireType.Varint]);
        assert.equal(Number(partial.int64()), count);
        const again = await client.call(message, { path });
        assert.deepEqual([again.status, again.body], [0, Buffer.alloc(0)]);
      }
    };
    await onOne(first);
    await GrpcClient.use({ port: grpcPort, token: PUBLIC }, onOne);
    assert.deepEqual(stored, []);
  });
});

test('a failure has the code that makes exporters repeat or give up', async () => {
  const cases: readonly (readonly [ErrorCode, number, boolean])[] = [
    ['invalid_body', 3, false],
    ['body_too_large', 3, false],
    ['forbidden', 7, false],
    ['out_of_reach', 7, false],
    ['ingest_overloaded', 8, true],
    ['quota_exceeded', 8, true],
    ['storage_failed', 14, true],
    ['draining', 14, true],
    ['internal', 13, false],
  ];
  for (const [code, status, isRetryable] of cases) {
    const message = 'not this one: 100 % é';
    const intake = {
      ...fakeIntake([]),
      decode: () => Promise.reject(new ServiceError(code, message)),
    };
    await withGrpc({ intake }, async (client) => {
      const answer = await client.call(MESSAGE);
      assert.equal(answer.httpStatus, 200);
      assert.equal(answer.status, status, code);
      assert.equal(answer.message, message);
      assert.equal(answer.retryAfterS !== undefined, isRetryable, code);
    });
  }
});

test('what is no call of a known method is refused', async () => {
  await withGrpc({}, async (client) => {
    for (const path of ['/v1/logs', `${LOGS_METHOD}s`, '/', '/constructor']) {
      const { status, message } = await client.call(MESSAGE, { path });
      assert.equal(status, 12);
      assert.match(message, /there is no method/);
    }
    for (const headers of [
      { 'content-type': 'application/json' },
      { 'content-type': undefined },
      { 'content-type': 'application/grpc+json' },
      { ':method': 'PUT' },
    ]) {
      const { httpStatus, status } = await client.call(MESSAGE, { headers });
      assert.deepEqual([httpStatus, status], [415, undefined]);
    }
  });
});

test('a service that starts asks to be tried again', async () => {
  await withGrpc({ isStarting: true }, async (client) => {
    const { status, retryAfterS, message } = await client.call(MESSAGE);
    assert.deepEqual([status, retryAfterS! > 0], [14, true]);
    assert.match(message, /is starting/);
  });
});

test('bugs are logged with the method and the id of the request', async () => {
  const intake = { ...fakeIntake([]), decode: () => Promise.reject(new Error('a bug')) };
  await withGrpc({ intake }, async (client, { entries }) => {
    const { status, headers } = await client.call(MESSAGE, { headers: { 'x-request-id': 'r-7' } });
    assert.equal(status, 13);
    assert.equal(headers['x-request-id'], 'r-7');
    const [{ error, ...entry }] = entries as unknown as [Record<string, unknown>];
    assert.match(String(error), /a bug/);
    assert.deepEqual(entry, {
      level: 'error',
      event: 'request_failed',
      request_id: 'r-7',
      method: 'POST',
      path: LOGS_METHOD,
      status: 500,
      code: 'internal',
    });
  });
});
