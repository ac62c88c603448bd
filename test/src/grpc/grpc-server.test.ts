import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { GrpcServer } from '../../../src/grpc/grpc-server.ts';
import { us } from '../../scripts/script.ts';
import { GrpcClient, logsMessage } from '../../support/grpc-client.ts';
import { ServiceUnderTest, TOKEN } from '../../support/service-under-test.ts';
import { fakeIntake, NOW_US, PUBLIC, type Stored, withApp } from '../harness.ts';

const ADDRESS = { host: '127.0.0.1', port: 0 };
const MESSAGE = logsMessage('order made', NOW_US);

/** An intake that stores a post when the test calls for it. */
function waitingIntake(stored: Stored[]) {
  const begun = new EventEmitter();
  const goOn = new EventEmitter();
  const going = once(goOn, 'go');
  const intake = fakeIntake(stored);
  const decode = async (...args: Parameters<typeof intake.decode>) => {
    begun.emit('begun');
    await going;
    return await intake.decode(...args);
  };
  const isBegun = once(begun, 'begun');
  return { intake: { ...intake, decode }, begun: isBegun, goOn: () => goOn.emit('go') };
}

test('a stop answers the calls under way, and ends the connection', async () => {
  const stored: Stored[] = [];
  const { intake, begun, goOn } = waitingIntake(stored);
  await withApp({ intake }, async (app) => {
    const server = await GrpcServer.listen(app.grpc, ADDRESS);
    const { port } = server;
    await GrpcClient.use({ port, token: PUBLIC }, async (client) => {
      const answer = client.call(MESSAGE);
      await begun;
      const goneAway = once(client.session, 'goaway');
      const drained = server.drain();
      await goneAway;
      goOn();
      assert.equal((await answer).status, 0);
      await drained;
      assert.equal(stored.length, 1);
    });
    await GrpcClient.use({ port, token: PUBLIC }, async (client) => {
      await new Promise((resolve) => client.session.once('close', resolve));
    });
  });
});

test('a stop asks callers to come again that would wait too long', async () => {
  const { intake, begun, goOn } = waitingIntake([]);
  await withApp({ intake }, async (app) => {
    const server = await GrpcServer.listen(app.grpc, ADDRESS);
    await GrpcClient.use({ port: server.port, token: PUBLIC }, async (client) => {
      const answer = client.call(MESSAGE);
      await begun;
      const drained = server.drain();
      app.readiness.giveUp();
      const { status, retryAfterS } = await answer;
      assert.deepEqual([status, retryAfterS! > 0], [14, true]);
      goOn();
      await drained;
    });
  });
});

test('a stop cuts off calls that do not end', async () => {
  await withApp({}, async (app) => {
    const server = await GrpcServer.listen(app.grpc, ADDRESS);
    await GrpcClient.use({ port: server.port, token: PUBLIC }, async (client) => {
      const stream = client.begin();
      stream.write(Buffer.from([0]));
      await client.call(MESSAGE);
      await server.drain({ drainMs: 20 });
      if (!stream.destroyed) await once(stream, 'close');
    });
  });
});

test('a service with OTLP_GRPC_PORT stores what comes over gRPC, counts it and reports it', async () => {
  const service = await ServiceUnderTest.start({ OTLP_GRPC_PORT: '0', SOURCES: 'app.logs' });
  try {
    const port = Number(/^127\.0\.0\.1:(\d+)$/.exec(service.otlpGrpc ?? '')?.[1]);
    const timeUs = us('2026-01-15T11:59:00Z');
    await GrpcClient.use({ port, token: TOKEN }, async (client) => {
      const headers = { 'x-source': 'app.logs' };
      assert.equal((await client.call(logsMessage('order made', timeUs), { headers })).status, 0);
      const tooOld = await client.call(logsMessage('old', 1_000_000), { headers });
      assert.equal(tooOld.status, 0);
      assert.match(tooOld.body!.toString(), /older than/);
    });
    const rows = await service.ask(
      'POST',
      '/api/query',
      JSON.stringify({
        sql: 'SELECT t.event_message, t.project, m.severity_text, m.trace_id FROM `app.logs` AS t CROSS JOIN UNNEST(t.metadata) AS m',
      }),
    );
    assert.deepEqual(JSON.parse(rows.text).result, [
      {
        event_message: 'order made',
        project: 'alpha',
        severity_text: 'ERROR',
        trace_id: '5b8efff798038103d269b633813fc60c',
      },
    ]);
    const metrics = await service.ask('GET', '/metrics');
    assert.match(metrics.text, /^weir_posts_total\{status="200",code="ok"\} 2$/m);
    const posts = await service.ask('GET', '/api/posts');
    assert.match(posts.text, /LogsService\/Export/);
  } finally {
    await service.stop();
  }
});

test('without OTLP_GRPC_PORT a service has no address for gRPC, and one that is taken stops the start', async () => {
  const service = await ServiceUnderTest.start();
  try {
    assert.equal(service.otlpGrpc, undefined);
    const taken = new URL(service.url).port;
    await assert.rejects(
      ServiceUnderTest.start({ OTLP_GRPC_PORT: taken }),
      /OTLP_GRPC_PORT \d+ on HOST 127\.0\.0\.1 cannot be used: another program uses it/,
    );
  } finally {
    await service.stop();
  }
});
