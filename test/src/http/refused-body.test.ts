import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { ServiceError } from '../../../src/errors.ts';
import { SHORT_BODY_BYTES_MAX } from '../../../src/limits.ts';
import { fakeIntake, PUBLIC, type Stored, withApp } from '../harness.ts';

const LOGS = '/api/logs?source_name=postgres.logs';

/** A post of which only the headers have been sent, and what is received for it. */
class HeadOnly {
  readonly #socket: Socket;
  #text = '';

  constructor(port: number, headers: readonly string[]) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.setEncoding('utf8').on('data', (part: string) => {
      this.#text += part;
    });
    const lines = [`POST ${LOGS} HTTP/1.1`, 'Host: x', `X-API-KEY: ${PUBLIC}`, ...headers];
    this.#socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  }

  /** The whole answer with its body. */
  answer(): Promise<string> {
    return this.told('\r\n\r\n{');
  }

  /** What was received so far, once it contains this part. */
  async told(part: string): Promise<string> {
    while (!this.#text.includes(part)) await once(this.#socket, 'data');
    return this.#text;
  }

  send(text: string): void {
    this.#socket.write(text);
  }

  async ended(): Promise<void> {
    if (!this.#socket.destroyed) await once(this.#socket, 'close');
  }

  close(): void {
    this.#socket.destroy();
  }
}

test('a post without room is refused before its body arrives', async () => {
  await withApp({ heldBytesMax: 1000 }, async (app) => {
    const post = new HeadOnly(app.port, ['Content-Length: 1001']);
    const answer = await post.answer();
    assert.match(answer, /^HTTP\/1\.1 429 /);
    assert.match(answer, /^Retry-After: [1-9]\d*\r$/m);
    assert.match(answer, /ingest_overloaded/);
    post.close();
  });
});

test('an announced body reserves its bytes, and frees them when it is done', async () => {
  await withApp({ heldBytesMax: 1000 }, async (app) => {
    const first = new HeadOnly(app.port, ['Content-Length: 600', 'Expect: 100-continue']);
    assert.match(await first.told('HTTP/1.1 100 '), /^HTTP\/1\.1 100 Continue/);
    const second = new HeadOnly(app.port, ['Content-Length: 401']);
    assert.match(await second.answer(), /^HTTP\/1\.1 429 /);
    first.send('5'.repeat(600));
    assert.match(await first.answer(), /^HTTP\/1\.1 406 /m);
    const third = new HeadOnly(app.port, ['Content-Length: 1000']);
    third.send('5'.repeat(1000));
    assert.match(await third.answer(), /^HTTP\/1\.1 406 /);
    for (const post of [first, second, third]) post.close();
  });
});

test('while the store accepts nothing, a post is refused before its body arrives', async () => {
  const stored: Stored[] = [];
  const intake = {
    ...fakeIntake(stored),
    check: () => {
      throw new ServiceError('storage_failed', 'the disk is full');
    },
  };
  await withApp({ intake }, async (app) => {
    const told = new HeadOnly(app.port, ['Content-Length: 10']);
    assert.match(await told.answer(), /^HTTP\/1\.1 503 [\s\S]*^Retry-After: 3\r$/m);
    told.close();
    const untold = new HeadOnly(app.port, ['Transfer-Encoding: chunked']);
    assert.match(await untold.answer(), /^HTTP\/1\.1 503 /);
    untold.close();
    assert.deepEqual(stored, []);
  });
});

test('a body of unknown length is refused as soon as it exceeds the room', async () => {
  await withApp({ heldBytesMax: 1000 }, async (app) => {
    const post = new HeadOnly(app.port, ['Transfer-Encoding: chunked']);
    post.send(`200\r\n${'x'.repeat(512)}\r\n`);
    post.send(`200\r\n${'x'.repeat(512)}\r\n`);
    assert.match(await post.answer(), /^HTTP\/1\.1 429 /);
    post.close();
    // The bytes it held are free again.
    const next = new HeadOnly(app.port, ['Content-Length: 1000']);
    next.send('5'.repeat(1000));
    assert.match(await next.answer(), /^HTTP\/1\.1 406 /);
    next.close();
  });
});

test('the answer to a refused long body says that the connection closes, and the whole body may be sent', async () => {
  const size = 40 * SHORT_BODY_BYTES_MAX;
  await withApp({ heldBytesMax: 1000, callers: { lingerMs: 60_000 } }, async (app) => {
    const post = new HeadOnly(app.port, [`Content-Length: ${size}`]);
    assert.match(await post.answer(), /^Connection: close\r$/m);
    post.send('x'.repeat(size));
    await post.ended();
  });
});
