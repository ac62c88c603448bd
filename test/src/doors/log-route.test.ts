import assert from 'node:assert/strict';
import { createConnection } from 'node:net';
import { test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { BUILT_IN_SOURCES } from '../../../ingest/source.ts';
import { ServiceError } from '../../../src/errors.ts';
import { ServiceUnderTest, TOKEN } from '../../support/service-under-test.ts';
import { ask, askRaw, fakeIntake, PUBLIC, post, withApp } from '../harness.ts';
import { countOf } from './receivers.ts';

const LOGS = '/api/logs?source_name=postgres.logs';
const EVENT = { event_message: 'hi' };
const POSTGRES_ID = BUILT_IN_SOURCES.find(({ name }) => name === 'postgres.logs')!.id;

test('an event, a list and lines are stored, on every path, with either token', async () => {
  await withApp({}, async (app) => {
    for (const path of ['/api/logs', '/logs', '/api/events']) {
      const answer = await post(app, `${path}?source_name=postgres.logs`, [EVENT, EVENT], {
        'X-API-KEY': PUBLIC,
      });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.text, '{"message":"Logged!"}');
    }
    const lines = `${JSON.stringify(EVENT)}\n${JSON.stringify(EVENT)}\n`;
    await post(app, LOGS, lines, { 'Content-Type': 'application/x-ndjson' });
    await post(app, LOGS, EVENT, { 'Content-Type': undefined });
    assert.deepEqual(
      app.stored.map(({ source, events }) => [source, events.length]),
      [
        ['postgres.logs', 2],
        ['postgres.logs', 2],
        ['postgres.logs', 2],
        ['postgres.logs', 2],
        ['postgres.logs', 1],
      ],
    );
  });
});

test('the source is taken from the URL, else from a header, else from the body', async () => {
  await withApp({}, async (app) => {
    await post(app, `/logs?source=${POSTGRES_ID}`, EVENT, { 'X-Source': 'gotrue.logs.prod' });
    await post(app, '/logs?collection_name=postgres.logs', {
      ...EVENT,
      source_name: 'deno-relay-logs',
    });
    await post(app, `/logs?collection=${POSTGRES_ID.toUpperCase()}`, EVENT);
    await post(
      app,
      '/logs',
      { ...EVENT, source_name: 'deno-relay-logs' },
      { 'X-Source': POSTGRES_ID },
    );
    await post(app, '/logs', EVENT, { 'X-Collection': POSTGRES_ID });
    await post(app, '/logs', { ...EVENT, source: POSTGRES_ID });
    await post(app, '/logs?source_name=', { ...EVENT, collection_name: 'postgres.logs' });
    assert.deepEqual(
      app.stored.map(({ source }) => source),
      Array(7).fill('postgres.logs'),
    );
  });
});

for (const [title, path, body, status, code] of [
  ['no source anywhere', '/logs', EVENT, 400, 'missing_source'],
  ['a source of another spelling', '/logs?source_name=Postgres.logs', EVENT, 404, 'unknown_source'],
  ['an unknown source in the body', '/logs', { source: 'x' }, 404, 'unknown_source'],
  ['a source given twice', '/logs?source=a&source=b', EVENT, 400, 'repeated_parameter'],
  ['a body that is not JSON', LOGS, '{', 400, 'invalid_body'],
] as const) {
  test(`${title} is ${status} ${code}, and nothing is stored`, async () => {
    await withApp({}, async (app) => {
      const answer = await post(app, path, body);
      assert.equal(answer.status, status);
      assert.equal(answer.json.error.code, code);
      assert.deepEqual(app.stored, []);
    });
  });
}

test('refused events are reported with 406, and the others are stored', async () => {
  await withApp({}, async (app) => {
    const answer = await post(app, LOGS, [EVENT, 5, EVENT]);
    assert.equal(answer.status, 406);
    const details = ['event 1: must be an object'];
    const message = '1 event was refused; all others of the post are stored';
    const { request_id, ...error } = answer.json.error;
    assert.deepEqual(error, { code: 'events_refused', message, details });
    assert.equal(request_id, answer.headers['x-request-id']);
    assert.equal(app.stored[0]?.events.length, 2);
    const asProblem = await post(app, LOGS, [5], { Accept: 'application/problem+json' });
    assert.equal(asProblem.headers['content-type'], 'application/problem+json; charset=utf-8');
    assert.deepEqual(asProblem.json.details, ['event 0: must be an object']);
  });
});

/** Content types that say nothing useful about a body, or that it has lines. */
const OTHER_TYPES = [
  undefined,
  '',
  'application/x-www-form-urlencoded',
  'text/plain',
  'text/plain; charset=UTF-8',
  'application/jsonl',
  'application/ndjson',
  'application/x-jsonlines',
];

test('a body is parsed by its contents, whatever its content type', async () => {
  const service = await ServiceUnderTest.start();
  const port = Number(new URL(service.url).port);
  const text = (value: unknown): string => JSON.stringify(value);
  const [a, b] = [{ event_message: 'a' }, { event_message: 'b', source: 'shop' }];
  const bodies: readonly (readonly [string, number])[] = [
    [text(a), 1],
    [` ${text(b)}\r\n`, 1],
    [text([a, b]), 2],
    [`${text({ batch: [a, b] })}\n`, 2],
    [`${text(a)}\n\n${text(b)}\n`, 2],
    [`${text(a)}\r\n${text(b)}\r\n${text({ batch: [] })}`, 3],
  ];
  try {
    for (const type of OTHER_TYPES) {
      for (const [body, count] of bodies) {
        const storedBefore = await countOf(service, 'weir_ingested_events_total');
        for (const path of ['/api/logs', '/logs', '/api/events']) {
          const answer = await ask(
            { port },
            {
              method: 'POST',
              path: `${path}?source_name=postgres.logs`,
              headers: { 'X-API-KEY': TOKEN, 'Content-Type': type },
              body,
            },
          );
          assert.equal(answer.status, 200, `${type} ${body} ${answer.text}`);
        }
        const storedAfter = await countOf(service, 'weir_ingested_events_total');
        assert.equal(storedAfter - storedBefore, 3 * count, `${type} ${body}`);
      }
    }
  } finally {
    await service.stop();
  }
});

test('a body of another form is a 400 with its position', async () => {
  const service = await ServiceUnderTest.start();
  const path = '/api/logs?source_name=postgres.logs';
  try {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      for (const [body, message] of [
        ['', /the body is not JSON: expected a value; got the end of the body at line 1, byte 1/],
        ['project=alpha', /the body is not JSON: expected a value; got "p" at line 1, byte 1/],
        ['{"a":1}{"b":2}', /expected the end of the body after a value; got "{" at line 1, byte 8/],
        ['{"a":\n1}\n{"b":2}', /expected the end of the body .* at line 3, byte 1/],
      ] as const) {
        const answer = await service.ask('POST', path, body, { 'Content-Type': type });
        assert.equal(answer.status, 400, body);
        assert.match(JSON.parse(answer.text).error.message, message);
      }
      // A line that is not JSON is refused alone, as with a content type of lines.
      const mixed = await service.ask('POST', path, '{}\nno', { 'Content-Type': type });
      assert.equal(mixed.status, 406);
      assert.match(mixed.text, /event 1: line 2 is not JSON/);
    }
  } finally {
    await service.stop();
  }
});

test('content types of other formats than JSON are 415', async () => {
  await withApp({}, async (app) => {
    const statusFor = async (type: string) =>
      (await post(app, LOGS, EVENT, { 'Content-Type': type })).status;
    assert.equal(await statusFor('application/json; charset=utf-8'), 200);
    assert.equal(await statusFor('Application/JSON;charset="UTF-8"'), 200);
    assert.equal(await statusFor('application/ndjson'), 200);
    assert.equal(await statusFor('application/json; charset=latin1'), 415);
    assert.equal(await statusFor('text/plain; charset=latin1'), 415);
    assert.equal(await statusFor('application/xml'), 415);
    assert.equal(await statusFor('application/jsonx'), 415);
  });
});

for (const [encoding, compress] of [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['Deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['identity', (text: Buffer) => text],
  ['identity, gzip', gzipSync],
] as const) {
  test(`a body in ${encoding} is decompressed (${compress.name})`, async () => {
    await withApp({}, async (app) => {
      const body = compress(Buffer.from(JSON.stringify([EVENT])));
      const answer = await post(app, LOGS, body, { 'Content-Encoding': encoding });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(app.stored[0]?.events, [EVENT]);
    });
  });
}

test('gzip with several members, or with zeros after it, is read whole', async () => {
  await withApp({}, async (app) => {
    const text = JSON.stringify([EVENT]);
    const parts = [gzipSync(text.slice(0, 5)), gzipSync(text.slice(5)), Buffer.alloc(100)];
    const answer = await post(app, LOGS, Buffer.concat(parts), { 'Content-Encoding': 'gzip' });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(app.stored[0]?.events, [EVENT]);
  });
});

test('an unknown encoding, or two encodings, are 415', async () => {
  await withApp({}, async (app) => {
    for (const encoding of ['x-bogus', 'gzip, br', 'compress']) {
      const answer = await post(app, LOGS, EVENT, { 'Content-Encoding': encoding });
      assert.equal(answer.status, 415);
      assert.equal(answer.json.error.code, 'unsupported_encoding');
    }
  });
});

test('a compressed body that is truncated, has trailing data or is malformed is 400', async () => {
  await withApp({}, async (app) => {
    const whole = Buffer.from(JSON.stringify([EVENT]));
    for (const [encoding, body] of [
      ['gzip', gzipSync(whole).subarray(0, 20)],
      ['gzip', whole],
      ['deflate', deflateSync(whole).subarray(0, 10)],
      ['br', brotliCompressSync(whole).subarray(0, 5)],
      ['gzip', Buffer.alloc(0)],
      ['gzip', Buffer.concat([gzipSync(whole), Buffer.from('more')])],
      ['deflate', Buffer.concat([deflateSync(whole), deflateSync(whole)])],
      ['deflate', Buffer.concat([deflateRawSync(whole), Buffer.from('more')])],
      ['br', Buffer.concat([brotliCompressSync(whole), brotliCompressSync(whole)])],
    ] as const) {
      const answer = await post(app, LOGS, body, { 'Content-Encoding': encoding });
      assert.equal(answer.status, 400, answer.text);
      assert.equal(answer.json.error.code, 'invalid_body');
    }
    assert.deepEqual(app.stored, []);
  });
});

/** A JSON string in a list, of exactly so many bytes. */
function bodyOf(size: number): Buffer {
  return Buffer.from(`["${'x'.repeat(size - 4)}"]`);
}

test('a body at the limit is accepted and one byte more is 413, compressed or not', async () => {
  await withApp({}, async (app) => {
    const [least, most] = [bodyOf(12_000_000), bodyOf(12_000_001)];
    const gzip = { 'Content-Encoding': 'gzip' };
    const fast = { level: 1 };
    assert.equal((await post(app, LOGS, least)).status, 406);
    assert.equal((await post(app, LOGS, most)).status, 413);
    assert.equal((await post(app, LOGS, gzipSync(least, fast), gzip)).status, 406);
    assert.equal((await post(app, LOGS, gzipSync(most, fast), gzip)).status, 413);
    const chunked = { 'Transfer-Encoding': 'chunked' };
    assert.equal((await post(app, LOGS, most, chunked)).status, 413);
  });
});

test('a bomb that decompresses to 200 MB is 413', async () => {
  await withApp({}, async (app) => {
    const bomb = gzipSync(Buffer.alloc(200_000_000, 'x'), { level: 1 });
    const answer = await post(app, LOGS, bomb, { 'Content-Encoding': 'gzip' });
    assert.equal(answer.status, 413);
    assert.equal(answer.json.error.code, 'body_too_large');
  });
});

test('the token, the source, the type and an announced size are checked before the body is read', async () => {
  await withApp({}, async (app) => {
    const head = (path: string, token: string, type: string, size: number): string =>
      [
        `POST ${path} HTTP/1.1`,
        'Host: x',
        `X-API-KEY: ${token}`,
        `Content-Type: ${type}`,
        `Content-Length: ${size}`,
        'Expect: 100-continue',
        'Connection: close',
        '',
        '',
      ].join('\r\n');
    const json = 'application/json';
    assert.match(await firstLine(app, head(LOGS, 'wrong', json, 10)), / 401 /);
    assert.match(await firstLine(app, head('/logs?source=x', PUBLIC, json, 10)), / 404 /);
    assert.match(await firstLine(app, head(LOGS, PUBLIC, 'image/png', 10)), / 415 /);
    assert.match(await firstLine(app, head(LOGS, PUBLIC, json, 12_000_001)), / 413 /);
    assert.match(await askRaw(app, `${head(LOGS, PUBLIC, json, 2)}[]`), /100 Continue.* 200 OK/s);
  });
});

async function firstLine(app: { readonly port: number }, head: string): Promise<string> {
  const socket = createConnection({ port: app.port, host: '127.0.0.1' });
  socket.write(head);
  for await (const chunk of socket) {
    socket.destroy();
    return String(chunk).split('\r\n')[0]!;
  }
  return '';
}

test('a sender that continues to send a refused body is cut off', async () => {
  await withApp({}, async (app) => {
    const size = 100_000_000;
    const socket = createConnection({ port: app.port, host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.write(
      `POST ${LOGS} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${PUBLIC}\r\nContent-Length: ${size}\r\n\r\n`,
    );
    const chunk = Buffer.alloc(1_000_000, 'x');
    const send = (): void => {
      while (!socket.destroyed && socket.bytesWritten < size && socket.write(chunk));
    };
    socket.on('drain', send);
    send();
    let text = '';
    socket.on('data', (data) => {
      text += data;
    });
    await new Promise((resolve) => socket.on('close', resolve));
    assert.match(text, /^HTTP\/1\.1 413 /);
    assert(socket.bytesWritten < size);
  });
});

test('bodies beyond their memory limit are 429 with Retry-After', async () => {
  await withApp({ heldBytesMax: 100 }, async (app) => {
    const answer = await post(app, LOGS, bodyOf(101));
    assert.equal(answer.status, 429);
    assert.equal(answer.json.error.code, 'ingest_overloaded');
    assert.equal(answer.headers['retry-after'], '3');
    // The bytes held for it are free again.
    assert.equal((await post(app, LOGS, bodyOf(100))).status, 406);
    assert.equal((await post(app, LOGS, bodyOf(100))).status, 406);
  });
});

test('refusals of the store have their status', async () => {
  const intake = {
    ...fakeIntake([]),
    decode: async () => ({
      contents: { bodyAddress: undefined, addresses: [undefined], notes: undefined },
      store: () => Promise.reject(new ServiceError('storage_failed', 'the disk is full')),
      end: () => {},
    }),
  };
  await withApp({ intake }, async (app) => {
    const answer = await post(app, LOGS, EVENT);
    assert.equal(answer.status, 503);
    assert.equal(answer.json.error.code, 'storage_failed');
    assert.equal(answer.headers['retry-after'], '3');
  });
});

test('a refused post keeps its connection, even if its body was not needed', async () => {
  await withApp({}, async (app) => {
    const body = 'x'.repeat(100_000);
    const one = (path: string, connection: string): string =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${PUBLIC}\r\nConnection: ${connection}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const text = await askRaw(
      app,
      one('/logs?source=x', 'keep-alive') + one('/logs?source=y', 'close'),
    );
    assert.equal(text.match(/HTTP\/1\.1 404/g)?.length, 2);
  });
});

test('the sources are listed with their ids for any token, and not without a token', async () => {
  await withApp({}, async (app) => {
    const answer = await ask(app, { path: '/api/sources', headers: { 'X-API-KEY': PUBLIC } });
    // The nine built-in sources and the default source.
    assert.equal(answer.json.result.length, 10);
    assert(answer.json.result.some(({ id }: { id: string }) => id === POSTGRES_ID));
    const anonymous = await ask(app, { path: '/api/sources', headers: { 'X-API-KEY': undefined } });
    assert.equal(anonymous.status, 401);
  });
});
