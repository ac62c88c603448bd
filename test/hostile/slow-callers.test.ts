import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createConnection, type Socket } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { ExchangeWatch } from '../../src/http/exchange-watch.ts';
import { fakeAnswer, PRIVATE, STATS_ID, withApp } from '../src/harness.ts';

/** No one on loopback is this slow who means well, and no test waits long. */
const CALLERS = { bodyMsMax: 100, answerMsMax: 100, lookMs: 20, lingerMs: 50 };

function connect(app: { readonly port: number }, allowHalfOpen = false): Socket {
  return createConnection({ port: app.port, host: '127.0.0.1', allowHalfOpen });
}

/** All that a connection brings until the service ends it. */
async function textOf(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

test('a caller that trickles headers gets an error and is cut off', async () => {
  await withApp({ callers: { ...CALLERS, headersMsMax: 100 } }, async (app) => {
    const socket = connect(app);
    socket.write('GET /health HTTP/1.1\r\nHost: weir\r\nX-');
    const text = await textOf(socket);
    assert.match(text, /^HTTP\/1\.1 408 /);
    assert.match(text, /the headers of a request must arrive within 10 s/);
  });
});

test('a silent connection is cut off', async () => {
  await withApp({ callers: { ...CALLERS, headersMsMax: 100 } }, async (app) => {
    await textOf(connect(app));
  });
});

const LOGS = [
  'POST /api/logs?source_name=postgres.logs HTTP/1.1',
  'Host: weir',
  `X-API-KEY: ${PRIVATE}`,
  'Content-Type: application/json',
];

test('a caller that trickles a body gets an error and is cut off, and nothing is stored', async () => {
  for (const framing of ['Content-Length: 1000', 'Transfer-Encoding: chunked']) {
    await withApp({ callers: { ...CALLERS, bodyBytesPerSMin: 1e9 } }, async (app) => {
      const socket = connect(app);
      socket.write(`${[...LOGS, framing].join('\r\n')}\r\n\r\n`);
      const text = await textOf(socket);
      assert.match(text, /^HTTP\/1\.1 408 /);
      assert.match(text, /a body must arrive within 30 s/);
      assert.deepEqual(app.stored, []);
    });
  }
});

test('a body that nobody reads is cut off, too', async () => {
  await withApp({ callers: { ...CALLERS, bodyBytesPerSMin: 1e9 } }, async (app) => {
    const socket = connect(app);
    socket.write('GET /health HTTP/1.1\r\nHost: weir\r\nContent-Length: 1000\r\n\r\n');
    // The answer may wait for the end of the body, which there is none of.
    assert.match(await textOf(socket), /^HTTP\/1\.1 (?:200|408) /);
  });
});

test('a body that has not been requested yet is waited for', async () => {
  await withApp({ callers: { ...CALLERS, bodyMsMax: 60_000 } }, async (app) => {
    const socket = connect(app);
    const body = '{"event_message":"a"}';
    const headers = [...LOGS, `Content-Length: ${body.length}`, 'Expect: 100-continue'];
    socket.write(`${headers.join('\r\n')}\r\nConnection: close\r\n\r\n`);
    await once(socket, 'readable');
    socket.write(body);
    assert.match(await textOf(socket), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  });
});

test('an answer that its caller does not read is dropped', async () => {
  // More than the system keeps for a connection.
  const answer = fakeAnswer([{ text: 'a'.repeat(32 * 1024 * 1024) }]);
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const run = async () => ({ ...answer, release });
  await withApp({ run, callers: { ...CALLERS, answerBytesPerSMin: 1e9 } }, async (app) => {
    const socket = connect(app);
    socket.on('error', () => {});
    socket.write(
      `GET /api/endpoints/query/${STATS_ID}?project=alpha HTTP/1.1\r\nHost: weir\r\nX-API-KEY: ${PRIVATE}\r\n\r\n`,
    );
    socket.pause();
    await released;
    socket.destroy();
  });
});

test('a refused caller that does not close is cut off', async () => {
  await withApp({ callers: CALLERS }, async (app) => {
    const socket = connect(app, true);
    socket.write('what?\r\n\r\n');
    socket.resume();
    await once(socket, 'end');
    const closed = new Promise<void>((resolve) => socket.on('error', () => resolve()));
    // What is written to a connection that is no more comes back as an error.
    const writing = setInterval(() => socket.write('a'), 10);
    await closed;
    clearInterval(writing);
    socket.destroy();
  });
});

/** A request and its response as the watch sees them, whose bytes a test sets. */
function exchangeOf(): {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: {
    bytesRead: number;
    destroyed: boolean;
    _handle: { bytesWritten: number; writeQueueSize: number };
  };
  readonly answer: { writableEnded: boolean };
} {
  const _handle = { bytesWritten: 0, writeQueueSize: 0 };
  const socket = { bytesRead: 500, destroyed: false, _handle };
  const request = { complete: false, headers: {}, socket };
  const answer = { writableEnded: false, writableFinished: false, writableNeedDrain: false };
  return {
    request: request as unknown as IncomingMessage,
    response: Object.assign(answer, { socket, closed: false }) as unknown as ServerResponse,
    socket,
    answer,
  };
}

test('a body has a time, and a second more for each number of bytes received', () => {
  const steps = fc.array(
    fc.record({ bytes: fc.integer({ min: 0, max: 300 }), ms: fc.integer({ min: 1, max: 500 }) }),
    { maxLength: 50 },
  );
  fc.assert(
    fc.property(steps, (looks) => {
      const watch = new ExchangeWatch({ bodyMsMax: 1000, bodyBytesPerSMin: 200 });
      const { request, response, socket } = exchangeOf();
      watch.add(request, response);
      let [bytes, ms, isCut] = [0, 0, false];
      for (const look of looks) {
        bytes += look.bytes;
        ms += look.ms;
        socket.bytesRead += look.bytes;
        const { bodies } = watch.look(look.ms);
        assert.equal(bodies.length > 0, !isCut && ms > 1000 + (bytes / 200) * 1000);
        isCut ||= bodies.length > 0;
      }
    }),
  );
});

/** An answer of 1,000,000 bytes that has been written, and waits to be read. */
function unreadAnswer(watch: ExchangeWatch): {
  readonly read: (bytes: number) => void;
  readonly isCut: (passedMs: number) => boolean;
} {
  const { request, response, socket, answer } = exchangeOf();
  watch.add(Object.assign(request, { complete: true }), response);
  // As long as the service itself works on it, it may take any time.
  assert.deepEqual(watch.look(100_000).answers, []);
  answer.writableEnded = true;
  const { _handle: handle } = socket;
  handle.bytesWritten = handle.writeQueueSize = 1_000_000;
  return {
    read: (bytes) => {
      handle.writeQueueSize -= bytes;
    },
    isCut: (passedMs) => watch.look(passedMs).answers.length > 0,
  };
}

const ANSWER_LIMITS = { answerMsMax: 1000, answerBytesPerSMin: 500 };

test('an answer of which nothing is read is dropped after its time, whatever its length', () => {
  const { read, isCut } = unreadAnswer(new ExchangeWatch(ANSWER_LIMITS));
  assert.equal(isCut(1000), false);
  assert.equal(isCut(1), true);
  assert.equal(isCut(100_000), false, 'each is found once');
  const stopped = unreadAnswer(new ExchangeWatch(ANSWER_LIMITS));
  stopped.read(900_000);
  assert.equal(stopped.isCut(1), false);
  assert.equal(
    stopped.isCut(1000),
    false,
    'what was read before gives no more than the whole time',
  );
  assert.equal(stopped.isCut(1), true);
  read(0);
});

test('a reader is cut off exactly if it was too slow over its time', () => {
  const looks = fc.array(
    fc.record({ bytes: fc.integer({ min: 0, max: 300 }), ms: fc.integer({ min: 1, max: 500 }) }),
    { minLength: 1, maxLength: 50 },
  );
  fc.assert(
    fc.property(looks, (steps) => {
      const { read, isCut } = unreadAnswer(new ExchangeWatch(ANSWER_LIMITS));
      for (const [index, { bytes, ms }] of steps.entries()) {
        read(bytes);
        // The slow form: over some of the last looks it took longer than its time and that of what it read.
        const isSlow = steps.slice(0, index + 1).some((_, start) => {
          const part = steps.slice(start, index + 1);
          const partMs = part.reduce((sum, step) => sum + step.ms, 0);
          const partBytes = part.reduce((sum, step) => sum + step.bytes, 0);
          return partMs - (1000 * partBytes) / 500 > 1000 + 1e-6;
        });
        assert.equal(isCut(ms), isSlow);
        if (isSlow) return;
      }
    }),
  );
});

test('a slow and steady reader gets an answer of any length', () => {
  const { read, isCut } = unreadAnswer(new ExchangeWatch(ANSWER_LIMITS));
  for (let look = 0; look < 1900; look++) {
    read(510);
    assert.equal(isCut(1000), false);
  }
});

test('progress is seen before the end of one long write', async () => {
  const partBytes = 16 * 1024 * 1024;
  // Three parts are read, and the buffers of a connection may hold 32 MiB at each side.
  const answerBytes = 12 * partBytes;
  const watch = new ExchangeWatch({ answerMsMax: 1000, answerBytesPerSMin: 1024 * 1024 });
  const server = createServer((request, response) => {
    watch.add(request, response);
    response.end(Buffer.alloc(answerBytes));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect(server.address() as AddressInfo);
  socket.write('GET / HTTP/1.1\r\nHost: weir\r\n\r\n');
  await once(socket, 'readable');
  const readPart = async (): Promise<void> => {
    for (let bytes = 0; bytes < partBytes; ) {
      const piece: Buffer | null = socket.read();
      if (piece === null) await once(socket, 'readable');
      else bytes += piece.length;
    }
  };
  try {
    await readPart();
    for (let look = 0; look < 2; look++) {
      assert.deepEqual(watch.look(1000).answers, []);
      await readPart();
    }
    assert.deepEqual(watch.look(1000).answers, []);
    assert.equal(watch.look(1001).answers.length, 1, 'nothing more was read');
  } finally {
    socket.destroy();
    server.close();
  }
});
