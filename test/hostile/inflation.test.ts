import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { Readable, Writable } from 'node:stream';
import { mock, test } from 'node:test';
import zlib, {
  type BrotliOptions,
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
} from 'node:zlib';
import fc from 'fast-check';
import { compress } from 'snappyjs';
import { WIDE_BROTLI } from '../../bench/workload/hostile-packings.ts';
import { NO_TENANT } from '../../engine/pool/fair-queue.ts';
import { BODY_BYTES_MAX } from '../../ingest/limits.ts';
import { BodyReader } from '../../src/http/body.ts';
import { RECEIVERS } from '../src/doors/receivers.ts';
import { type Answer, post, type TestApp, withApp } from '../src/harness.ts';
import { runsOf } from '../support/budget.ts';
import { zstdFrame } from '../support/zstd-frame.ts';

const LOGS = '/api/logs?source_name=postgres.logs';

function send(app: TestApp, encoding: string, body: Buffer): Promise<Answer> {
  return post(app, LOGS, body, { 'Content-Encoding': encoding });
}

/** A list of nothing, so many bytes long. */
function emptyList(size: number): Buffer {
  const body = Buffer.alloc(size, ' ');
  body.write('[');
  body.write(']', size - 1);
  return body;
}

const CODINGS: readonly (readonly [name: string, pack: (body: Buffer) => Buffer])[] = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', (body) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ['zstd', (body) => zstdFrame(body)],
  ['snappy', (body) => Buffer.from(compress(body))],
];

test('a body that decompresses beyond the limit is refused, by a byte or by four times', async () => {
  await withApp({}, async (app) => {
    for (const [name, pack] of CODINGS) {
      assert.equal((await send(app, name, pack(emptyList(BODY_BYTES_MAX)))).status, 200, name);
      for (const size of [BODY_BYTES_MAX + 1, 4 * BODY_BYTES_MAX]) {
        const { status, json } = await send(app, name, pack(emptyList(size)));
        assert.equal(status, 413, name);
        assert.match(json.error.message, /at most 12000000 bytes after inflation; got more/);
      }
    }
  });
});

test('each receiver refuses a body that decompresses beyond the limit', async () => {
  await withApp({}, async (app) => {
    const bomb = gzipSync(Buffer.alloc(BODY_BYTES_MAX + 1, ' '));
    for (const { path, type } of RECEIVERS) {
      const headers = { 'Content-Type': type, 'Content-Encoding': 'gzip' };
      const { status } = await post(app, `${path}?source_name=postgres.logs`, bomb, headers);
      // The journal is stored in parts while it arrives, not compressed.
      assert.equal(status, path === '/upload' ? 415 : 413, path);
    }
    assert.deepEqual(app.stored, []);
  });
});

test('several layers of compression are refused', async () => {
  await withApp({}, async (app) => {
    const body = gzipSync(gzipSync('[]'));
    assert.equal((await send(app, 'gzip, gzip', body)).status, 415);
    assert.equal((await send(app, 'gzip', body)).status, 400);
  });
});

test('a gzip body may have many members, and too many are refused by their contents', async () => {
  await withApp({}, async (app) => {
    const space = gzipSync(' ');
    const members = (count: number) => Array<Buffer>(count).fill(space);
    const body = Buffer.concat([gzipSync('['), ...members(100_000), gzipSync('{"a":1}]')]);
    assert.equal((await send(app, 'gzip', body)).status, 200);
    assert.deepEqual(app.stored.at(-1)?.events, [{ a: 1 }]);
    const many = gzipSync(Buffer.alloc(1_000_000, ' '));
    const bomb = Buffer.concat(Array<Buffer>(1000).fill(many));
    assert.equal((await send(app, 'gzip', bomb)).status, 413);
  });
});

test('nothing is stored of a body that is truncated or has trailing data', async () => {
  await withApp({}, async (app) => {
    for (const [name, pack] of CODINGS) {
      const body = pack(Buffer.from('[{"a":1},{"a":2}]'));
      const cut = await send(app, name, body.subarray(0, -3));
      assert.equal(cut.status, 400, name);
      const followed = await send(app, name, Buffer.concat([body, Buffer.from('more')]));
      assert.equal(followed.status, 400, name);
      assert.match(followed.json.error.message, new RegExp(`not whole ${name}`));
    }
    assert.deepEqual(app.stored, []);
  });
});

test('zeros may follow gzip, and nothing may follow them', async () => {
  await withApp({}, async (app) => {
    const body = gzipSync('[{"a":1}]');
    const padded = Buffer.concat([body, Buffer.alloc(512)]);
    assert.equal((await send(app, 'gzip', padded)).status, 200);
    assert.equal(app.stored.length, 1);
    const { status, json } = await send(app, 'gzip', Buffer.concat([padded, body]));
    assert.equal(status, 400);
    assert.match(json.error.message, /bytes follow its end/);
    assert.equal(app.stored.length, 1);
  });
});

test('bodies that grow at once are refused when there is no room for all, and their room is freed', async () => {
  await withApp({ heldBytesMax: 30_000_000 }, async (app) => {
    const bomb = gzipSync(emptyList(11_000_000));
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(app, 'gzip', bomb)));
    const statuses = new Set(answers.map(({ status }) => status));
    assert.ok(statuses.has(429), [...statuses].join());
    assert.ok([...statuses].every((status) => status === 200 || status === 429));
    assert.equal((await send(app, 'gzip', bomb)).status, 200);
  });
});

test('bytes that are not compressed data are refused', async () => {
  await withApp({}, async (app) => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 });
    const coding = fc.constantFrom('gzip', 'deflate', 'br', 'zstd', 'snappy');
    await fc.assert(
      fc.asyncProperty(coding, bytes, async (name, body) => {
        const { status } = await send(app, name, Buffer.from(body));
        // The first bytes of snappy and zstd may say that the body is too large.
        const saysSize = name === 'snappy' || name === 'zstd';
        assert.ok(status === 400 || (saysSize && status === 413), `${status}`);
      }),
      { numRuns: runsOf(100) },
    );
    assert.deepEqual(app.stored, []);
  });
});

test('as many bodies are decompressed at once as have room for their windows, and the others wait', async () => {
  let openCount = 0;
  let mostCount = 0;
  const create = zlib.createBrotliDecompress;
  const counting = mock.method(zlib, 'createBrotliDecompress', (options: BrotliOptions) => {
    mostCount = Math.max(mostCount, ++openCount);
    return create(options).once('close', () => {
      openCount -= 1;
    });
  });
  // So that those who have imported it by its name have this one.
  syncBuiltinESMExports();
  try {
    const bodies = new BodyReader({ nowMs: () => 0 });
    const attack = (): Promise<void> => {
      const headers = { 'content-encoding': 'br' };
      const request = Object.assign(Readable.from([WIDE_BROTLI]), { headers });
      const terms = { bytesMax: BODY_BYTES_MAX, tenant: NO_TENANT };
      const [response, work] = [new Writable() as ServerResponse, () => Promise.resolve()];
      return bodies.use(request as unknown as IncomingMessage, response, terms, work);
    };
    const answers = await Promise.allSettled(Array.from({ length: 40 }, attack));
    assert.ok(answers.every(({ status }) => status === 'rejected'));
    // One that has failed closes in the next turn.
    assert.ok(mostCount >= 2 && mostCount <= 4, `${mostCount}`);
  } finally {
    counting.mock.restore();
    syncBuiltinESMExports();
  }
});
