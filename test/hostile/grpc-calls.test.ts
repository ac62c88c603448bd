import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { BODY_BYTES_MAX } from '../../ingest/limits.ts';
import { type GrpcLimits, GrpcServer } from '../../src/grpc/grpc-server.ts';
import { BODIES_BYTES_MIN, GRPC_STREAMS_MAX } from '../../src/limits.ts';
import { fakeIntake, NOW_US, PUBLIC, type Stored, type TestApp, withApp } from '../src/harness.ts';
import { answerOf, frame, GrpcClient, logsMessage } from '../support/grpc-client.ts';

const MESSAGE = logsMessage('order made', NOW_US);

/** No one on loopback is this slow who means well, and no test waits long. */
const IMPATIENT = { bodyMsMax: 100, bodyBytesPerSMin: 1e9, answerMsMax: 100, lookMs: 20 };

/** Calls `work` with a server for gRPC, and a connection to it. */
async function withGrpc(
  options: Parameters<typeof withApp>[0] & { readonly limits?: Partial<GrpcLimits> },
  work: (client: GrpcClient, app: TestApp, server: GrpcServer) => Promise<void>,
): Promise<void> {
  await withApp(options, async (app) => {
    const address = { host: '127.0.0.1', port: 0 };
    const server = await GrpcServer.listen(app.grpc, address, options.limits);
    try {
      await GrpcClient.use({ port: server.port, token: PUBLIC }, (client) =>
        work(client, app, server),
      );
    } finally {
      await server.drain({ drainMs: 0 });
    }
  });
}

test('a message that decompresses beyond the limit is refused, by a byte or by four times', async () => {
  await withGrpc({}, async (client, { stored }) => {
    const headers = { 'grpc-encoding': 'gzip' };
    for (const size of [BODY_BYTES_MAX + 1, 4 * BODY_BYTES_MAX]) {
      const bomb = gzipSync(Buffer.alloc(size), { level: 1 });
      const answer = await client.send(frame(bomb, 1), { headers });
      assert.equal(answer.status, 3);
      assert.match(answer.message, /at most 12000000 bytes after inflation; got more/);
    }
    assert.deepEqual(stored, []);
  });
});

test('many bombs at once are held within the memory of bodies, and are all answered', async () => {
  const heldBytesMax = BODIES_BYTES_MIN;
  await withGrpc({ heldBytesMax }, async (client, { stored, bodies }) => {
    const bomb = frame(gzipSync(Buffer.alloc(BODY_BYTES_MAX + 1), { level: 9 }), 1);
    let peakBytes = 0;
    const looking = setInterval(() => {
      peakBytes = Math.max(peakBytes, bodies.heldBytes);
    }, 1);
    const headers = { 'grpc-encoding': 'gzip' };
    const answers = await Promise.all(
      Array.from({ length: GRPC_STREAMS_MAX }, () => client.send(bomb, { headers })),
    );
    clearInterval(looking);
    // Too large, or too many at once.
    assert.deepEqual(
      answers.filter(({ status }) => status !== 3 && status !== 8),
      [],
    );
    assert.ok(peakBytes > 0 && peakBytes <= heldBytesMax, `${peakBytes} bytes were held`);
    assert.equal(bodies.heldBytes, 0);
    assert.deepEqual(stored, []);
    assert.equal((await client.call(MESSAGE)).status, 0);
  });
});

test('a message that announces more than the limit is refused before it is sent', async () => {
  await withGrpc({}, async (client) => {
    for (const size of [BODY_BYTES_MAX + 1, 2 ** 32 - 1]) {
      const stream = client.begin();
      const ended = answerOf(stream);
      stream.write(frame(new Uint8Array(0), 0, size));
      const { status, message } = await ended;
      assert.equal(status, 3);
      assert.match(message, /at most 12000000 bytes/);
    }
    const huge = await client.send(frame(Buffer.alloc(BODY_BYTES_MAX + 1)));
    assert.equal(huge.status, 3);
    assert.equal((await client.call(MESSAGE)).status, 0);
  });
});

test('nothing is read of a call whose token is wrong', async () => {
  await withGrpc({}, async (client, { bodies }) => {
    const stream = client.begin({ headers: { authorization: 'Bearer wrong' } });
    const ended = answerOf(stream);
    stream.write(frame(Buffer.alloc(1_000_000)));
    assert.equal((await ended).status, 16);
    assert.equal(bodies.heldBytes, 0);
  });
});

test('a thousand calls at once on one connection are all answered, a hundred at a time', async () => {
  const stored: Stored[] = [];
  const intake = fakeIntake(stored);
  let underWay = 0;
  let most = 0;
  const counting = {
    ...intake,
    decode: async (...args: Parameters<typeof intake.decode>) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise(setImmediate);
      underWay -= 1;
      return await intake.decode(...args);
    },
  };
  await withGrpc({ intake: counting }, async (client) => {
    client.session.setMaxListeners(0);
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => client.call(MESSAGE)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([0]));
    assert.equal(stored.length, 1_000);
    assert.ok(most <= GRPC_STREAMS_MAX, `${most} were under way`);
  });
});

test('calls beyond the number that may be under way are asked to come again', async () => {
  await withGrpc({ limits: { callsMax: 2 } }, async (client) => {
    const waiting = [client.begin(), client.begin()];
    for (const stream of waiting) stream.write(frame(MESSAGE).subarray(0, 9));
    const refused = await client.call(MESSAGE);
    assert.equal(refused.status, 8);
    assert.ok(refused.retryAfterS! > 0);
    const ended = waiting.map(answerOf);
    for (const stream of waiting) stream.end(frame(MESSAGE).subarray(9));
    assert.deepEqual(
      (await Promise.all(ended)).map(({ status }) => status),
      [0, 0],
    );
    assert.equal((await client.call(MESSAGE)).status, 0);
  });
});

test('a message without an end is cut off, and nothing is stored', async () => {
  await withGrpc({ limits: IMPATIENT }, async (client, { stored, bodies }) => {
    const whole = frame(MESSAGE);
    // No prefix, a part of it, a part of the message, and all of it without the end of the call.
    for (const size of [0, 3, 20, whole.length]) {
      const stream = client.begin();
      const ended = answerOf(stream);
      stream.write(whole.subarray(0, size));
      const { status, message } = await ended;
      assert.equal(status, 4, `${size} bytes`);
      assert.match(message, /must arrive within 30 s/);
    }
    assert.equal(bodies.heldBytes, 0);
    assert.deepEqual(stored, []);
  });
});

test('a call whose answer is not read is cut off', async () => {
  const limits = { ...IMPATIENT, bodyMsMax: 60_000 };
  await withGrpc({ limits }, async (_client, { stored }, server) => {
    // With a window of nothing, no message may be sent to it.
    const session = connectHttp2(`http://127.0.0.1:${server.port}`, {
      settings: { initialWindowSize: 0 },
    });
    try {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
        'content-type': 'application/grpc',
        authorization: `Bearer ${PUBLIC}`,
      });
      stream.on('error', () => {});
      stream.end(frame(MESSAGE));
      await once(stream, 'close');
      assert.equal(stored.length, 1);
    } finally {
      session.destroy();
    }
  });
});

test('a connection without calls is closed, and one that is not HTTP/2 as well', async () => {
  await withGrpc({ limits: { idleMsMax: 100 } }, async (client, _app, server) => {
    if (!client.session.destroyed) await once(client.session, 'close');
    const silent = connect({ port: server.port, host: '127.0.0.1' }).resume();
    await once(silent, 'close');
    const other = connect({ port: server.port, host: '127.0.0.1' }).resume();
    other.on('error', () => {});
    other.write('GET / HTTP/1.1\r\nHost: weir\r\n\r\n');
    await once(other, 'close');
  });
});

test('a caller that goes away while its message arrives leaves nothing behind', async () => {
  await withGrpc({}, async (client, { bodies, stored }) => {
    const whole = frame(logsMessage('a'.repeat(200_000), NOW_US));
    for (const size of [0, 4, 5, 100_000]) {
      const stream = client.begin();
      stream.write(whole.subarray(0, size));
      if (!stream.pending) await new Promise(setImmediate);
      stream.close(8);
      await once(stream, 'close');
    }
    assert.equal((await client.call(MESSAGE)).status, 0);
    assert.equal(stored.length, 1);
    assert.equal(bodies.heldBytes, 0);
  });
});

test('calls that are reset as soon as they begin hold nothing, and harm no other connection', async () => {
  await withGrpc({}, async (client, { bodies, stored }, server) => {
    client.session.setMaxListeners(0);
    const closed: Promise<unknown>[] = [];
    for (let index = 0; index < 3_000; index++) {
      // Node gives up a connection with too many resets (CVE-2023-44487).
      if (client.session.closed || client.session.destroyed) break;
      const stream = client.begin();
      closed.push(new Promise((resolve) => stream.once('close', resolve)));
      stream.close(8);
      if (index % 100 === 0) await new Promise(setImmediate);
    }
    await Promise.all(closed);
    await GrpcClient.use({ port: server.port, token: PUBLIC }, async (other) => {
      assert.equal((await other.call(MESSAGE)).status, 0);
    });
    assert.equal(stored.length, 1);
    assert.equal(bodies.heldBytes, 0);
  });
});
