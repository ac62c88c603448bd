import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { AnswerWriter } from '../../../src/http/answer-writer.ts';
import { WorkTurns } from '../../../src/http/work-turns.ts';

const MEGABYTE = 1024 * 1024;

/** Gives the answer to a request on a connection of its own, and what comes there. */
async function withExchange(
  work: (response: ServerResponse, received: Promise<IncomingMessage>) => Promise<void>,
  method = 'GET',
): Promise<void> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const request = get({ port, method, agent: false });
  const received = once(request, 'response').then(([response]) => response as IncomingMessage);
  received.catch(() => {});
  request.on('error', () => {});
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  try {
    await work(response, received);
  } finally {
    request.destroy();
    server.closeAllConnections();
    server.close();
  }
}

async function read(received: Promise<IncomingMessage>): Promise<Buffer> {
  const response = await received;
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Each look at the clock is a millisecond later: a turn has room for two works. */
function turnsByLooks(): WorkTurns {
  let nowMs = 0;
  return new WorkTurns(() => nowMs++);
}

test('a long answer arrives whole, with its length', async () => {
  await withExchange(async (response, received) => {
    const bytes = Buffer.alloc(3 * MEGABYTE + 7, 'abc');
    const writer = new AnswerWriter(response, { turns: turnsByLooks(), tenant: 'one' });
    const sent = writer.send('text/plain', [bytes.subarray(0, 5), bytes.subarray(5)]);
    assert.ok((await read(received)).equals(bytes));
    assert.equal((await received).headers['content-length'], String(bytes.length));
    await sent;
  });
});

test('HEAD gets the length of a long answer alone', async () => {
  await withExchange(async (response, received) => {
    const writer = new AnswerWriter(response, { turns: turnsByLooks(), tenant: 'one' });
    await writer.send('text/plain', [Buffer.alloc(MEGABYTE)]);
    assert.equal((await received).headers['content-length'], String(MEGABYTE));
    assert.equal((await read(received)).length, 0);
  }, 'HEAD');
});

test('work of another tenant does not wait for the rest of a long answer', async () => {
  await withExchange(async (response, received) => {
    const turns = turnsByLooks();
    const writer = new AnswerWriter(response, { turns, tenant: 'one' });
    let isSent = false;
    const sent = writer.send('text/plain', [Buffer.alloc(8 * MEGABYTE)]).then(() => {
      isSent = true;
    });
    const all = read(received);
    for (let count = 0; count < 8; count++) {
      await turns.run({ tenant: 'other', size: 1, start: async () => {} });
      assert.equal(isSent, false);
    }
    await sent;
    assert.equal((await all).length, 8 * MEGABYTE);
  });
});

test('a caller that does not read has a piece written beyond what the system takes', async () => {
  await withExchange(async (response, received) => {
    const writer = new AnswerWriter(response, { turns: turnsByLooks(), tenant: 'one' });
    const sent = writer.send('text/plain', [Buffer.alloc(64 * MEGABYTE)]);
    (await received).pause();
    for (let turn = 0; turn < 2_000; turn++) await new Promise(setImmediate);
    assert.ok(response.writableLength < 256 * 1024, `${response.writableLength} bytes wait`);
    response.destroy();
    await sent;
  });
});

test('an ending leaves out what is not written yet', async () => {
  await withExchange(async (response, received) => {
    const writer = new AnswerWriter(response, { turns: turnsByLooks(), tenant: 'one' });
    const ending = new AbortController();
    const written = writer.write(Buffer.alloc(64 * MEGABYTE), ending.signal);
    (await received).pause();
    ending.abort();
    await written;
    assert.equal(response.destroyed, false);
  });
});
