import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { compress } from 'snappyjs';
import { ACTION_ECHO_LENGTH_MAX, BULK_ACTIONS_MAX } from '../../../ingest/limits.ts';
import { BUILT_IN_SOURCES } from '../../../ingest/source.ts';
import { LOG_PATHS } from '../../../src/doors/doors.ts';
import { LOGFLARE_DOORS } from '../../../src/doors/logflare-doors.ts';
import { ServiceError } from '../../../src/errors.ts';
import type { LogIntake } from '../../../src/store/log-intake.ts';
import { lokiPushBytes } from '../../support/loki-push.ts';
import {
  ask,
  askRaw,
  DEFAULT_SOURCE,
  fakeIntake,
  PUBLIC,
  post,
  type Stored,
  withApp,
} from '../harness.ts';

const OTLP = {
  resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'a' } }, {}] }] }],
};
const LOKI = {
  streams: [
    {
      stream: {},
      values: [
        ['1768478100000000000', 'a'],
        ['1768478100000000001', 'b'],
      ],
    },
  ],
};
const BULK =
  '{"index":{"_index":"postgres.logs"}}\n{"message":"a"}\n{"create":{}}\n{"message":"b"}\n';

/** Stores all but the second event of each body, or nothing when `error` is given. */
function strictIntake(stored: Stored[], error?: ServiceError): LogIntake {
  const intake = fakeIntake(stored);
  return {
    ...intake,
    decode: async (posted) => {
      const decoded = await intake.decode(posted);
      return {
        ...decoded,
        store: async (source, nowUs) => {
          if (error !== undefined) throw error;
          await decoded.store(source, nowUs);
          return { events: [1], reasons: ['it is too old'], repaired: [], storedEvents: 0 };
        },
      };
    },
  };
}

test('a push of Loki in protobuf is Snappy, whether its header says so or not', async () => {
  const lines = [{ seconds: 1_768_478_100n, nanos: 5000, line: 'a', metadata: { trace_id: 't' } }];
  const body = lokiPushBytes([{ labels: '{app="shop", project="alpha"}', lines }]);
  const type = { 'Content-Type': 'application/x-protobuf' };
  await withApp({}, async (app) => {
    const block = Buffer.from(compress(body));
    for (const headers of [type, { ...type, 'Content-Encoding': 'snappy' }]) {
      assert.equal((await post(app, '/loki/api/v1/push', block, headers)).status, 204);
    }
    const gzip = { ...type, 'Content-Encoding': 'gzip' };
    assert.equal((await post(app, '/loki/api/v1/push', gzipSync(body), gzip)).status, 204);
    const event = {
      timestamp: '1768478100000005000',
      event_message: 'a',
      project: 'alpha',
      metadata: {
        labels: { app: 'shop', project: 'alpha' },
        structured_metadata: { trace_id: 't' },
      },
    };
    assert.deepEqual(
      app.stored.map(({ events }) => events),
      [[event], [event], [event]],
    );
    const { status, json } = await post(app, '/loki/api/v1/push', Buffer.from(body), type);
    assert.equal(status, 400);
    assert.match(json.error.message, /the body is not whole snappy/);
  });
});

test('each receiver stores in the named source, or in the default one if its protocol has none', async () => {
  await withApp({}, async (app) => {
    const answers = [
      await post(app, '/v1/logs', OTLP),
      await post(app, '/v1/logs', OTLP, { 'X-Source': 'postgres.logs' }),
      await post(app, '/loki/api/v1/push?source_name=postgres.logs', LOKI),
      await post(app, '/loki/api/v1/push', LOKI),
      await post(app, '/elasticsearch/_bulk', BULK, { 'Content-Type': 'application/x-ndjson' }),
      await post(app, '/gotrue.logs.prod/_bulk', '{"index":{}}\n{}\n'),
      await post(app, '/logs/json?source_name=postgres.logs', { a: 1 }),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 204, 204, 200, 200, 200],
    );
    assert.deepEqual(
      app.stored.map(({ source, events }) => `${source} ${events.length}`),
      [
        `${DEFAULT_SOURCE} 2`,
        'postgres.logs 2',
        'postgres.logs 2',
        `${DEFAULT_SOURCE} 2`,
        'postgres.logs 1',
        `${DEFAULT_SOURCE} 1`,
        'gotrue.logs.prod 1',
        'postgres.logs 1',
      ],
    );
  });
});

test('receivers below the JSON receiver require a source, and answer as it does', async () => {
  await withApp({}, async (app) => {
    for (const base of ['/api/logs', '/logs', '/api/events']) {
      const without = await post(app, `${base}/vector`, [{}]);
      assert.equal(without.json.error.code, 'missing_source');
      const answer = await ask(app, {
        method: 'POST',
        path: `${base}/syslog?source_name=postgres.logs`,
        headers: { 'Content-Type': 'text/plain' },
        body: '<13>1 2026-01-15T11:55:00Z host app - - - hello\n',
      });
      assert.deepEqual(answer.json, { message: 'Logged!' }, base);
    }
    assert.equal(app.stored.length, 3);
    const partly = await post(app, '/logs/json?source_name=postgres.logs', [5, { message: 'a' }]);
    assert.equal(partly.status, 406);
    assert.equal(partly.json.error.code, 'events_refused');
    assert.match(partly.json.error.details[0], /^event 0: /);
    assert.equal(app.stored[3]!.events.length, 1);
  });
});

test('each of Logflare’s receivers is below each path of the JSON receiver', async () => {
  const syslog = '<13>1 2026-01-15T11:55:00Z host app - - - hello\n';
  const types = new Map([
    ['/logplex', 'application/logplex-1'],
    ['/syslog', 'text/plain'],
    ['/syslogs', 'application/syslog'],
  ]);
  const bodies = new Map<string, object>([
    ['/cloud-event', { id: '1', type: 'order', data: { message: 'hello' } }],
    ['/elixir/logger', { batch: [{ message: 'hello' }] }],
    ['/typecasts', { batch: [{ body: { message: 'hello' }, typecasts: [] }] }],
  ]);
  await withApp({}, async (app) => {
    for (const base of LOG_PATHS) {
      for (const path of LOGFLARE_DOORS.keys()) {
        const type = types.get(path);
        const body = JSON.stringify(bodies.get(path) ?? { message: 'hello' });
        const { json } = await ask(app, {
          method: 'POST',
          path: `${base}${path}?source_name=postgres.logs`,
          headers: { 'Content-Type': type ?? 'application/json' },
          body: type === undefined ? body : syslog,
        });
        assert.deepEqual(json, { message: 'Logged!' }, base + path);
        assert.match(JSON.stringify(app.stored.at(-1)!.events), /hello/, base + path);
      }
    }
    assert.equal(app.stored.length, 27);
  });
});

test('Logflare’s senders may name the source in the body', async () => {
  await withApp({}, async (app) => {
    const source = BUILT_IN_SOURCES.find(({ name }) => name === 'postgres.logs')?.id;
    const bodies = [
      ['/logs/elixir/logger', { batch: [{ message: 'a' }], source }],
      ['/api/logs/typecasts', { batch: [{ message: 'b' }, {}], source_name: 'gotrue.logs.prod' }],
      ['/logs/elixir/logger?source_name=gotrue.logs.prod', { batch: [{}], source }],
    ] as const;
    for (const [path, body] of bodies) {
      assert.deepEqual((await post(app, path, body)).json, { message: 'Logged!' });
    }
    const stored = app.stored.map(({ source, events }) => `${source} ${events.length}`);
    assert.deepEqual(stored, ['postgres.logs 1', 'gotrue.logs.prod 2', 'gotrue.logs.prod 1']);

    const refused = [
      ['/logs/elixir/logger', { batch: [{}] }, 'missing_source'],
      ['/logs/elixir/logger', { batch: [{}], source: 'nowhere' }, 'unknown_source'],
      ['/logs/json', { batch: [{}], source }, 'missing_source'],
    ] as const;
    for (const [path, body, code] of refused) {
      assert.equal((await post(app, path, body)).json.error.code, code);
    }
    const bert = await post(app, '/logs/elixir/logger', Buffer.of(131, 116), {
      'Content-Type': 'application/bert',
    });
    assert.equal(bert.status, 415);
    assert.match(bert.json.error.message, /must be application\/json.*application\/bert/);
    assert.equal(app.stored.length, 3);
  });
});

test('OTLP is answered in its encoding, with the number of refused records', async () => {
  const intake = strictIntake([]);
  await withApp({ intake }, async (app) => {
    const json = await post(app, '/v1/logs', OTLP);
    assert.deepEqual(json.json, {
      partialSuccess: { rejectedLogRecords: '1', errorMessage: 'event 1: it is too old' },
    });
    const protobuf = await ask(app, {
      method: 'POST',
      path: '/v1/logs',
      headers: { 'Content-Type': 'application/x-protobuf' },
      body: Buffer.alloc(0),
    });
    assert.equal(protobuf.status, 200);
    assert.equal(protobuf.headers['content-type'], 'application/x-protobuf');
    assert.equal(protobuf.text, '');
  });
});

test('failures of OTLP are a google.rpc.Status, with Retry-After if a retry may succeed', async () => {
  const intake = strictIntake([], new ServiceError('ingest_overloaded', 'later'));
  await withApp({ intake }, async (app) => {
    const overloaded = await post(app, '/v1/logs', OTLP);
    assert.deepEqual([overloaded.status, overloaded.json], [429, { code: 8, message: 'later' }]);
    assert.match(String(overloaded.headers['retry-after']), /^\d+$/);
    const malformed = await post(app, '/v1/logs', '{"resourceLogs": 5}');
    assert.equal(malformed.status, 400);
    assert.equal(malformed.json.code, 3);
    const protobuf = await ask(app, {
      method: 'POST',
      path: '/v1/logs',
      headers: { 'Content-Type': 'application/x-protobuf' },
      body: Buffer.of(10, 200),
    });
    assert.equal(protobuf.status, 400);
    assert.equal(protobuf.headers['content-type'], 'application/x-protobuf');
    assert.match(protobuf.text, /ExportLogsServiceRequest/);
  });
});

test('a bulk request is answered item by item', async () => {
  const stored: Stored[] = [];
  await withApp({ intake: strictIntake(stored) }, async (app) => {
    const body = `{"index":{"_id":"1"}}\n{"message":"a"}\n{"create":{"_id":"2"}}\n{"message":"b"}\n{"delete":{"_id":"3"}}\n`;
    const { json, headers } = await post(app, '/_bulk', body);
    assert.equal(headers['x-elastic-product'], 'Elasticsearch');
    assert.equal(json.errors, true);
    assert.deepEqual(
      json.items.map((item: Record<string, { _id: string; status: number }>) =>
        Object.entries(item).map(([action, { _id, status }]) => `${action} ${_id} ${status}`),
      ),
      [['index 1 201'], ['create 2 400'], ['delete 3 400']],
    );
    const broken = await post(app, '/_bulk', '{"index":{}}\n');
    assert.equal(broken.status, 400);
    assert.equal(broken.json.error.type, 'invalid_body');
  });
});

test('documents of many indices of one source are stored together, in order', async () => {
  await withApp({}, async (app) => {
    const indices = Array.from({ length: 200 }, (_, index) =>
      index % 50 === 7 ? 'gotrue.logs.prod' : `index-${index}`,
    );
    const lines = indices.map((index, a) => `{"index":{"_index":"${index}"}}\n{"a":${a}}\n`);
    const { status, json } = await post(app, '/_bulk', lines.join(''));
    assert.equal(status, 200);
    assert.equal(json.items.length, 200);
    assert.deepEqual(
      app.stored.map(({ source }) => source),
      [DEFAULT_SOURCE, 'gotrue.logs.prod'],
    );
    const numbers = app.stored.map(({ events }) =>
      events.map((event) => (event as { readonly metadata: { readonly a: number } }).metadata.a),
    );
    assert.deepEqual(numbers[1], [7, 57, 107, 157]);
    const others = Array.from({ length: 200 }, (_, a) => a).filter((a) => a % 50 !== 7);
    assert.deepEqual(numbers[0], others);
  });
});

test('a bulk request whose answer has no room is refused before anything is stored', async () => {
  await withApp({ heldBytesMax: 100_000, refusalWaitMs: 1 }, async (app) => {
    const lines = (count: number): string => `{"index":{}}\n{}\n${'{"x":{}}\n'.repeat(count)}`;
    const { status, json } = await post(app, '/_bulk', lines(100));
    assert.equal(status, 200);
    assert.equal(json.items.length, 101);
    const { stored } = app;
    const refused = await post(app, '/_bulk', lines(1_000)).catch((error: Error) => error);
    assert.ok(refused instanceof Error || refused.status === 429);
    assert.equal(stored.length, 1);
    // The bytes held for answers are free again.
    for (let turn = 0; turn < 5; turn++) {
      assert.equal((await post(app, '/_bulk', lines(100))).status, 200);
    }
  });
});

test('an unknown bulk action is reported shortened, and too many actions are refused', async () => {
  await withApp({}, async (app) => {
    const { json } = await post(app, '/_bulk', `{"${'x'.repeat(1_000)}":{}}\n{"index":{}}\n{}\n`);
    assert.deepEqual(Object.keys(json.items[0]), ['x'.repeat(ACTION_ECHO_LENGTH_MAX)]);
    const many = await post(app, '/_bulk', '{"x":{}}\n'.repeat(BULK_ACTIONS_MAX + 1));
    assert.equal(many.status, 413);
    assert.match(many.json.error.reason, /a bulk may have 100000 actions; got more/);
  });
});

test('a bulk request that should be retried gets an answer that is cut short', async () => {
  const intake = strictIntake([], new ServiceError('ingest_overloaded', 'later'));
  const body = '{"index":{}}\n{"message":"a"}\n';
  const head = `POST /_bulk HTTP/1.1\r\nHost: weir\r\nX-API-KEY: ${PUBLIC}\r\nContent-Type: application/x-ndjson\r\n`;
  await withApp({ intake }, async (app) => {
    const sizeTold = (text: string): number => Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1]);
    const bodyOf = (text: string): string => text.slice(text.indexOf('\r\n\r\n') + 4);

    const post = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
    const overloaded = await askRaw(app, post);
    assert.match(overloaded, /^HTTP\/1.1 429 .*\r\nretry-after: \d/is);
    assert.equal(JSON.parse(bodyOf(overloaded)).error.reason, 'later');
    assert.equal(sizeTold(overloaded), bodyOf(overloaded).length + 1);

    app.readiness.beginDraining();
    const stopping = await askRaw(app, post);
    assert.match(stopping, /^HTTP\/1.1 503 .*\r\nretry-after: \d/is);
    assert.equal(sizeTold(stopping), bodyOf(stopping).length + 1);
    assert.equal(app.stored.length, 0);
  });
  await withApp({}, async (app) => {
    const answer = await post(app, '/_bulk', '{');
    assert.equal(answer.status, 400);
    assert.equal(answer.json.error.type, 'invalid_body');
  });
});

test('clients of Elasticsearch get the answers that they request before sending', async () => {
  await withApp({}, async (app) => {
    for (const path of ['/', '/elasticsearch']) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await ask(app, { method, path });
        assert.deepEqual([status, headers['x-elastic-product']], [200, 'Elasticsearch']);
      }
      const { json } = await ask(app, { path });
      assert.deepEqual([json.name, json.cluster_name], ['weir', 'weir']);
      assert.match(json.version.number, /^8\./);
      assert.equal(json.tagline, 'You Know, for Search');
    }
    assert.equal((await ask(app, { path: '/_cat/health' })).status, 200);
    assert.equal((await post(app, '/elasticsearch/any/_refresh', '')).json._shards.failed, 0);
  });
});

test('a token may be the password of Basic authentication or the key of ApiKey', async () => {
  await withApp({}, async (app) => {
    for (const [scheme, text, status] of [
      ['Basic', `anyone:${PUBLIC}`, 204],
      ['ApiKey', `id:${PUBLIC}`, 204],
      ['Basic', 'anyone:wrong', 401],
    ] as const) {
      const answer = await post(app, '/loki/api/v1/push', LOKI, {
        'X-API-KEY': undefined,
        Authorization: `${scheme} ${Buffer.from(text).toString('base64')}`,
      });
      assert.equal(answer.status, status, text);
    }
    const none = await post(app, '/loki/api/v1/push', LOKI, { 'X-API-KEY': undefined });
    assert.equal(none.status, 401);
  });
});

test('invalid lines of Loki are a 400, and the valid ones beside them are stored', async () => {
  const stored: Stored[] = [];
  await withApp({ intake: strictIntake(stored) }, async (app) => {
    const { status, json } = await post(app, '/loki/api/v1/push', LOKI);
    const { code, message, details } = json.error;
    assert.deepEqual([status, code, details], [400, 'lines_refused', ['event 1: it is too old']]);
    assert.equal(message, '1 event was refused; all others of the post are stored');
    assert.equal(stored.length, 1);
  });
  await withApp({ intake: strictIntake(stored), profile: 'supabase' }, async (app) => {
    const { status, json } = await post(app, '/loki/api/v1/push', LOKI);
    assert.deepEqual([status, json], [400, { message: ['event 1: it is too old'] }]);
  });
});
